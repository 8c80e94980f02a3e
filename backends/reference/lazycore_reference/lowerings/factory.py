"""Tensors out of numbers."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001
# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from lazycore_plugin_api import DType, TensorSpec

from lazycore_reference.registry import Array, lowering


@lowering("aten.full.default", raw=True, specs=True)
def full(size: Sequence[int], value: Any, *, dtype: DType | None = None, specs: tuple[TensorSpec, ...]) -> Array:
    """A number everywhere; integers wrap around."""
    return np.broadcast_to(np.asarray(value).astype(specs[0].dtype.numpy), tuple(size))


@lowering("aten.scalar_tensor.default", raw=True, specs=True)
def scalar_tensor(value: Any, *, dtype: DType | None = None, specs: tuple[TensorSpec, ...]) -> Array:
    """A number as a 0-d tensor."""
    return np.asarray(value).astype(specs[0].dtype.numpy)


@lowering("aten.arange.start_step", raw=True, specs=True)
def arange(start: Any, end: Any, step: Any, *, dtype: DType | None = None, specs: tuple[TensorSpec, ...]) -> Array:
    """start + i * step, in int64 or float64 and rounded once; whole results count from whole numbers."""
    steps = np.arange(specs[0].static_shape[0])
    if specs[0].dtype.numpy.kind in "iu":
        start, step = int(start), int(step)
    return np.asarray(start + steps * step)


@lowering("aten.linspace.default", raw=True, specs=True)
def linspace(start: Any, end: Any, steps: int, *, dtype: DType | None = None, specs: tuple[TensorSpec, ...]) -> Array:
    """Evenly spaced numbers, both ends included, reckoned from the nearer end; in the result's dtype, where that is
    inexact, else in float64 between whole ends."""
    target = specs[0].dtype.numpy
    first, last = (np.asarray(number).astype(target) for number in (start, end))
    if steps == 1:
        return first[None]
    wide = np.dtype(np.float64) if target.kind in "iu" else target
    first, last, place = first.astype(wide), last.astype(wide), np.arange(steps)
    width = (last - first) / np.asarray(steps - 1).astype(wide)
    backwards = last - width * (steps - 1 - place).astype(wide)
    return np.where(place < steps // 2, first + width * place.astype(wide), backwards).astype(target)


@lowering("aten.eye.m", raw=True)
def eye(rows: int, columns: int, *, dtype: DType | None = None) -> Array:
    """Ones on the diagonal."""
    return np.eye(rows, columns, dtype=np.int8)
