"""Reductions, scans, sorting, searching."""

from __future__ import annotations

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.opset.result_dtypes import each, fixed, flags, given, positions, real, real_given, same, summed
from lazycore_plugin_api.opset.row import Promotion
from lazycore_plugin_api.opset.shapes.elementwise import same_as
from lazycore_plugin_api.opset.shapes.reduction import distributed, listed_reduced, reduced, selected, sought, to_scalar
from lazycore_plugin_api.opset.table.make import promoted, row

__all__ = ["REDUCTION"]

_INT64 = fixed(DType.int64)
_FLAGS = flags()
_PAIR = each(same(), _INT64)
_FIRST = "NaN wins; the first of equal ones"
_SOME = "which of equal ones is open"

REDUCTION = [
    row(
        "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
        summed(),
        to_scalar(),
        "0 of nothing; float16 and bfloat16 add up in float32",
    ),
    row(
        "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        summed(),
        reduced(),
        "no or empty dim: all; float16 and bfloat16 add up in float32",
    ),
    row(
        "mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", given("dtype", same()), to_scalar(), "NaN of nothing"
    ),
    row(
        "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        given("dtype", same()),
        reduced(),
        "NaN of nothing",
    ),
    row("prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", summed(), to_scalar(), "1 of nothing"),
    row(
        "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        summed(),
        reduced(),
        "1 of nothing",
    ),
    row("amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", same(), reduced(), "NaN wins"),
    row("amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", same(), reduced(), "NaN wins"),
    row("max(Tensor self) -> Tensor", same(), to_scalar(), "NaN wins"),
    row("min(Tensor self) -> Tensor", same(), to_scalar(), "NaN wins"),
    row("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)", _PAIR, reduced(outputs=2), _FIRST),
    row("min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)", _PAIR, reduced(outputs=2), _FIRST),
    row("argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", _INT64, reduced(), _FIRST),
    row("argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", _INT64, reduced(), _FIRST),
    row("any(Tensor self) -> Tensor", _FLAGS, to_scalar(), "NaN is true; false of nothing"),
    row(
        "any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
        _FLAGS,
        reduced(),
        "NaN is true; false of nothing",
    ),
    row(
        "any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
        _FLAGS,
        listed_reduced(),
        "an empty dim reduces nothing",
    ),
    row("all(Tensor self) -> Tensor", _FLAGS, to_scalar(), "NaN is true; true of nothing"),
    row(
        "all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", _FLAGS, reduced(), "NaN is true; true of nothing"
    ),
    row(
        "all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
        _FLAGS,
        listed_reduced(),
        "an empty dim reduces nothing",
    ),
    row("count_nonzero(Tensor self, int? dim=None) -> Tensor", _INT64, reduced(), "NaN counts"),
    row("count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", _INT64, reduced(), "NaN counts"),
    row(
        "var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
        real(),
        reduced(),
        "correction None is 1; NaN where there are too few",
    ),
    row(
        "std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
        real(),
        reduced(),
        "correction None is 1; NaN where there are too few",
    ),
    row(
        "var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
        "bool keepdim=False) -> (Tensor, Tensor)",
        each(real(), same()),
        reduced(outputs=2),
        "correction None is 1",
    ),
    promoted(
        "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
        Promotion.floating,
        "shifted by the maximum; -inf of nothing",
        shape=reduced(),
    ),
    row(
        "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
        "ScalarType? dtype=None) -> Tensor",
        real_given(),
        reduced(),
        "ord inf, -inf and 0 are the largest, smallest, number of nonzeros",
    ),
    row("norm.Scalar(Tensor self, Scalar p=2) -> Tensor", real(), to_scalar()),
    row(
        "norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
        real(),
        reduced(),
        "p None is 2",
    ),
    row("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", real(), to_scalar(), "operands broadcast"),
    row("median(Tensor self) -> Tensor", same(), to_scalar(), "NaN wins; the lower of two"),
    row("nanmedian(Tensor self) -> Tensor", same(), to_scalar(), "NaN is left out; the lower of two"),
    row(
        "median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)",
        _PAIR,
        reduced(outputs=2),
        "NaN wins; the lower of two",
    ),
    row(
        "nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)",
        _PAIR,
        reduced(outputs=2),
        "NaN is left out; the lower of two",
    ),
    row(
        "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor, Tensor)",
        _PAIR,
        reduced(outputs=2),
        "k counts from 1; NaN is largest",
    ),
    row(
        "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor, Tensor)",
        _PAIR,
        reduced(outputs=2),
        "the smallest of the most frequent; its last place",
    ),
    row("cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", summed(), same_as("self")),
    row("cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", summed(), same_as("self")),
    row(
        "cummax(Tensor self, int dim) -> (Tensor, Tensor)",
        _PAIR,
        same_as("self", "self"),
        "NaN stays once it came; the last of equal ones",
    ),
    row(
        "cummin(Tensor self, int dim) -> (Tensor, Tensor)",
        _PAIR,
        same_as("self", "self"),
        "NaN stays once it came; the last of equal ones",
    ),
    row("logcumsumexp(Tensor self, int dim) -> Tensor", same(), same_as("self")),
    row(
        "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor, Tensor)",
        _PAIR,
        same_as("self", "self"),
        f"NaN is largest; {_SOME}",
    ),
    row(
        "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor, Tensor)",
        _PAIR,
        same_as("self", "self"),
        "NaN is largest; equal ones keep their order if stable",
    ),
    row(
        "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor, Tensor)",
        _PAIR,
        selected(),
        f"NaN is largest; {_SOME}",
    ),
    row(
        "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, "
        "str? side=None, Tensor? sorter=None) -> Tensor",
        positions(),
        distributed("self"),
        "right or side='right' goes past equal ones",
    ),
    row(
        "searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, "
        "str? side=None, Tensor? sorter=None) -> Tensor",
        positions(),
        distributed("self"),
    ),
    row(
        "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
        positions(),
        distributed("self"),
        "right goes past equal ones",
    ),
    row(
        "bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
        positions(),
        distributed("self"),
    ),
    row(
        "nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor",
        _INT64,
        sought(),
        "row-major; cut off or filled up to size",
    ),
]
