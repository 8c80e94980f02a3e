"""How a backend's result is held against the right one: per dtype, NaN equal to NaN and to nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lazycore_plugin_api.backend import HostArray
from lazycore_plugin_api.dtypes import DType

__all__ = ["Difference", "Tolerance", "compare", "tolerance_of"]


@dataclass(frozen=True)
class Tolerance:
    """An element may be off by ``atol + rtol * |expected|``, and ``excused`` elements by anything: those that rounding
    alone may flip."""

    rtol: float = 0.0
    atol: float = 0.0
    excused: int = 0


_EXACT = Tolerance()
_BY_DTYPE = {
    DType.float64: Tolerance(1e-7, 1e-8),
    DType.complex128: Tolerance(1e-7, 1e-8),
    DType.float32: Tolerance(1e-5, 1e-6),
    DType.complex64: Tolerance(1e-5, 1e-6),
    DType.float16: Tolerance(2e-3, 1e-5),
    DType.complex32: Tolerance(2e-3, 1e-5),
    DType.bfloat16: Tolerance(1.6e-2, 1e-5),
    DType.float8_e4m3fn: Tolerance(0.125, 2.0**-9),
    DType.float8_e5m2: Tolerance(0.25, 2.0**-16),
}


def tolerance_of(dtype: DType) -> Tolerance:
    """What one op may be off by in a dtype; integers and bools by nothing."""
    return _BY_DTYPE.get(dtype, _EXACT)


@dataclass(frozen=True)
class Difference:
    """A result that is wrong: how many of its elements, and the one that is off most."""

    output: int
    wrong: int
    size: int
    greatest: float
    place: tuple[int, ...]
    got: str
    expected: str

    def __str__(self) -> str:
        place = f" at {list(self.place)}" if self.place else ""
        count = f"{self.wrong} of {self.size} element{'s' if self.size != 1 else ''} differ{'s' * (self.size == 1)}"
        return f"{count}, most{place}: {self.got} where {self.expected} is right (off by {self.greatest:.6g})"


def compare(output: int, got: HostArray, expected: HostArray, tolerance: Tolerance) -> Difference | None:
    """What is wrong with a result of the right shape and dtype; None where nothing is. NaN must stand where the
    expected result has NaN, and nowhere else; infinities must be the same ones."""
    off = _distances(got, expected)
    wide = np.abs(_wide(expected))
    with np.errstate(all="ignore"):
        allowed = tolerance.atol + tolerance.rtol * np.where(np.isfinite(wide), wide, 0.0)
    wrong = off > allowed
    count = int(wrong.sum())
    if count <= tolerance.excused:
        return None
    place = np.unravel_index(int(np.argmax(np.where(wrong, off, -1.0))), off.shape) if off.ndim else ()
    position = tuple(int(i) for i in place)
    texts = (str(got[position]), str(expected[position]))
    return Difference(output, count, int(off.size), float(off[position]), position, *texts)


def _distances(got: HostArray, expected: HostArray) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Element by element: 0 where both are the same (NaN and infinities included), infinity where only one of them is
    a finite number, else how far they lie apart."""
    same = got == expected
    a, b = _wide(got), _wide(expected)
    with np.errstate(all="ignore"):
        off = np.abs(a - b)
    off = np.where(np.isfinite(a) & np.isfinite(b), off, np.inf)
    # Distances of 64-bit integers may vanish in float64; what is not the same is at least one apart.
    off = np.where(off == 0, 1.0, off) if got.dtype.kind in "iub" else off
    return np.asarray(np.where(same | (np.isnan(a) & np.isnan(b)), 0.0, off))


def _wide(array: HostArray) -> HostArray:
    return array.astype(np.complex128 if DType.of(array.dtype).is_complex else np.float64)
