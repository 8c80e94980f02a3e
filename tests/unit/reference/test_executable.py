"""How the reference backend runs a segment: ownership, lifetimes, errors, storage."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from lazycore_plugin_api import (
    Artifact,
    ArtifactMeta,
    BackendError,
    CompileContext,
    CompileFailure,
    DType,
    HostArray,
    HostBuffer,
    HostSession,
    Node,
    Rejected,
    Segment,
    Source,
    Supported,
    Target,
    TensorSpec,
    Value,
)
from lazycore_reference import plugin, registry

TARGET = Target("reference", "cpu")
CONTEXT = CompileContext(HostSession(), TARGET)


def value(identifier: int, *shape: int, dtype: DType = DType.float32) -> Value:
    return Value(identifier, TensorSpec(shape, dtype))


def node(op: str, args: tuple[Any, ...], *outputs: Value, **kwargs: Any) -> Node:
    return Node(op, args, kwargs, outputs, Source("train.py", 7))


def run(segment: Segment, *arrays: HostArray) -> list[HostArray]:
    (executable,) = plugin.lazycore_compile([segment], CONTEXT)
    assert not isinstance(executable, CompileFailure)
    return [b.to_host() for b in executable.run([HostBuffer(a) for a in arrays])]


def test_outputs_are_buffers_of_their_own() -> None:
    """An input, a view of it, the same value twice, a clone and an expanded value all leave as separate memory."""
    x, view, clone, wide = value(0, 4), value(1, 2, 2), value(2, 4), value(3, 3, 4)
    nodes = [
        node("aten.view.default", (x, (2, 2)), view),
        node("aten.clone.default", (x,), clone),
        node("aten.expand.default", (x, (3, 4)), wide, implicit=False),
    ]
    array = np.arange(4, dtype=np.float32)
    results = run(Segment((x,), nodes, (x, view, clone, clone, wide)), array)
    for i, result in enumerate(results):
        assert result.flags.writeable
        result.fill(i)
    assert [r.flat[0] for r in results] == [0, 1, 2, 3, 4]
    assert array.tolist() == [0, 1, 2, 3]


def test_outputs_are_row_major() -> None:
    x, y = value(0, 2, 3), value(1, 3, 2)
    (result,) = run(Segment((x,), [node("aten.permute.default", (x, (1, 0)), y)], (y,)), np.zeros((2, 3), np.float32))
    assert result.flags.c_contiguous


def test_intermediates_are_freed_at_their_last_use(monkeypatch: pytest.MonkeyPatch) -> None:
    dead: list[bool] = []
    seen: list[weakref.ref[HostArray]] = []

    def produce(x: HostArray) -> HostArray:
        result = x + 1
        seen.append(weakref.ref(result))
        return result

    def probe(x: HostArray) -> HostArray:
        gc.collect()
        dead.append(seen[0]() is None)
        return x * 2

    monkeypatch.setitem(registry._TABLE, "test.produce.default", registry.Entry("test.produce.default", produce))
    monkeypatch.setitem(registry._TABLE, "test.probe.default", registry.Entry("test.probe.default", probe))
    x, a, b, c = (value(i, 3) for i in range(4))
    nodes = [
        node("test.produce.default", (x,), a),
        node("test.probe.default", (a,), b),
        node("test.probe.default", (b,), c),
    ]
    run(Segment((x,), nodes, (c,)), np.zeros(3, np.float32))
    assert dead == [False, True]


@pytest.mark.parametrize(
    ("op", "kwargs"),
    [
        ("aten.floor_divide.default", {}),
        ("aten.div.Tensor_mode", {"rounding_mode": "trunc"}),
        ("aten.remainder.Tensor", {}),
        ("aten.fmod.Tensor", {}),
    ],
)
def test_integer_division_by_zero_is_an_error_that_names_op_and_line(op: str, kwargs: dict[str, Any]) -> None:
    x, y, z = (value(i, 2, dtype=DType.int64) for i in range(3))
    segment = Segment((x, y), [node(op, (x, y), z, **kwargs)], (z,))
    with pytest.raises(BackendError, match=rf"{op} at train\.py:7: ZeroDivisionError"):
        run(segment, np.array([1, 2]), np.array([1, 0]))


def test_a_result_of_another_shape_than_declared_is_an_error() -> None:
    x, y = value(0, 2), value(1, 3)
    with pytest.raises(BackendError, match=r"aten\.neg\.default.*shape \(2,\)"):
        run(Segment((x,), [node("aten.neg.default", (x,), y)], (y,)), np.zeros(2, np.float32))


def test_numpy_warns_of_nothing(recwarn: pytest.WarningsRecorder) -> None:
    x, y, z = value(0, 3), value(1, 3), value(2)
    nodes = [node("aten.log.default", (x,), y), node("aten.mean.default", (y,), z, dtype=None)]
    run(Segment((x,), nodes, (z,)), np.array([-1, 0, np.inf], np.float32))
    assert not recwarn.list


def test_an_unknown_op_fails_its_own_segment_only() -> None:
    x, y = value(0, 2), value(1, 2)
    good = Segment((x,), [node("aten.neg.default", (x,), y)], (y,))
    bad = Segment((x,), [node("aten.nonsense.default", (x,), y)], (y,))
    failure, executable = plugin.lazycore_compile([bad, good], CONTEXT)
    assert isinstance(failure, CompileFailure)
    assert "aten.nonsense.default" in failure.reason
    assert not isinstance(executable, CompileFailure)


def test_a_stored_executable_runs_again() -> None:
    x, s, y = value(0, 2), value(1), value(2, 2)
    segment = Segment((x, s), [node("aten.mul.Tensor", (x, s), y)], (y,), scalars=frozenset({1}))
    (executable,) = plugin.lazycore_compile([segment], CONTEXT)
    assert not isinstance(executable, CompileFailure)
    payload = executable.serialize()
    assert payload
    again = plugin.lazycore_load(Artifact(ArtifactMeta("reference", "0.1.0", (1, 0), TARGET, "key"), payload), CONTEXT)
    (result,) = again.run([HostBuffer(np.ones(2, np.float32)), np.asarray(3, np.float32)])
    assert result.to_host().tolist() == [3, 3]


def test_one_executable_runs_in_several_threads_at_once() -> None:
    x, y = value(0, 64), value(1, 64)
    (executable,) = plugin.lazycore_compile([Segment((x,), [node("aten.neg.default", (x,), y)], (y,))], CONTEXT)
    assert not isinstance(executable, CompileFailure)
    arrays = [np.full(64, i, np.float32) for i in range(50)]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda a: executable.run([HostBuffer(a)])[0].to_host(), arrays))
    assert all((r == -a).all() for r, a in zip(results, arrays, strict=True))


def test_half_precision_is_rounded_once_per_op() -> None:
    """2048 + 1 + 1 in one addmm keeps both ones in float32, two float16 additions would lose them."""
    bias, a, b, y = (value(i, *s, dtype=DType.float16) for i, s in enumerate([(1,), (1, 2), (2, 1), (1, 1)]))
    segment = Segment((bias, a, b), [node("aten.addmm.default", (bias, a, b), y, beta=1, alpha=1)], (y,))
    (result,) = run(segment, np.array([2048], np.float16), np.ones((1, 2), np.float16), np.ones((2, 1), np.float16))
    assert result.dtype == np.float16
    assert result.item() == 2050


class TestSupports:
    """The table decides."""

    def test_listed(self) -> None:
        x, y = value(0, 2), value(1, 2)
        assert plugin.lazycore_supports(node("aten.exp.default", (x,), y), TARGET) == Supported()

    def test_unlisted(self) -> None:
        x, y = value(0, 2), value(1, 2)
        decision = plugin.lazycore_supports(node("aten.nonsense.default", (x,), y), TARGET)
        assert isinstance(decision, Rejected)
        assert decision.code == "op"

    def test_complex(self) -> None:
        x, y = (value(i, 2, dtype=DType.complex64) for i in range(2))
        assert isinstance(plugin.lazycore_supports(node("aten.exp.default", (x,), y), TARGET), Supported)
        decision = plugin.lazycore_supports(node("aten.erf.default", (x,), y), TARGET)
        assert isinstance(decision, Rejected)
        assert decision.code == "dtype"

    def test_mask(self) -> None:
        x, mask, y = value(0, 2), value(1, 2, dtype=DType.bool), value(2, 2)
        decision = plugin.lazycore_supports(node("aten.index.Tensor", (x, (mask,)), y), TARGET)
        assert isinstance(decision, Rejected)
        assert "boolean mask" in decision.reason

    def test_an_op_has_one_lowering(self) -> None:
        with pytest.raises(ValueError, match="two lowerings"):
            registry.lowering("aten.exp.default")(np.exp)
