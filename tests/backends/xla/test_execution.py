"""Compiling and running: scalars, threads, asynchrony, failures."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from lazycore_plugin_api import (
    CompileContext,
    CompileFailure,
    Dim,
    DType,
    Executable,
    HostSession,
    Rejected,
    TensorSpec,
    Value,
)


@pytest.mark.parametrize("scalar", [np.array(2**40), np.array(0.1), np.array(True), np.array(3, np.int32)])
def test_scalar_inputs_keep_their_dtype(xla, segment, scalar):
    executable = xla.compile(segment([scalar], lambda v: ([], v), scalars=[0]))
    for value in (scalar, np.zeros_like(scalar)):
        result = executable.run([value])[0].to_host()
        assert (result.dtype, result.item()) == (scalar.dtype, value.item())


def test_no_inputs(xla, segment, node):
    spec = TensorSpec((3,), DType.int64)
    made = node("aten.full.default", (3,), 7, dtype=DType.int64, to=0, spec=spec)
    assert xla.compile(segment([], lambda _: ([made], made.outputs))).run([])[0].to_host().tolist() == [7, 7, 7]


def _sums(segment, node, array):
    total = TensorSpec((), DType.float64)
    return segment([array], lambda v: ([n := node("aten.sum.default", v[0], dtype=None, to=1, spec=total)], n.outputs))


def test_threads_compile_and_run_at_once(xla, segment, node):
    def work(size: int) -> float:
        array = np.arange(size, dtype=np.float64)
        executable = xla.compile(_sums(segment, node, array))
        results = [executable.run([xla.session.upload(array + i)])[0] for i in range(20)]
        return sum(float(r.to_host()) for r in results)

    with ThreadPoolExecutor(4) as pool:
        sums = list(pool.map(work, range(10, 26)))
    assert sums == [sum(n * (n - 1) / 2 + n * i for i in range(20)) for n in range(10, 26)]


def test_run_returns_before_the_result_exists(xla, segment, node):
    array = np.ones((1024, 1024), np.float32)

    def compose(values):
        nodes = [node("aten.mm.default", values[0], values[0], to=1)]
        nodes += [node("aten.mm.default", nodes[-1].outputs[0], values[0], to=i) for i in range(2, 12)]
        return nodes, nodes[-1].outputs

    executable, buffer = xla.compile(segment([array], compose)), xla.session.upload(array)
    (result,) = executable.run([buffer])
    assert not result.array.is_ready()
    result.wait()
    assert result.array.is_ready()


def _failure(xla, built, session=None) -> CompileFailure:
    context = CompileContext(session or xla.session, xla.target)
    (result,) = xla.hook.lazycore_compile(segments=[built], ctx=context)
    assert isinstance(result, CompileFailure)
    return result


def test_a_lowering_that_fails_names_op_and_line(xla, segment, node):
    x = np.ones((2, 3), np.float32)
    built = segment([x], lambda v: ([n := node("aten.mm.default", v[0], v[0], to=1)], n.outputs))
    reason = _failure(xla, built).reason
    assert "xla" in reason
    assert "aten.mm.default" in reason
    assert "train.py:12" in reason


def test_a_result_unlike_its_spec_is_a_failure(xla, segment, node):
    wrong = TensorSpec((4,), DType.float64)
    built = segment([np.ones(3)], lambda v: ([n := node("aten.exp.default", v[0], to=1, spec=wrong)], n.outputs))
    assert "float64[3] where the IR says f64[4]" in _failure(xla, built).reason


def test_one_failure_does_not_hold_up_the_others(xla, segment, node):
    x = np.ones((2, 3), np.float32)
    bad = segment([x], lambda v: ([n := node("aten.mm.default", v[0], v[0], to=1)], n.outputs))
    good = segment([x], lambda v: ([n := node("aten.exp.default", v[0], to=1)], n.outputs))
    steps: list[tuple[int, int]] = []
    context = CompileContext(xla.session, xla.target, lambda done, total: steps.append((done, total)))
    first, second = xla.hook.lazycore_compile(segments=[bad, good], ctx=context)
    assert isinstance(first, CompileFailure)
    assert isinstance(second, Executable)
    assert steps == [(1, 2), (2, 2)]


def test_another_backends_session_is_a_failure(xla, segment):
    assert "HostSession" in _failure(xla, segment([np.ones(3)], lambda v: ([], v)), HostSession()).reason


@pytest.mark.parametrize(
    ("op", "args", "kwargs", "code"),
    [
        ("vendor.op.default", (Value(0, TensorSpec((2,), DType.float32)),), {}, "op"),
        ("aten.floor.default", (Value(0, TensorSpec((2,), DType.complex64)),), {}, "dtype"),
        ("aten.exp.default", (Value(0, TensorSpec((2,), DType.float8_e5m2)),), {}, "dtype"),
        ("aten.exp.default", (Value(0, TensorSpec((Dim("n"),), DType.float32)),), {}, "shape"),
        (
            "aten.var.correction",
            (Value(0, TensorSpec((2,), DType.float32)), None),
            {"correction": Value(1, TensorSpec((), DType.float32)), "keepdim": False},
            "attribute",
        ),
    ],
)
def test_what_is_not_taken_is_rejected_with_a_code(xla, node, op, args, kwargs, code):
    decision = xla.supports(node(op, *args, to=9, **kwargs))
    assert isinstance(decision, Rejected)
    assert decision.code == code
    assert op in decision.reason


def test_numbers_of_several_dtypes_between_buffers(xla, segment):
    arrays = [np.array(2**40), np.zeros(3), np.array(0.5), np.zeros(2, np.float32), np.array(-7), np.array(True)]
    order = [1, 3, 0, 2, 4, 5]  # what is donated comes first among the outputs
    built = segment(arrays, lambda v: ([], [v[i] for i in order]), scalars=[0, 2, 4, 5], donatable=frozenset({1, 3}))
    executable = xla.compile(built)
    doubles, singles = xla.session.upload(np.arange(3.0)), xla.session.upload(np.ones(2, np.float32))
    given = [np.array(2**41), doubles, np.array(np.nan), singles, np.array(-(2**50)), np.array(False)]
    results = [r.to_host() for r in executable.run(given)]
    expected = [2**41, [0.0, 1.0, 2.0], np.nan, [1.0, 1.0], -(2**50), False]
    for result, i in zip(results, order, strict=True):
        assert result.dtype == arrays[i].dtype
        np.testing.assert_array_equal(result, expected[i])
    assert doubles.deleted
    assert singles.deleted
