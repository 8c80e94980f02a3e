"""Rows of the case tables: an op, its arguments, the dtypes to try."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lazycore_plugin_api import DType
from lazycore_plugin_api.opset import OPSET

__all__ = ["ALL", "FLOATS", "FULL", "INTEGERS", "NUMERIC", "WITH_COMPLEX", "Row", "row", "rows"]

FULL = (DType.float32, DType.float64)
FLOATS = (*FULL, DType.float16, DType.bfloat16)
INTEGERS = (DType.int64, DType.int32, DType.int16, DType.int8, DType.uint8)
NUMERIC = (*FLOATS, *INTEGERS)
ALL = (*NUMERIC, DType.bool)
WITH_COMPLEX = (*FULL, DType.complex64, DType.complex128)


@dataclass(frozen=True, eq=False)
class Row:
    """A call. ``args`` and ``kwargs`` hold literals, ``Draw``s, or ``T``, and lists of these; what is left out has the
    schema's default. ``odd``: an input that ordinary programs do not have. ``vague``: outputs whose content is open."""

    op: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    dtypes: tuple[DType, ...] = FLOATS
    odd: bool = False
    vague: tuple[int, ...] = ()


def row(
    op: str,
    *args: Any,
    dtypes: Iterable[DType] = FLOATS,
    odd: bool = False,
    vague: tuple[int, ...] = (),
    **kwargs: Any,
) -> Row:
    """A row; ``op`` without a namespace is ``aten``'s, without an overload ``default``."""
    return Row(full_name(op), args, kwargs, tuple(dtypes), odd, vague)


def rows(ops: str, *args: Any, **options: Any) -> list[Row]:
    """The same row for several ops, whose names are separated by blanks."""
    return [row(op, *args, **options) for op in ops.split()]


def full_name(op: str) -> str:
    """``add.Tensor`` -> ``aten.add.Tensor``. Raises KeyError for an op that the opset lacks."""
    name = op if op.startswith(("aten.", "lazycore.")) else f"aten.{op}" if "." in op else f"aten.{op}.default"
    _ = OPSET[name]
    return name
