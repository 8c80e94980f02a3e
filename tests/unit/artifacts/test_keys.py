"""The key of a segment: blind to names, lines and numbering, and to nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from lazycore_plugin_api import (
    BackendInfo,
    Constants,
    DType,
    Graph,
    Node,
    Segment,
    Source,
    Target,
    TensorSpec,
    Value,
    verify,
)

from lazycore.artifacts.keys import canonical, digest, segment_key

F32 = TensorSpec((4,), DType.float32)
INFO = BackendInfo("acme", "1.0", fingerprint="z80")
TARGET = Target("acme", "cpu", {"level": 2})


def make(first: int = 0, step: int = 1, file: str = "a.py", name: str = "segment0", **changed: Any) -> Segment:
    """(x + 2 * s) * x, with a composite around the product; ``changed`` replaces parts."""
    scalar = TensorSpec((), DType.float32)
    ids = iter(range(first, first + 20 * step, step))
    x, s, total, product = (Value(next(ids), spec) for spec in (F32, scalar, F32, F32))
    a, b, c = (Value(next(ids), F32) for _ in range(3))
    body = Graph((a, b), [Node("aten.mul.Tensor", (a, b), {}, (c,), Source(file, 9))], (c,))
    alpha = changed.pop("alpha", 2.0)
    nodes = [
        Node("acme.add.default", (x, s), {"alpha": alpha, "a": (1, x)}, (total,), Source(file, 3)),
        Node("acme.product.composite", (total, x), {}, (product,), Source(file, 4), body),
    ]
    return replace(Segment((x, s), nodes, (product,), name=name, scalars=frozenset({1})), **changed)


def key(segment: Segment, info: BackendInfo = INFO, target: Target = TARGET, build: str = "b") -> str:
    return segment_key(segment, info, target, build)


def test_is_64_hexadecimal_digits() -> None:
    assert len(key(make())) == 64
    assert int(key(make()), 16)


@pytest.mark.parametrize("other", [{"first": 7}, {"step": 3}, {"file": "/home/b.py"}, {"name": "segment9"}])
def test_names_lines_and_numbers_are_not_part_of_it(other: dict[str, Any]) -> None:
    assert key(make(**other)) == key(make())


def test_the_order_of_keywords_is_not_part_of_it() -> None:
    turned = make()
    turned.nodes[0] = replace(turned.nodes[0], kwargs=dict(reversed(turned.nodes[0].kwargs.items())))
    assert key(turned) == key(make())


def test_the_canonical_segment_is_valid_and_its_own() -> None:
    segment = canonical(make(first=5, step=2))
    verify(segment)
    assert str(canonical(segment)) == str(segment)
    assert segment.sources() == []


def _wider(_: Segment) -> Segment:
    wide = TensorSpec((5,), DType.float32)
    x = Value(0, wide)
    return Segment((x,), [Node("aten.neg.default", (x,), {}, (Value(1, wide),))], (Value(1, wide),))


def _inner(segment: Segment) -> Segment:
    composite = segment.nodes[1]
    assert composite.body is not None
    body = replace(composite.body, nodes=[replace(composite.body.nodes[0], op="aten.div.Tensor")])
    return replace(segment, nodes=[segment.nodes[0], replace(composite, body=body)])


CHANGES: dict[str, Any] = {
    "a literal's value": lambda _: make(alpha=3.0),
    "a literal's type": lambda _: make(alpha=2),
    "a literal's sign": (lambda _: make(alpha=0.0), lambda _: make(alpha=-0.0)),
    "an op in a composite": _inner,
    "a shape": _wider,
    "the outputs": lambda s: replace(s, outputs=s.nodes[0].outputs),
    "what is a scalar": lambda s: replace(s, scalars=frozenset()),
    "what is donated": lambda s: replace(s, donatable=frozenset({0})),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_an_executable_depends_on_is_part_of_it(what: str) -> None:
    change = CHANGES[what]
    one, other = change if isinstance(change, tuple) else (lambda s: s, change)
    assert key(one(make())) != key(other(make()))


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "other"}, {"version": "1.1"}, {"fingerprint": "8080"}, {"api_version": (1, 1)},
        {"constants": Constants.bind},
    ],
)  # fmt: skip
def test_the_backend_is_part_of_it(changed: dict[str, Any]) -> None:
    assert key(make(), info=replace(INFO, **changed)) != key(make())


@pytest.mark.parametrize("target", [Target("acme", "npu", {"level": 2}), Target("acme", "cpu", {"level": 3})])
def test_the_target_is_part_of_it(target: Target) -> None:
    assert key(make(), target=target) != key(make())


def test_the_build_is_part_of_it() -> None:
    assert key(make(), build="c") != key(make())


def bound(array: np.ndarray[Any, Any]) -> Segment:
    x = Value(0, TensorSpec(tuple(array.shape), DType.of(array.dtype)))
    node = Node("aten.neg.default", (x,), {}, (Value(1, x.spec),))
    return Segment((x,), [node], node.outputs, constants={0: array})


def test_constants_are_part_of_it_by_their_content() -> None:
    array = np.arange(6.0).reshape(2, 3)
    assert key(bound(array)) == key(bound(np.asfortranarray(array)))
    assert key(bound(array)) != key(bound(array + 1))
    assert key(bound(np.zeros(2))) != key(bound(-np.zeros(2)))
    assert key(bound(np.zeros(2, np.float32))) != key(bound(np.zeros(2, np.int32)))


@pytest.mark.parametrize("array", [np.float32(2.0), np.zeros((0, 3)), np.ones(3, ml_dtypes.bfloat16), np.array(True)])
def test_a_digest_exists_for_arrays_of_all_kinds(array: Any) -> None:
    array = np.asarray(array)
    assert digest(array) == digest(array.copy())
