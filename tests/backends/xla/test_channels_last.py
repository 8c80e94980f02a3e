"""Images between convolutions have their channels last: what is computed stays the same, and nothing is transposed."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import lazycore_xla.lowerings  # noqa: F401  (fills the table)
import numpy as np
import pytest
from lazycore_plugin_api import DType, Segment, from_text
from lazycore_xla.configuration import own_configuration
from lazycore_xla.emit import emit
from lazycore_xla.registry import CHANNELS_LAST, TABLE

RESIDUAL = """segment(%0: f32[2,3,6,6], %1: f32[4,3,3,3], %2: f32[4], %3: f32[4,4,3,3]) {
  %4: f32[2,4,6,6] = aten.convolution.default(%0, %1, %2, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
  %5: f32[2,4,6,6], %6: f32[4], %7: f32[4] = aten._native_batch_norm_legit.no_stats(%4, %2, None, True, 0.1, 1e-05)
  %8: f32[2,4,6,6] = aten.relu.default(%5)
  %9: f32[2,4,6,6] = aten.convolution.default(%8, %3, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
  %10: f32[2,4,6,6] = aten.add.Tensor(%9, %8)
  return %10
}"""

BACKWARD = """segment(%0: f32[2,4,3,3], %1: f32[2,6,6,6], %2: f32[4,3,3,3], %3: f32[6], %4: f32[2,6,6,6]) {
  %5: f32[2,6,6,6], %6: f32[4,3,3,3], %7: f32[4] = aten.convolution_backward.default(%0, %1, %2, [4], [2, 2], \
[1, 1], [1, 1], False, [0, 0], 2, [True, True, True])
  %8: f32[2,6,6,6] = aten.threshold_backward.default(%5, %1, 0)
  %9: f32[2,6,6,6], %10: f32[6], %11: f32[6] = aten.native_batch_norm_backward.default(%8, %4, %3, None, None, \
%3, %3, True, 1e-05, [True, True, True])
  return %6, %7, %8, %9, %10, %11
}"""

TRANSPOSED = """segment(%0: f32[2,4,5,7], %1: f32[4,3,3,2], %2: f32[1,6,1,1], %3: f32[], %4: f32[6]) {
  %5: f32[2,6,10,14] = aten.convolution.default(%0, %1, None, [2, 2], [1, 0], [1, 1], True, [1, 0], 2)
  %6: f32[2,6,10,14] = aten.mul.Tensor(%5, %2)
  %7: f32[2,6,10,14] = aten.add.Tensor(%6, %3)
  %8: f32[2,6,10,14], %9: f32[0], %10: f32[0] = aten._native_batch_norm_legit_no_training.default(%7, %4, %4, %4, \
%4, 0.1, 1.0)
  %11: f32[2,6,10,14], %12: f32[6], %13: f32[6], %14: f32[6], %15: f32[6] = \
aten._native_batch_norm_legit_functional.default(%8, None, %4, %4, %4, True, 0.1, 1e-05)
  return %11, %12, %13, %14, %15
}"""

# An image that is its own weight has to be read in both orders.
ITSELF = """segment(%0: f32[3,3,5,5]) {
  %1: f32[3,3,3,3] = aten.convolution.default(%0, %0, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
  return %1
}"""

HALVES = """segment(%0: bf16[2,3,4,4], %1: bf16[4,3,3,3], %2: bf16[4]) {
  %3: bf16[2,4,4,4] = aten.convolution.default(%0, %1, %2, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
  %4: bf16[2,4,4,4] = aten.silu.default(%3)
  return %4
}"""


def _segment(text: str) -> Segment:
    graph = from_text(text)
    assert isinstance(graph, Segment)
    return graph


def _arrays(segment: Segment) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    drawn = ((v.spec, rng.standard_normal(v.spec.static_shape)) for v in segment.inputs)
    return [abs(a).astype(spec.dtype.numpy) if a.ndim < 2 else a.astype(spec.dtype.numpy) for spec, a in drawn]


def _results(segment: Segment, arrays: Sequence[np.ndarray], channels_last: bool) -> list[np.ndarray]:
    with own_configuration():
        return [np.asarray(r) for r in jax.jit(emit(segment, channels_last))(*arrays)]


@pytest.mark.parametrize("text", [RESIDUAL, BACKWARD, TRANSPOSED, ITSELF, HALVES])
def test_the_order_of_the_dimensions_changes_no_value(text: str) -> None:
    segment = _segment(text)
    arrays = _arrays(segment)
    plain, last = (_results(segment, arrays, order) for order in (False, True))
    tolerance = 1e-2 if segment.outputs[0].spec.dtype is DType.bfloat16 else 2e-5
    for expected, got in zip(plain, last, strict=True):
        np.testing.assert_allclose(got.astype("f"), expected.astype("f"), rtol=tolerance, atol=tolerance)


def _transposed(text: str, channels_last: bool) -> int:
    """How many images are transposed."""
    segment = _segment(text)
    with own_configuration():
        program = jax.make_jaxpr(emit(segment, channels_last))(*_arrays(segment))
    return sum(e.primitive.name == "transpose" and e.invars[0].aval.shape[0] == 2 for e in program.eqns)


def test_only_what_comes_in_and_what_goes_out_is_transposed() -> None:
    assert _transposed(RESIDUAL, True) == 2
    assert _transposed(RESIDUAL, False) == 0


def test_each_form_is_of_an_op_that_is_lowered() -> None:
    assert CHANNELS_LAST.keys() <= TABLE.keys()
