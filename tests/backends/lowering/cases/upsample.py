"""Two-dimensional upsampling."""

from __future__ import annotations

from typing import Any

from lowering.case import ACCUMULATED, Case, Tolerance, case
from lowering.samples import floats

_GEOMETRIES: list[tuple[list[int], list[int], tuple[float | None, float | None]]] = [
    ([2, 3, 4, 5], [8, 10], (None, None)),
    ([2, 3, 4, 5], [8, 10], (2.0, 2.0)),
    ([1, 2, 4, 5], [7, 3], (None, None)),
    ([1, 2, 3, 3], [5, 7], (1.9, 2.4)),
]


def _both(name: str, extra: tuple[Any, ...]) -> list[Case]:
    rows = []
    for shape, size, scales in _GEOMETRIES:
        grad = floats(*shape[:2], *size, seed=1)
        rows.append(case(f"aten.{name}.default", floats(*shape), size, *extra, *scales, tolerance=ACCUMULATED))
        rows.append(case(f"aten.{name}_backward.default", grad, size, shape, *extra, *scales, tolerance=ACCUMULATED))
    return rows


CASES = [
    *_both("upsample_nearest2d", ()),
    *_both("upsample_bilinear2d", (True,)),
    *_both("upsample_bilinear2d", (False,)),
]
# Places reckoned in single precision would be off by 1e-7 of the size.
_PRECISE = Tolerance(rtol=1e-12, atol=1e-12)
CASES += [
    case("aten.upsample_bilinear2d.default", floats(1, 2, 3, 3).double(), [5, 7], align, *scales, tolerance=_PRECISE)
    for align in (True, False)
    for scales in ((None, None), (1.9, 2.4))
]
