"""Operands of graph cases as data: what to draw, and the drawing, reproducible on every machine."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from lazycore_plugin_api import DType, HostArray

__all__ = ["B", "G", "I", "Draw", "P", "R", "S", "SPD", "T", "X", "draw"]

_SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -0.5, -2.5, 7.25, -7.75)


class _CaseDtype:
    """Stands for the dtype of the case where an op takes one."""


T = _CaseDtype()


@dataclass(frozen=True)
class Draw:
    """An operand. ``dtype`` None is the case's; ``kind``: ``uniform`` in [low, high), ``special`` (NaN, infinities,
    zeros, halves), ``definite`` (symmetric, positive definite), ``given``."""

    shape: tuple[int, ...]
    kind: str = "uniform"
    dtype: DType | None = None
    low: float = -3.0
    high: float = 3.0
    content: tuple[Any, ...] = ()
    real: bool = False


def X(*shape: int, low: float = -3.0, high: float = 3.0) -> Draw:
    """Of the case's dtype, within [low, high)."""
    return Draw(shape, low=low, high=high)


def P(*shape: int, low: float = 0.3, high: float = 3.0) -> Draw:
    """Positive, of the case's dtype; integers are at least 1."""
    return Draw(shape, low=low, high=high)


def R(*shape: int, low: float = 0.3, high: float = 3.0) -> Draw:
    """Positive, of the dtype that statistics have: float32 for 16-bit floats."""
    return Draw(shape, low=low, high=high, real=True)


def I(*shape: int, below: int, dtype: DType = DType.int64) -> Draw:  # noqa: E743 - a table's column, as short as possible
    """Indices in [0, below)."""
    return Draw(shape, dtype=dtype, low=0, high=below)


def B(*shape: int) -> Draw:
    """Bools."""
    return Draw(shape, dtype=DType.bool, low=0, high=2)


def S(shape: tuple[int, ...] = (14,)) -> Draw:
    """The special values, of the case's dtype."""
    return Draw(shape, "special")


def SPD(n: int, *batch: int) -> Draw:
    """Symmetric positive definite matrices."""
    return Draw((*batch, n, n), "definite")


def G(*content: Any, shape: tuple[int, ...] | None = None, dtype: DType | None = None) -> Draw:
    """Given values."""
    return Draw((len(content),) if shape is None else shape, "given", dtype, content=content)


def draw(what: Draw, dtype: DType, seed: str) -> HostArray:
    """The array, row-major. ``seed``: any text; the same text gives the same array."""
    kind = what.dtype or dtype
    if what.real and kind in (DType.float16, DType.bfloat16):
        kind = DType.float32
    generator = np.random.default_rng(zlib.crc32(seed.encode()))
    if what.kind == "given":
        array = np.asarray(what.content)
    elif what.kind == "special":
        array = np.resize(np.asarray(_SPECIAL), what.shape)
        array = array if kind.is_floating or kind.is_complex else np.nan_to_num(array, posinf=7, neginf=-7)
    elif what.kind == "definite":
        array = _definite(generator, what.shape)
    else:
        array = _uniform(generator, what, kind)
    with np.errstate(all="ignore"):
        return np.array(array.reshape(what.shape).astype(kind.numpy), order="C")


def _uniform(generator: np.random.Generator, what: Draw, kind: DType) -> HostArray:
    if kind is DType.bool:
        return generator.integers(0, 2, what.shape)
    if kind.is_complex:
        parts = generator.uniform(what.low, what.high, (2, *what.shape))
        return np.asarray(parts[0] + 1j * parts[1])
    if kind.is_integral:
        low = 1 if 0 < what.low < 1 else int(np.ceil(what.low))
        low = max(low, 0) if kind.value.startswith("uint") else low
        return generator.integers(low, max(int(np.ceil(what.high)), low + 1), what.shape)
    return generator.uniform(what.low, what.high, what.shape)


def _definite(generator: np.random.Generator, shape: tuple[int, ...]) -> HostArray:
    factor = generator.uniform(-1, 1, shape)
    return np.asarray(factor @ np.swapaxes(factor, -1, -2) + shape[-1] * np.eye(shape[-1]))
