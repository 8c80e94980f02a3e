"""Ops that take positions, and lazycore's own."""

from __future__ import annotations

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.opset.result_dtypes import each, fixed, open_dtype, same
from lazycore_plugin_api.opset.row import IndexOperand
from lazycore_plugin_api.opset.shapes.elementwise import broadcast, same_as
from lazycore_plugin_api.opset.shapes.indexing import (
    bagged,
    embedded,
    embedding_gradient,
    gathered,
    index_selected,
    indexed,
    window,
    words,
)
from lazycore_plugin_api.opset.table.make import row

__all__ = ["INDEXING"]

_SAME = same_as("self")
_DIM = (IndexOperand("index", "self", "dim"),)
_SIGNED = (IndexOperand("index", "self", "dim", negative=True),)
_EACH = (IndexOperand("indices", "self", "each", negative=True),)
_FLAT = (IndexOperand("index", "self", "flat", negative=True),)
_ROWS = (IndexOperand("indices", "weight", 0),)
_LAST = "of writes to one place any may win"
_SUM = "writes to one place add up"
_BAG = each(same("weight"), open_dtype(), open_dtype(), open_dtype())

INDEXING = [
    row(
        "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
        same(),
        gathered(),
        "index may be smaller than self in the other dimensions",
        index=_DIM,
    ),
    row("index_select(Tensor self, int dim, Tensor index) -> Tensor", same(), index_selected(), index=_DIM),
    row(
        "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
        same(),
        indexed(),
        "indices that are not side by side put their dimensions in front",
        index=_EACH,
    ),
    row(
        "_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", same(), indexed(), "no index is out of range"
    ),
    row(
        "_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
        same(),
        _SAME,
        f"no index is out of range; accumulate adds up; else {_LAST}",
    ),
    row(
        "take(Tensor self, Tensor index) -> Tensor",
        same(),
        same_as("index"),
        "positions in row-major order",
        index=_FLAT,
    ),
    row(
        "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, "
        "bool sparse=False) -> Tensor",
        same("weight"),
        embedded(),
        index=_ROWS,
    ),
    row(
        "embedding_dense_backward(Tensor grad_output, Tensor indices, int num_weights, int padding_idx, "
        "bool scale_grad_by_freq) -> Tensor",
        same("grad_output"),
        embedding_gradient(),
        "rows add up; none for padding_idx",
    ),
    row(
        "_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, "
        "int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, "
        "int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
        _BAG,
        bagged(),
        "mode: 0 sum, 1 mean, 2 max; 0 for an empty bag",
        index=_ROWS,
    ),
    row(
        "_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, "
        "bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, "
        "bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
        _BAG,
        bagged(),
        "mode: 0 sum, 1 mean, 2 max; 0 for an empty bag",
        index=_ROWS,
    ),
    row(
        "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
        same(),
        _SAME,
        f"index may be smaller than src; {_LAST}",
        index=_DIM,
    ),
    row(
        "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
        same(),
        _SAME,
        lift="value",
        index=_DIM,
    ),
    row(
        "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
        same(),
        _SAME,
        "reduce is 'add' or 'multiply'",
        index=_DIM,
    ),
    row(
        "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
        same(),
        _SAME,
        "reduce is 'add' or 'multiply'",
        index=_DIM,
    ),
    row("scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", same(), _SAME, _SUM, index=_DIM),
    row(
        "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, "
        "bool include_self=True) -> Tensor",
        same(),
        _SAME,
        "mean of integers rounds down; without include_self only written places change",
        index=_DIM,
    ),
    row(
        "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
        same(),
        _SAME,
        _SUM,
        index=_DIM,
    ),
    row("index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", same(), _SAME, _LAST, index=_DIM),
    row(
        "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
        same(),
        _SAME,
        index=_SIGNED,
    ),
    row(
        "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
        same(),
        _SAME,
        "value is 0-d",
        index=_SIGNED,
    ),
    row(
        "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
        same(),
        _SAME,
        f"accumulate adds up; else {_LAST}",
        index=_EACH,
    ),
    row(
        "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, "
        "bool include_self=True) -> Tensor",
        same(),
        _SAME,
        "without include_self only written places change",
        index=_DIM,
    ),
    row(
        "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
        same(),
        _SAME,
        f"positions in row-major order; accumulate adds up; else {_LAST}",
        index=_FLAT,
    ),
    row(
        "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
        same(),
        broadcast("self", "mask"),
        "takes source's elements in row-major order",
    ),
    row(
        "lazycore.dynamic_slice.default(Tensor x, Index[] starts, int[] sizes) -> Tensor",
        same("x"),
        window(),
        "the window lies inside",
    ),
    row(
        "lazycore.dynamic_update_slice.default(Tensor x, Tensor update, Index[] starts) -> Tensor",
        same("x"),
        same_as("x"),
        "the window lies inside",
    ),
    row(
        "lazycore.philox.default(Index seed, Index offset, int[] size, int words) -> Tensor[]",
        fixed(DType.uint32),
        words(),
        "bit by bit as random.md says",
    ),
]
