"""Reading and writing at indices."""

from __future__ import annotations

from collections.abc import Iterator

from lazycore_plugin_api import DType

from lazycore.conformance.graph.draw import B, G, I, P, X
from lazycore.conformance.graph.row import ALL, FLOATS, FULL, NUMERIC, Row, row, rows

__all__ = ["INDEXING"]

_I64 = DType.int64
_ONCE = G(2, 0, 1, dtype=_I64)


def _reads() -> Iterator[Row]:
    yield row("gather", X(3, 4), 1, I(3, 2, below=4), dtypes=ALL)
    yield row("index_select", X(3, 4), 0, I(5, below=3), dtypes=ALL)
    yield row("index_select", X(3, 4), 0, I(0, below=3), dtypes=ALL, odd=True)
    yield row("index.Tensor", X(3, 4), [I(5, below=3)], dtypes=ALL)
    yield row("index.Tensor", X(3, 4), [None, I(2, 2, below=4)], dtypes=ALL)
    yield row("index.Tensor", X(3, 4), [I(3, 1, below=3), I(2, below=4)], dtypes=ALL)
    yield row("_unsafe_index.Tensor", X(3, 4), [I(5, below=3)], dtypes=ALL)
    yield row("take", X(3, 4), I(5, below=12), dtypes=ALL)
    yield row("embedding", X(5, 3), I(2, 4, below=5))
    for mode in (0, 1, 2):
        offsets = G(0, 2, 2, dtype=_I64)
        yield from rows(
            "_embedding_bag _embedding_bag_forward_only",
            X(5, 3), I(6, below=5), offsets, mode=mode, vague=(1, 2, 3), dtypes=FULL,
        )  # fmt: skip


def _writes() -> Iterator[Row]:
    yield row("scatter.src", X(3, 4), 0, G(2, 0, 1, 1, 2, 0, shape=(3, 2), dtype=_I64), X(3, 2), dtypes=ALL)
    yield row("scatter.value", X(3, 4), 1, I(3, 2, below=4), 2, dtypes=NUMERIC)
    yield row("scatter_add", X(3, 4), 1, I(3, 6, below=4), X(3, 6), dtypes=NUMERIC)
    for reduce in ("add", "multiply"):
        yield row("scatter.reduce", P(3, 4), 1, I(3, 6, below=4), P(3, 6), reduce=reduce)
        yield row("scatter.value_reduce", P(3, 4), 1, I(3, 6, below=4), 2, reduce=reduce)
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        yield row("scatter_reduce.two", P(3, 4), 1, I(3, 6, below=4), P(3, 6), reduce)
        yield row("scatter_reduce.two", P(3, 4), 1, I(3, 6, below=4), P(3, 6), reduce, include_self=False)
    for reduce in ("prod", "mean", "amax", "amin"):
        yield row("index_reduce", P(3, 4), 0, I(5, below=3), P(5, 4), reduce)
    yield row("index_add", X(3, 4), 0, I(5, below=3), X(5, 4), dtypes=NUMERIC)
    yield row("index_add", X(3, 4), 0, I(5, below=3), X(5, 4), alpha=-0.3)
    yield row("index_copy", X(3, 4), 0, _ONCE, X(3, 4), dtypes=ALL)
    yield row("index_fill.int_Scalar", X(3, 4), 1, I(2, below=4), 2, dtypes=NUMERIC)
    yield row("index_fill.int_Tensor", X(3, 4), 1, I(2, below=4), X(), dtypes=ALL)
    yield row("index_put", X(3, 4), [_ONCE], X(3, 4), dtypes=ALL)
    yield row("index_put", X(3, 4), [I(5, below=3)], X(5, 4), True, dtypes=NUMERIC)
    yield row("index_put", X(3, 4), [_ONCE, G(0, 3, 1, dtype=_I64)], X(), dtypes=ALL)
    yield row("_unsafe_index_put", X(3, 4), [_ONCE], X(3, 4), dtypes=FLOATS)
    yield row("put", X(3, 4), G(4, 0, 9, dtype=_I64), X(3), dtypes=ALL)
    yield row("put", X(3, 4), I(5, below=12), X(5), True, dtypes=FLOATS)
    yield row("masked_scatter", X(3, 4), B(3, 4), X(12), dtypes=ALL)
    yield row("lazycore.dynamic_slice.default", X(5, 4), [1, 2], [3, 2], dtypes=ALL)
    yield row("lazycore.dynamic_slice.default", X(5, 4), [G(2, shape=(), dtype=_I64), 0], [3, 4], dtypes=ALL)
    yield row("lazycore.dynamic_update_slice.default", X(5, 4), X(2, 2), [1, 2], dtypes=ALL)
    yield row("lazycore.philox.default", 1234567, 5, [7], 2, dtypes=(_I64,))


INDEXING = [*_reads(), *_writes()]
