"""Views by value, joining, padding, factories."""

from __future__ import annotations

from lazycore_plugin_api.opset.result_dtypes import given, joined, same
from lazycore_plugin_api.opset.row import OpRow, Promotion
from lazycore_plugin_api.opset.shapes.elementwise import as_listed, fixed_shape, same_as
from lazycore_plugin_api.opset.shapes.pooling import padded, shuffled, unshuffled
from lazycore_plugin_api.opset.shapes.views import (
    concatenated,
    counted,
    diagonal_of,
    expanded,
    eye_sized,
    permuted,
    picked,
    reinterpreted,
    repeated_by,
    sliced,
    squeezed,
    stacked,
    steps,
    transposed,
    triangle,
    turned,
    unsqueezed,
    viewed,
)
from lazycore_plugin_api.opset.table.make import promoted, row

__all__ = ["SHAPE"]

_SAME = same_as("self")
_STATED = as_listed("input_sizes")
_GRAD = same("grad_output")
_DTYPE = given("dtype")
_LIKE = given("dtype", same())
_FILLED = ("zeros", "ones")
_NEW = "Tensor self, int[] size"


def _padding(kind: str, rank: int, note: str) -> list[OpRow]:
    name = f"{kind}_pad{rank}d"
    gradient = f"{name}_backward(Tensor grad_output, Tensor self, int[{2 * rank}] padding) -> Tensor"
    return [
        row(f"{name}(Tensor self, int[{2 * rank}] padding) -> Tensor", same(), padded("padding"), note),
        row(gradient, _GRAD, _SAME),
    ]


SHAPE = [
    row("view(Tensor self, int[] size) -> Tensor", same(), viewed(), "row-major, by value"),
    row("_unsafe_view(Tensor self, int[] size) -> Tensor", same(), viewed()),
    row("reshape(Tensor self, int[] shape) -> Tensor", same(), viewed("shape")),
    row(
        "view.dtype(Tensor self, ScalarType dtype) -> Tensor",
        given("dtype"),
        reinterpreted(),
        "the bytes stay; little-endian",
    ),
    row("expand(Tensor self, int[] size, *, bool implicit=False) -> Tensor", same(), expanded(), "by value"),
    row("permute(Tensor self, int[] dims) -> Tensor", same(), permuted(), "by value"),
    row("transpose.int(Tensor self, int dim0, int dim1) -> Tensor", same(), transposed(), "by value"),
    row("t(Tensor self) -> Tensor", same(), turned(), "by value"),
    row("select.int(Tensor self, int dim, int index) -> Tensor", same(), picked()),
    row(
        "slice.Tensor(Tensor self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
        same(),
        sliced(),
        "start and end beyond the dimension are clamped",
    ),
    row("squeeze(Tensor self) -> Tensor", same(), squeezed()),
    row("squeeze.dim(Tensor self, int dim) -> Tensor", same(), squeezed("dim"), "a dimension of another size stays"),
    row("squeeze.dims(Tensor self, int[] dim) -> Tensor", same(), squeezed("dim"), "dimensions of other sizes stay"),
    row("unsqueeze(Tensor self, int dim) -> Tensor", same(), unsqueezed()),
    row(
        "diagonal(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
        same(),
        diagonal_of(),
        "empty where the offset lies outside",
    ),
    row("flip(Tensor self, int[] dims) -> Tensor", same(), _SAME),
    row(
        "roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor",
        same(),
        _SAME,
        "without dims, of the flattened operand",
    ),
    row("repeat(Tensor self, int[] repeats) -> Tensor", same(), repeated_by()),
    row("tril(Tensor self, int diagonal=0) -> Tensor", same(), _SAME),
    row("triu(Tensor self, int diagonal=0) -> Tensor", same(), _SAME),
    promoted(
        "cat(Tensor[] tensors, int dim=0) -> Tensor",
        Promotion.common,
        "empty 1-d operands go with every shape",
        shape=concatenated(),
    ),
    row("stack(Tensor[] tensors, int dim=0) -> Tensor", joined("tensors"), stacked()),
    row(
        "constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor",
        same(),
        padded("pad"),
        "pairs from the last dimension on; negative ones cut off",
    ),
    *(r for n in (1, 2, 3) for r in _padding("reflection", n, "the border is not repeated")),
    *(r for n in (1, 2, 3) for r in _padding("replication", n, "the border is repeated")),
    row("pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", same(), shuffled()),
    row("pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", same(), unshuffled()),
    row(
        "select_backward(Tensor grad_output, int[] input_sizes, int dim, int index) -> Tensor",
        _GRAD,
        _STATED,
        "0 elsewhere",
    ),
    row(
        "slice_backward(Tensor grad_output, int[] input_sizes, int dim, int start, int end, int step) -> Tensor",
        _GRAD,
        _STATED,
        "0 elsewhere",
    ),
    row(
        "diagonal_backward(Tensor grad_output, int[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
        _GRAD,
        _STATED,
        "0 elsewhere",
    ),
    row(
        "unfold_backward(Tensor grad_in, int[] input_sizes, int dim, int size, int step) -> Tensor",
        same("grad_in"),
        _STATED,
        "windows that overlap add up",
    ),
    row("select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor", same(), _SAME),
    row(
        "slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
        same(),
        _SAME,
        "start and end beyond the dimension are clamped",
    ),
    row(
        "_to_copy(Tensor self, *, ScalarType? dtype=None) -> Tensor",
        given("dtype", same()),
        _SAME,
        "floats to integers towards 0; to bool: whether not 0, NaN is true",
    ),
    row(
        "full(int[] size, Scalar fill_value, *, ScalarType? dtype=None) -> Tensor",
        _DTYPE,
        as_listed("size"),
        lift="fill_value",
    ),
    row(
        "full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None) -> Tensor", given("dtype", same()), _SAME
    ),
    row("scalar_tensor(Scalar s, *, ScalarType? dtype=None) -> Tensor", _DTYPE, fixed_shape()),
    *(row(f"{n}(int[] size, *, ScalarType? dtype=None) -> Tensor", _DTYPE, as_listed("size")) for n in _FILLED),
    *(row(f"{n}_like(Tensor self, *, ScalarType? dtype=None) -> Tensor", _LIKE, _SAME) for n in _FILLED),
    *(row(f"new_{n}({_NEW}, *, ScalarType? dtype=None) -> Tensor", _LIKE, as_listed("size")) for n in _FILLED),
    row(f"new_full({_NEW}, Scalar fill_value, *, ScalarType? dtype=None) -> Tensor", _LIKE, as_listed("size")),
    row("arange(Scalar end, *, ScalarType? dtype=None) -> Tensor", _DTYPE, counted()),
    row("arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None) -> Tensor", _DTYPE, counted()),
    row(
        "arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None) -> Tensor",
        _DTYPE,
        counted(),
        "each entry is start + i * step, computed in the accumulation dtype",
    ),
    row(
        "linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None) -> Tensor",
        _DTYPE,
        steps(),
        "symmetric: the second half is counted from the end",
    ),
    row("eye(int n, *, ScalarType? dtype=None) -> Tensor", _DTYPE, eye_sized()),
    row("eye.m(int n, int m, *, ScalarType? dtype=None) -> Tensor", _DTYPE, eye_sized()),
    row(
        "tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=int64) -> Tensor",
        _DTYPE,
        triangle(lower=True),
        "row-major",
    ),
    row(
        "triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=int64) -> Tensor",
        _DTYPE,
        triangle(lower=False),
        "row-major",
    ),
]
