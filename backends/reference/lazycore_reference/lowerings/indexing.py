"""Reading through indices, which the core has checked to be in range."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001
# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

import numpy as np
from lazycore_plugin_api import DType, Node, argument_values

from lazycore_reference.axes import axis, line, trailing
from lazycore_reference.registry import Array, lowering

Indices = tuple[Array | None, ...]


def grid(index: Array, dim: int) -> tuple[Array, ...]:
    """What to index with so that the element at position p of ``index`` addresses p with its ``dim`` replaced."""
    places = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    places[axis(dim, index.ndim)] = index
    return tuple(places)


def no_mask(node: Node) -> str | None:
    """Boolean masks have shapes that depend on data."""
    masks = any(v.spec.dtype is DType.bool for v in argument_values(node.args[1]))
    return f"{node.op} by a boolean mask" if masks else None


def advanced(indices: Indices) -> tuple[Any, ...]:
    """ATen's optional index tensors as NumPy's: None takes a whole dimension."""
    return tuple(slice(None) if i is None else i for i in indices)


@lowering("aten.embedding.default", raw=True)
def embedding(weight: Array, index: Array, padding: int, scale: bool, sparse: bool) -> Array:
    """Rows of the weight; the other arguments concern the gradient."""
    return weight[index]


@lowering("aten.gather.default", raw=True)
def gather(x: Array, dim: int, index: Array, *, sparse_grad: bool = False) -> Array:
    """x at the index along a dimension, at the index's own position along all others. An empty index may have any
    number of dimensions."""
    if not index.size:
        return np.empty(index.shape, x.dtype)
    return line(x)[grid(line(index), dim)].reshape(index.shape)


@lowering("aten.index_select.default", raw=True)
def index_select(x: Array, dim: int, index: Array) -> Array:
    """Slices of x along a dimension."""
    taken = np.take(line(x), line(index), axis=axis(dim, x.ndim))
    return taken if x.ndim else taken.reshape(())


@lowering("aten.index.Tensor", raw=True, objection=no_mask)
def index(x: Array, indices: Indices) -> Array:
    """NumPy's advanced indexing."""
    return np.asarray(x[advanced(indices)])


@lowering("aten.take.default", raw=True)
def take(x: Array, index: Array) -> Array:
    """Elements of the flattened tensor; negative positions count from its end."""
    return np.asarray(x.reshape(-1)[index])


@lowering("lazycore.dynamic_slice.default", raw=True)
def dynamic_slice(x: Array, starts: tuple[Any, ...], sizes: tuple[int, ...]) -> Array:
    """The part of x that starts at run-time positions and has known sizes."""
    return x[trailing(slice(int(s), int(s) + n) for s, n in zip(starts, sizes, strict=True))]
