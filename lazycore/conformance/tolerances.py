"""How far a result may be from the right one: by what the op does, and its dtype. Tight: vendors loosen them by op in
``lazycore_conformance``, which the report shows."""

from __future__ import annotations

from collections.abc import Mapping

from lazycore_plugin_api import DType
from lazycore_plugin_api.difference import Tolerance, tolerance_of
from lazycore_plugin_api.opset import FAMILIES

__all__ = ["keeps_zeros", "tolerance_for"]

# PyTorch itself computes with constants of single precision.
_COARSE = frozenset(
    ("aten.hardsigmoid_backward.default", "aten.special_bessel_y0.default", "aten.special_bessel_y1.default")
)
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
_ELEMENTWISE_FAMILIES = ("Elementwise, one operand", "Elementwise, several operands", "Activations")
# Series and recurrences, which every library cuts off elsewhere.
_SERIES = ("special_", "lgamma", "digamma", "polygamma", "igamma", "erfinv", "i0", "_softmax", "_log_softmax")

_ELEMENTWISE = {
    DType.float64: Tolerance(1e-12, 1e-12),
    DType.complex128: Tolerance(1e-12, 1e-12),
    DType.float32: Tolerance(2e-6, 5e-7),
    DType.complex64: Tolerance(2e-6, 5e-7),
    DType.float16: Tolerance(1e-3, 1e-3),
    DType.bfloat16: Tolerance(8e-3, 8e-3),
}
_ACCUMULATED = {
    DType.float64: Tolerance(1e-10, 1e-10),
    DType.complex128: Tolerance(1e-10, 1e-10),
    DType.float32: Tolerance(1e-5, 1e-5),
    DType.complex64: Tolerance(1e-5, 1e-5),
    DType.float16: Tolerance(2e-3, 1e-2),
    DType.bfloat16: Tolerance(1.6e-2, 5e-2),
}


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
    table = _ELEMENTWISE if op in _ELEMENTWISE_OPS else _ACCUMULATED
    return table.get(dtype, tolerance_of(dtype))
