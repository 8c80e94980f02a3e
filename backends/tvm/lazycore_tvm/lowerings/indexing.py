"""Reading through indices. They are in range, and are kept in range besides: a read out of range ends the process."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001

from __future__ import annotations

from typing import Any, TypeAlias

from lazycore_plugin_api import DType, Node, TensorSpec, argument_values

from lazycore_tvm.arrays import Array
from lazycore_tvm.lowerings.shape import replaced
from lazycore_tvm.operands import axis
from lazycore_tvm.registry import ANY, Kind, lowering
from lazycore_tvm.scalars import Expr, select
from lazycore_tvm.sizes import long
from lazycore_tvm.tvm_runtime import tvm

tir = tvm.tirx
# Kernels of their own: fused under a condition, TVM would take out what keeps positions in range there.
_READS: dict[str, Any] = {"kind": Kind.kernel, "dtypes": ANY, "rereads": True}
Indices: TypeAlias = tuple[Array | None, ...]


def place(index: Expr, size: int) -> Expr:
    """An index as a position; negative ones count from the end."""
    wide = tir.Cast("int64", index)
    positive = select(wide < tir.const(0, "int64"), wide + long(size), wide)
    return tir.Cast("int32", tir.max(tir.min(positive, long(size - 1)), tir.const(0, "int64")))


def no_mask(node: Node) -> str | None:
    """Boolean masks have shapes that depend on data."""
    masks = any(v.spec.dtype in (DType.bool, DType.uint8) for v in argument_values(node.args[1]))
    return "a boolean mask" if masks else None


@lowering("embedding", **_READS)
def embedding(weight: Array, index: Array, padding: int, scale: bool, sparse: bool) -> Array:
    """Rows of the weight; the other arguments concern the gradient."""
    rows, width = weight.shape

    def at(*i: Expr) -> Expr:
        return weight.at(place(index.at(*i[:-1]), rows), i[-1])

    return Array((*index.shape, width), weight.dtype, at, None, 1)


def _line(x: Array) -> Array:
    return x.reshaped((1,)) if x.ndim == 0 else x


@lowering("gather", **_READS)
def gather(x: Array, dim: int, index: Array, *, sparse_grad: bool = False) -> Array:
    """x at the index along a dimension, at the index's own position along all others."""
    source, own, where = _line(x), _line(index), axis(dim, x.ndim)

    def at(*i: Expr) -> Expr:
        return source.at(*replaced(i, where, place(own.at(*i), source.shape[where])))

    return Array(own.shape, x.dtype, at, None, 1).reshaped(index.shape)


@lowering("index_select", **_READS)
def index_select(x: Array, dim: int, index: Array) -> Array:
    """Slices of x along a dimension."""
    source, own, where = _line(x), _line(index), axis(dim, x.ndim)
    shape = replaced(source.shape, where, own.size)

    def at(*i: Expr) -> Expr:
        return source.at(*replaced(i, where, place(own.at(i[where]), source.shape[where])))

    return Array(shape, x.dtype, at, None, 1).reshaped(shape if x.ndim else ())


@lowering("take", **_READS)
def take(x: Array, index: Array) -> Array:
    """Elements of the flattened tensor; negative positions count from its end."""

    def at(*i: Expr) -> Expr:
        return x.element(place(index.at(*i), x.size))

    return Array(index.shape, x.dtype, at, None, 1)


@lowering("index.Tensor", **_READS, check=no_mask, needs_out=True)
def index(x: Array, indices: Indices, *, out: list[TensorSpec]) -> Array:
    """Advanced indexing: index tensors broadcast, and stand where the first is if nothing is between them."""
    shape = out[0].shape
    given = [d for d, i in enumerate(indices) if i is not None]
    rank = max((i.ndim for i in indices if i is not None), default=0)
    together = given == list(range(given[0], given[0] + len(given))) if given else True
    first = given[0] if given and together else 0

    def at(*i: Expr) -> Expr:
        own, rest = i[first : first + rank], iter((*i[:first], *i[first + rank :]))
        places = []
        for d, size in enumerate(x.shape):
            chosen: Any = indices[d] if d < len(indices) else None
            places.append(next(rest) if chosen is None else place(_broadcast(chosen, own), size))
        return x.at(*places)

    return Array(shape, x.dtype, at, None, 1)


def _broadcast(array: Array, i: tuple[Any, ...]) -> Expr:
    own = i[len(i) - array.ndim :]
    return array.at(*(tir.const(0, "int32") if n == 1 else p for p, n in zip(own, array.shape, strict=True)))
