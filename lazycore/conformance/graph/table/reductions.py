"""Reductions, scans, sorting, searching."""

from __future__ import annotations

from collections.abc import Iterator

from lazycore_plugin_api import DType

from lazycore.conformance.graph.draw import G, I, P, S, X
from lazycore.conformance.graph.row import ALL, FULL, NUMERIC, WITH_COMPLEX, Row, row, rows

__all__ = ["REDUCTIONS"]

_I64 = DType.int64


def _sums() -> Iterator[Row]:
    yield from rows("sum prod", X(3, 4, low=-1.5, high=1.5))
    yield row("mean", X(3, 4))
    yield from rows("sum prod", X(3, 4), dtype=_I64, dtypes=(_I64,))
    yield row("sum", X(3, 4), dtypes=WITH_COMPLEX)
    for dim in ([0], [-1], [0, 1], [1, -3], [], None):  # without dims: all
        yield from rows("sum.dim_IntList mean.dim", X(2, 3, 4), dim)
    yield from rows("sum.dim_IntList mean.dim", X(2, 3), [1], True)
    yield from rows("sum.dim_IntList mean.dim", X(0, 3), [0], odd=True)
    yield from rows("sum.dim_IntList mean.dim", S((7, 2)), [0], odd=True)
    yield row("prod.dim_int", X(3, 4), 1)
    yield row("prod.dim_int", X(3, 0), 1, odd=True)
    for correction in (0, 1):
        yield from rows("var.correction std.correction var_mean.correction", X(3, 5), [1], correction=correction)
        yield from rows("var.correction std.correction", X(3, 5), correction=correction, keepdim=True)
    yield row("logsumexp", X(3, 5), [1])
    yield row("logsumexp", X(3, 5, low=500, high=900), [1], dtypes=FULL, odd=True)
    for order in (1, 2, 3.0, float("inf")):
        yield row("linalg_vector_norm", X(3, 4), order, [1])
        yield row("norm.ScalarOpt_dim", X(3, 4), order, [1])
    yield row("linalg_vector_norm", X(3, 4))
    yield row("norm.Scalar", X(3, 4))
    yield row("dist", X(3, 4), X(3, 4))


def _extremes() -> Iterator[Row]:
    yield from rows("amax amin", X(3, 4), [1], dtypes=ALL)
    yield from rows("amax amin", S((7, 2)), [0], odd=True)
    yield from rows("max min", X(3, 4), dtypes=ALL)
    yield from rows("max min", S(), odd=True)
    yield from rows("max.dim min.dim", X(3, 5), 1)
    yield from rows("max.dim min.dim", X(3, 5), 0, True)
    yield from rows("max.dim min.dim", S((7, 2)), 0, odd=True)
    yield from rows("argmax argmin", X(3, 5))
    yield from rows("argmax argmin", X(3, 5), 1, True)
    yield from rows("argmax argmin", S((7, 2)), 0, odd=True)
    yield from rows("any all", X(3, 4, low=-0.6, high=0.6), dtypes=ALL)
    yield from rows("any.dim all.dim", X(3, 4), 1, dtypes=ALL)
    yield from rows("any.dims all.dims", X(3, 4), [0, 1], dtypes=ALL)
    yield from rows("any all", S(), odd=True)
    yield from rows("any.dim all.dim", X(3, 0), 1, odd=True, dtypes=ALL)
    yield from rows("count_nonzero", X(3, 4), dtypes=ALL)
    yield row("count_nonzero.dim_IntList", X(3, 4), [1], dtypes=ALL)


def _scans() -> Iterator[Row]:
    yield from rows("cumsum cumprod", X(3, 5), 1)
    yield from rows("cumsum cumprod", X(3, 5), 0, dtype=_I64, dtypes=(_I64,))
    yield from rows("cumsum cumprod", S((7, 2)), 0, odd=True)
    yield from rows("cumsum cumprod", X(0, 3), 0, odd=True)
    yield from rows("cummax cummin", X(3, 5), 1)
    yield row("logcumsumexp", X(3, 5), 1)


def _order() -> Iterator[Row]:
    unlike = G(3, -1, 2, 0, 5, -4, 7, 6, shape=(2, 4))
    yield from rows("sort", unlike, -1, True, dtypes=NUMERIC[:6])
    yield row("sort.stable", X(3, 5), stable=True, dim=0, dtypes=NUMERIC)
    yield row("sort.stable", S(), stable=True, odd=True)
    yield row("topk", unlike, 2, dtypes=NUMERIC[:6])
    yield row("kthvalue", unlike, 2, dtypes=NUMERIC[:6])
    yield from rows("median nanmedian", X(3, 5))
    yield from rows("median.dim nanmedian.dim", unlike, 1, dtypes=NUMERIC[:6])
    yield row("mode", G(1, 1, 2, 3, 3, 3, shape=(2, 3)), 1, vague=(1,), dtypes=NUMERIC[:6])
    steps = G(-2, -1, 0, 1, 2, 3)
    for right in (False, True):
        yield row("searchsorted.Tensor", steps, X(3, 4), right=right, dtypes=NUMERIC[:6])
        yield row("bucketize.Tensor", X(3, 4), steps, right=right, dtypes=NUMERIC[:6])
    yield row("searchsorted.Scalar", steps, 1)
    yield row("bucketize.Scalar", 1, steps)
    yield row("nonzero_static", I(6, below=2), size=4, dtypes=(_I64,))
    yield row("linalg_vector_norm", P(3, 4), 0, [1])


def _scalars() -> Iterator[Row]:
    """A 0-d operand takes the dimensions 0 and -1, as if it had one."""
    for dim in (0, -1):
        yield from rows("sum.dim_IntList mean.dim amax amin logsumexp any.dims", X(), [dim], odd=True, dtypes=FULL)
        yield from rows("prod.dim_int any.dim all.dim cumsum cumprod cummax cummin", X(), dim, odd=True, dtypes=FULL)
        yield from rows("max.dim min.dim argmax argmin logcumsumexp median.dim", X(), dim, odd=True, dtypes=FULL)
        yield from rows("_softmax _log_softmax", X(), dim, False, odd=True, dtypes=FULL)
        yield from rows("sort mode", X(), dim, odd=True, dtypes=FULL)
        yield from rows("topk kthvalue", X(), 1, dim, odd=True, dtypes=FULL)
        yield row("flip", X(), [dim], odd=True, dtypes=FULL)
        yield row("index_select", X(), dim, I(1, below=1), odd=True, dtypes=FULL)
        yield row("gather", X(), dim, I(below=1), odd=True, dtypes=FULL)
        yield row("var.correction", X(), [dim], correction=0, odd=True, dtypes=FULL)


REDUCTIONS = [*_scalars(), *_sums(), *_extremes(), *_scans(), *_order()]
