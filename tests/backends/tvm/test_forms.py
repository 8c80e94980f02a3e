"""Kernels are shared by what computes the same, and by nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from lazycore_plugin_api import HostArray, Segment, from_text
from lowering.backends import Backend

pytest.importorskip("tvm")

import lazycore_tvm.lowerings  # noqa: F401  (fills the table)
from lazycore_tvm.emit import Emitter
from lazycore_tvm.tvm_runtime import COMPILE_LOCK
from lazycore_tvm.tvm_runtime import tvm as compiler

X, Y = np.array([[1, -2, 3], [4, np.nan, -0.0]], np.float32), np.array([[5, 6, 7], [8, 9, 1]], np.float32)


def _segment(lines: Sequence[str], results: str) -> Segment:
    graph = from_text("\n".join(["segment(%0: f32[2,3], %1: f32[2,3]) {", *lines, f"return {results}", "}"]))
    assert isinstance(graph, Segment)
    return graph


def _kernels(segment: Segment) -> int:
    with COMPILE_LOCK:
        functions = Emitter(segment).module().functions_items()
    return sum(isinstance(function, compiler.tirx.PrimFunc) for _, function in functions)


def _run(tvm: Backend, segment: Segment) -> list[HostArray]:
    return [b.to_host() for b in tvm.compile(segment).run(tvm.bind(segment, [X, Y]))]


def test_layers_that_repeat_have_one_kernel(tvm: Backend) -> None:
    lines = [f"%{k}: f32[2,3] = aten.sub.Tensor(%{k - 1}, %{k - 2}, alpha=1)" for k in range(2, 12)]
    segment = _segment(lines, ", ".join(f"%{k}" for k in range(2, 12)))
    assert _kernels(segment) == 1
    expected = [X, Y]
    for _ in lines:
        expected.append(expected[-1] - expected[-2])
    for actual, right in zip(_run(tvm, segment), expected[2:], strict=True):
        np.testing.assert_array_equal(actual, right)


DIFFERENT = {
    "numbers": (["aten.mul.Scalar(%0, 0.0)", "aten.mul.Scalar(%0, -0.0)"], [X * 0.0, X * -0.0]),
    "order": (["aten.sub.Tensor(%0, %1)", "aten.sub.Tensor(%0, %0)"], [X - Y, X - X]),
    "attributes": (["aten.sub.Tensor(%0, %1, alpha=1)", "aten.sub.Tensor(%0, %1, alpha=2)"], [X - Y, X - 2 * Y]),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_what_differs_has_kernels_of_its_own(tvm: Backend, case: str) -> None:
    calls, expected = DIFFERENT[case]
    segment = _segment([f"%{k}: f32[2,3] = {call}" for k, call in enumerate(calls, start=2)], "%2, %3")
    assert _kernels(segment) == 2
    for actual, right in zip(_run(tvm, segment), expected, strict=True):
        np.testing.assert_array_equal(actual, right)
        np.testing.assert_array_equal(np.signbit(actual)[~np.isnan(right)], np.signbit(right)[~np.isnan(right)])


def test_operands_that_change_places_share_one(tvm: Backend) -> None:
    calls = "%2: f32[2,3] = aten.sub.Tensor(%0, %1)", "%3: f32[2,3] = aten.sub.Tensor(%1, %0)"
    segment = _segment(calls, "%2, %3")
    assert _kernels(segment) == 1
    for actual, right in zip(_run(tvm, segment), (X - Y, Y - X), strict=True):
        np.testing.assert_array_equal(actual, right)


def test_views_of_other_shapes_are_other_kernels(tvm: Backend) -> None:
    calls = (
        "%2: f32[3,2] = aten.permute.default(%0, [1, 0])", "%3: f32[3,2] = aten.view.default(%0, [3, 2])",
        "%4: f32[3,2] = aten.neg.default(%2)", "%5: f32[3,2] = aten.neg.default(%3)",
    )  # fmt: skip
    segment = _segment(calls, "%4, %5")
    first, second = _run(tvm, segment)
    np.testing.assert_array_equal(first, -X.T)
    np.testing.assert_array_equal(second, -X.reshape(3, 2))
