"""Shapes, padding, factories, conversions."""

from __future__ import annotations

from collections.abc import Iterator

from lazycore_plugin_api import DType

from lazycore.conformance.graph.draw import S, T, X
from lazycore.conformance.graph.row import ALL, FLOATS, NUMERIC, WITH_COMPLEX, Row, row, rows

__all__ = ["SHAPES"]


def _geometry() -> Iterator[Row]:
    yield from rows("view reshape _unsafe_view", X(3, 4), [2, 6], dtypes=ALL)
    yield from rows("view reshape", X(), [1, 1], dtypes=ALL)
    yield from rows("view reshape", X(0, 4), [2, 0], dtypes=ALL, odd=True)
    yield row("view.dtype", X(3, 4), DType.int32, dtypes=(DType.float32,))
    yield row("expand", X(3, 1), [2, 3, 4], dtypes=ALL)
    yield row("permute", X(2, 3, 4), [2, 0, 1], dtypes=(*ALL, *WITH_COMPLEX[2:]))
    yield row("transpose.int", X(2, 3, 4), 0, -1, dtypes=ALL)
    yield row("t", X(2, 3), dtypes=ALL)
    yield row("select.int", X(3, 4), 0, 2, dtypes=ALL)
    yield row("slice.Tensor", X(5, 3), 0, 1, 5, 2, dtypes=ALL)
    yield row("slice.Tensor", X(5, 3), 1, 3, 3, odd=True)
    yield row("squeeze", X(1, 3, 1), dtypes=ALL)
    yield row("squeeze.dim", X(1, 3, 1), 2, dtypes=ALL)
    yield row("squeeze.dims", X(1, 3, 1), [0, 2], dtypes=ALL)
    yield row("unsqueeze", X(3), 1, dtypes=ALL)
    yield row("diagonal", X(3, 4), 1, dtypes=ALL)
    yield row("flip", X(3, 4), [0, 1], dtypes=ALL)
    yield row("roll", X(3, 4), [1, -1], [0, 1], dtypes=ALL)
    yield row("roll", X(3, 4), [2], [], dtypes=ALL)
    yield row("repeat", X(3, 1), [2, 1, 2], dtypes=ALL)
    yield from rows("tril triu", X(4, 3), 1, dtypes=ALL)
    yield from rows("tril triu", S((7, 2)), odd=True)
    yield row("cat", [X(2, 3), X(1, 3)], 0, dtypes=ALL)
    yield row("cat", [X(2, 0), X(2, 3)], 1, dtypes=ALL, odd=True)
    yield row("stack", [X(2, 3), X(2, 3)], 1, dtypes=ALL)
    yield row("pixel_shuffle", X(1, 4, 2, 3), 2)
    yield row("pixel_unshuffle", X(1, 1, 4, 6), 2)


def _padding() -> Iterator[Row]:
    yield row("constant_pad_nd", X(2, 3), [1, 0, 0, 2], 1.5, dtypes=FLOATS)
    yield row("constant_pad_nd", X(2, 5), [-1, 2], 1, dtypes=NUMERIC)
    for name in ("reflection", "replication"):
        yield row(f"{name}_pad1d", X(2, 5), [1, 2])
        yield row(f"{name}_pad2d", X(2, 4, 5), [1, 2, 2, 1])
        yield row(f"{name}_pad3d", X(2, 3, 4, 5), [1, 2, 2, 1, 1, 1])


def _scattered() -> Iterator[Row]:
    yield row("select_scatter", X(3, 4), X(4), 0, 1, dtypes=ALL)
    yield row("slice_scatter", X(5, 3), X(2, 3), 0, 1, 5, 2, dtypes=ALL)


def _made() -> Iterator[Row]:
    for target in (DType.float32, DType.float64, DType.int64, DType.bool, DType.bfloat16, DType.uint8):
        yield row("_to_copy", X(3, 4, low=0, high=4), dtype=target, dtypes=ALL)
    yield row("_to_copy", S(), dtype=DType.float16)
    yield row("full", [2, 3], 2, dtype=T, dtypes=NUMERIC)
    yield row("full", [], 1.5, dtype=T)
    yield row("full_like", X(2, 3), 2, dtype=T, dtypes=NUMERIC)
    yield from rows("zeros ones", [2, 3], dtype=T, dtypes=NUMERIC)
    yield from rows("zeros_like ones_like", X(2, 3), dtype=T, dtypes=NUMERIC)
    yield from rows("new_zeros new_ones", X(2, 3), [4], dtype=T, dtypes=NUMERIC)
    yield row("new_full", X(2, 3), [4], 2, dtype=T, dtypes=NUMERIC)
    yield row("arange", 5, dtype=T, dtypes=NUMERIC)
    yield row("arange.start", 2, 7, dtype=T, dtypes=NUMERIC)
    yield row("scalar_tensor", 2, dtype=T, dtypes=NUMERIC)
    yield row("arange.start_step", 1, 8, 2, dtype=T, dtypes=NUMERIC)
    yield row("arange.start_step", 5, 5, 1, dtype=T, dtypes=NUMERIC, odd=True)
    yield row("linspace", -1.0, 2.0, 7, dtype=T, dtypes=FLOATS[:2])
    yield row("eye", 3, dtype=T, dtypes=NUMERIC)
    yield row("eye.m", 3, 4, dtype=T, dtypes=NUMERIC)
    yield from rows("tril_indices triu_indices", 3, 4, 1, dtypes=(DType.int64,))


SHAPES = [*_geometry(), *_padding(), *_scattered(), *_made()]
