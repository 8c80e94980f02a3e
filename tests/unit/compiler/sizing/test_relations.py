"""From samples to symbolic sizes: what varies, what it is made of, and what has no expression."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lazycore_plugin_api import Dim

from lazycore.compiler.sizing.relations import generalized


def texts(samples: list[tuple[int, ...]], inputs: int) -> list[str] | None:
    sizes = generalized(samples, inputs)
    return None if sizes is None else [str(size) for size in sizes]


@pytest.mark.parametrize(
    ("samples", "inputs", "expected"),
    [
        pytest.param([(4, 5, 5), (4, 7, 7)], 2, ["4", "s0", "s0"], id="one symbol for equal sizes"),
        pytest.param([(5, 80, 6, 4), (7, 112, 8, 6)], 1, ["s0", "16*s0", "s0+1", "s0-1"], id="multiples and offsets"),
        pytest.param([(3, 7), (5, 11)], 1, ["s0", "2*s0+1"], id="both"),
        pytest.param([(2, 5, 10, 640), (3, 7, 21, 1344)], 2, ["s0", "s1", "s0*s1", "64*s0*s1"], id="products"),
        pytest.param([(20, 5), (28, 7)], 2, ["4*s0", "s0"], id="the smaller input is the symbol"),
        pytest.param([(5, 5, 30), (7, 7, 56)], 2, ["s0", "s0", "s0*s0+s0"], id="a square and a size"),
        pytest.param([(3, 8, 11), (4, 6, 10)], 2, ["s0", "s1", "s0+s1"], id="sums"),
        pytest.param([(5, 9, 4), (7, 15, 8)], 2, ["s0", "s1", "s1-s0"], id="differences"),
        pytest.param([(5, 9), (7, 8)], 1, None, id="nothing fits"),
        pytest.param([(5, 3), (5, 4)], 1, None, id="no input varies"),
    ],
)  # fmt: skip
def test_what_sizes_are_made_of(samples: Any, inputs: int, expected: list[str] | None) -> None:
    assert texts(samples, inputs) == (expected and [size if size.isdigit() else Dim(size).name for size in expected])


def test_a_further_sample_corrects_a_guess() -> None:
    """Batch and length were equal twice, and then not."""
    assert texts([(5, 5, 25), (7, 7, 49)], 2) == ["s0", "s0", "s0*s0"]
    assert texts([(5, 5, 25), (7, 7, 49), (3, 9, 27)], 2) == ["s0", "s1", "s0*s1"]


formulas = st.sampled_from(["n", "m", "3*n", "n+1", "2*n+3", "m*n", "4*m*n", "n*n", "m+n"])


@given(
    st.lists(formulas, max_size=6),
    st.lists(st.tuples(st.integers(2, 40), st.integers(2, 40)), min_size=2, max_size=5, unique=True),
)
def test_what_is_found_holds_for_all_samples(formulas: list[str], pairs: list[tuple[int, int]]) -> None:
    """And something is found for what sizes usually are."""
    samples = [(n, m, *(Dim(f).at({"n": n, "m": m}) for f in formulas)) for n, m in pairs]
    sizes = generalized(samples, 2)
    assert sizes is not None
    for sample in samples:
        symbols = {size.name: own for size, own in zip(sizes, sample, strict=True) if isinstance(size, Dim)}
        assert tuple(size.at(symbols) if isinstance(size, Dim) else size for size in sizes) == sample
