"""Symbolic sizes: one form for each sum of products, arithmetic that agrees with integers, segments made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lazycore_plugin_api import (
    Dim,
    DType,
    HostBuffer,
    InvalidGraph,
    Node,
    Segment,
    TensorSpec,
    Value,
    is_dynamic,
    sizes_of,
    specialized,
    symbol_places,
    to_text,
    verify,
)

n, m = Dim("n"), Dim("m")
symbols = st.sampled_from([n, m, Dim("k_1")])
sizes = st.recursive(symbols | st.integers(-3, 9), lambda inner: st.tuples(st.sampled_from("+-*"), inner, inner))


def value(formula: Any, at: dict[str, int] | None = None) -> Any:
    """A formula as a size, or as a number where the symbols have values."""
    if isinstance(formula, tuple):
        operator, *operands = formula
        a, b = (value(operand, at) for operand in operands)
        return a + b if operator == "+" else a - b if operator == "-" else a * b
    return at[formula.name] if at and isinstance(formula, Dim) else formula


@given(sizes, st.fixed_dictionaries({"n": st.integers(2, 9), "m": st.integers(2, 9), "k_1": st.integers(2, 9)}))
def test_arithmetic_is_that_of_integers(formula: Any, at: dict[str, int]) -> None:
    size = value(formula)
    assert (size.at(at) if isinstance(size, Dim) else size) == value(formula, at)
    if isinstance(size, Dim):
        assert Dim(size.name) == size


@pytest.mark.parametrize(
    ("text", "name"),
    [("n", "n"), ("m*n", "m*n"), ("n*m", "m*n"), ("1+n*2", "2*n+1"), ("n+n", "2*n"), ("n*n-3+m", "n*n+m-3")],
)  # fmt: skip
def test_a_size_has_one_name(text: str, name: str) -> None:
    assert Dim(text).name == name
    assert str(Dim(text, 2, 9)) == name


@pytest.mark.parametrize("text", ["", "4", "n-n", "n-", "n**m", "n m", "4n", "n/2", "1e5"])
def test_what_is_no_varying_size_has_no_name(text: str) -> None:
    with pytest.raises(ValueError, match=r"no sum of products|no size that varies"):
        Dim(text)


def test_terms_and_symbols() -> None:
    assert Dim("4*n*m+n-1").terms == ((4, ("m", "n")), (1, ("n",)), (-1, ()))
    assert Dim("4*n*m").symbols == {"n", "m"}
    assert n.is_symbol
    assert not (n + 1).is_symbol  # type: ignore[union-attr]
    assert n - n == 0
    assert 3 - n == Dim("3-n")


def segment() -> Segment:
    x = Value(0, TensorSpec((n, 4), DType.float32))
    rate, y = Value(1, TensorSpec((), DType.float32)), Value(2, TensorSpec((4 * n,), DType.float32))
    nodes = [Node("aten.view.default", (x, (4 * n,)), {}, (y,))]
    return Segment((x, rate), nodes, (y,), name="segment0", scalars=frozenset({1}))


def test_a_launch_tells_what_the_symbols_are() -> None:
    places = symbol_places(segment())
    assert places == {"n": (0, 0)}
    assert sizes_of(places, [HostBuffer(np.zeros((7, 4), np.float32)), np.float32(1)]) == {"n": 7}  # type: ignore[list-item]


def test_a_segment_at_its_sizes_is_static() -> None:
    verify(segment())
    assert is_dynamic(segment())
    static = specialized(segment(), {"n": 7})
    verify(static)
    assert not is_dynamic(static)
    assert to_text(static) == to_text(segment()).replace("4*n", "28").replace("n,", "7,")
    assert static.scalars == {1}


def test_a_symbol_that_no_input_has_is_named() -> None:
    broken = segment()
    broken.nodes.append(
        Node("aten.full.default", ((m,), 0), {"dtype": None}, (Value(3, TensorSpec((m,), DType.float32)),))
    )
    with pytest.raises(InvalidGraph, match="segment0 has the size m, and m is the size of no input"):
        symbol_places(broken)


def test_arguments_that_vary_are_looked_at_as_integers_are() -> None:
    broken = segment()
    broken.nodes[0] = Node("aten.view.default", (broken.inputs[0], n), {}, broken.outputs)
    with pytest.raises(InvalidGraph, match=r"has Dim\(name='n', low=0, high=None\) for size where the schema has"):
        verify(broken)
