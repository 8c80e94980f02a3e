"""How far a result may be from the right one: by what the op does, and its dtype. Tight: vendors loosen them by op in
``lazycore_conformance``, which the report shows.

All figures are units in the last place (ulps) of 1, of the dtype: an element may be off by so many times its own size
and as many of 1, as operands of the cases are of that size, and sums and differences lose what is small beside them.
"""

from __future__ import annotations

from collections.abc import Mapping

import ml_dtypes
import numpy as np
from lazycore_plugin_api import DType
from lazycore_plugin_api.difference import Tolerance, tolerance_of
from lazycore_plugin_api.opset import FAMILIES

__all__ = ["ACCUMULATED", "FUNCTIONS", "ROUNDED", "keeps_zeros", "tolerance_for", "ulp"]

ROUNDED = 4.0
"""Each operation is right to half an ulp by IEEE 754. These have up to four of them; compilers contract some."""
FUNCTIONS = 20.0
"""OpenCL asks of a device 16 ulps for pow, erf and gamma, and 3 to 6 for exp, log, sin, tan, tanh; the other side,
which is not exact either, has 1 to 4."""
ACCUMULATED = 64.0
"""Sums, products and recurrences of up to n = 100 terms, each up to 9, in any order: half an ulp of 9 per step, and
sqrt(n) of them where roundings are independent, is 45."""
ROUNDED_ONCE = 1.0
"""16-bit floats are computed in single precision and rounded at the end: to the right number or its neighbour."""
ROUNDED_TWICE = 2.0
"""PyTorch itself rounds on the way where one product is added to another number: ``alpha * y``, ``beta * x``."""
ROUNDED_EACH_TIME = 16.0
"""PyTorch adds at an index in 16 bits: up to 8 terms, each sum right to half an ulp of 8; sqrt(8) of these is 11."""

# PyTorch itself computes with constants of single precision.
_COARSE = frozenset(
    f"aten.{name}.default"
    for name in (
        "hardsigmoid_backward", "special_bessel_j0", "special_bessel_j1", "special_bessel_y0", "special_bessel_y1",
    )
)  # fmt: skip
# What moves, compares or selects elements computes nothing: not a bit may differ.
_EXACT = """
abs neg sign sgn relu floor ceil round trunc isnan isinf isposinf isneginf signbit logical_not bitwise_not clone alias
detach lift_fresh_copy maximum minimum fmax fmin copysign eq ne lt le gt ge bitwise_and bitwise_or bitwise_xor
bitwise_left_shift bitwise_right_shift logical_and logical_or logical_xor where clamp clamp_min clamp_max masked_fill
fill copy nextafter gcd lcm hardtanh threshold amax amin max min argmax argmin any all count_nonzero median nanmedian
kthvalue mode cummax cummin sort topk searchsorted bucketize nonzero_static threshold_backward hardtanh_backward
max_pool2d_with_indices max_pool3d_with_indices adaptive_max_pool2d adaptive_max_pool3d im2col real imag conj_physical
_conj_physical
"""
# PyTorch's own kernels answer differently for max(0.0, -0.0) from one element to the next.
_CHOOSING = """
maximum minimum fmax fmin clamp clamp_min clamp_max amax amin max min median nanmedian kthvalue mode cummax cummin sort
topk hardtanh max_pool2d_with_indices max_pool3d_with_indices adaptive_max_pool2d adaptive_max_pool3d relu
"""
# Of complex numbers they are computed.
_REAL_ONLY = ("aten.abs.default", "aten.sgn.default")
_EXACT_FAMILIES = ("Shapes and factories", "Indexing")
# Members of those families that add or divide.
_COMPUTING = """
linspace embedding_dense_backward _embedding_bag _embedding_bag_forward_only scatter_add index_add index_put put
scatter_reduce scatter index_reduce reflection_pad1d_backward reflection_pad2d_backward reflection_pad3d_backward
replication_pad1d_backward replication_pad2d_backward replication_pad3d_backward unfold_backward
"""
# Nothing but additions, products, quotients and square roots, and few of them.
_ARITHMETIC = """
add sub rsub mul div reciprocal sqrt rsqrt frac fmod remainder floor_divide addcmul addcdiv lerp leaky_relu
leaky_relu_backward hardswish hardswish_backward hardsigmoid hardsigmoid_backward hardshrink_backward
softshrink_backward native_dropout_backward rrelu_with_noise_backward complex
"""
# They multiply one operand by a number before they add it.
_SCALING = "add sub rsub addcmul addcdiv lerp"
_ELEMENTWISE_FAMILIES = ("Elementwise, one operand", "Elementwise, several operands", "Activations")
# Series and recurrences, which every library cuts off elsewhere.
_SERIES = ("special_", "lgamma", "digamma", "polygamma", "igamma", "erfinv", "i0", "_softmax", "_log_softmax")
_HALVES = (DType.float16, DType.bfloat16)


def _names(families: tuple[str, ...]) -> set[str]:
    return {row.name for family in families for row in FAMILIES.get(family, [])}


def _base(op: str) -> str:
    return op.split(".")[1]


_EXACT_OPS = frozenset(
    name
    for rows in FAMILIES.values()
    for name in (row.name for row in rows)
    if _base(name) in _EXACT.split() or (name in _names(_EXACT_FAMILIES) and _base(name) not in _COMPUTING.split())
)
_ELEMENTWISE_OPS = frozenset(n for n in _names(_ELEMENTWISE_FAMILIES) if not _base(n).startswith(_SERIES))


def keeps_zeros(op: str) -> bool:
    """Whether zeros have the signs that the op's definition gives them: it computes nothing, nor chooses among
    equals."""
    return op in _EXACT_OPS and _base(op) not in _CHOOSING.split()


def ulp(dtype: DType) -> float:
    """The distance of 1 and the next number of a floating or complex dtype."""
    kind = dtype.numpy
    return float(ml_dtypes.finfo(kind).eps if dtype.is_floating else np.finfo(kind).eps)  # type: ignore[no-untyped-call]


def tolerance_for(
    op: str, dtype: DType, loosened: Mapping[str, tuple[float, float]], of_complex: bool = False
) -> Tolerance:
    """What the op's results of ``dtype`` may be off by. ``loosened``: the vendor's own, by op (``aten.exp.default``, or
    without its overload) or ``op dtype``. ``of_complex``: an operand is complex."""
    if not (dtype.is_floating or dtype.is_complex):
        return Tolerance()
    for key in (f"{op} {dtype.value}", op, op.rpartition(".")[0]):
        if key in loosened:
            return Tolerance(*loosened[key])
    if op in _EXACT_OPS and not (of_complex and op in _REAL_ONLY):
        return Tolerance()
    if op in _COARSE and dtype is DType.float64:
        return tolerance_of(dtype)
    return _of_half(op, dtype) if dtype in _HALVES else _of_class(op, dtype)


def _of_half(op: str, dtype: DType) -> Tolerance:
    if op in _ELEMENTWISE_OPS and _base(op) not in _SCALING.split():
        return Tolerance(ROUNDED_ONCE * ulp(dtype), FUNCTIONS * ulp(DType.float32))
    count = ROUNDED_EACH_TIME if _base(op) in _COMPUTING.split() else ROUNDED_TWICE
    return Tolerance(ROUNDED_TWICE * ulp(dtype), count * ulp(dtype))


def _of_class(op: str, dtype: DType) -> Tolerance:
    count = ACCUMULATED
    if op in _ELEMENTWISE_OPS:
        count = ROUNDED if _base(op) in _ARITHMETIC.split() and not dtype.is_complex else FUNCTIONS
    return Tolerance(count * ulp(dtype), count * ulp(dtype))
