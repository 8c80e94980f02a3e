"""Resizing in every form, reading at fractional places, padding by what is there."""

from __future__ import annotations

from typing import Any

import torch

from lowering.case import ACCUMULATED, EXACT, Case, Tolerance, case
from lowering.samples import floats

_GRID = Tolerance(rtol=1e-5, atol=5e-5)
"""The grid's gradient adds up to 64 terms of size 10 and more that cancel: CPU's own float32 is as far from exact."""

_SHAPES: dict[int, list[tuple[list[int], list[int], list[float | None]]]] = {
    1: [([2, 3, 5], [8], [None]), ([1, 2, 5], [3], [0.7]), ([1, 2, 3], [6], [2.1])],
    2: [([2, 2, 4, 5], [7, 3], [None, None]), ([1, 2, 3, 3], [5, 7], [1.9, 2.4])],
    3: [([1, 2, 3, 4, 2], [5, 3, 4], [None, None, None]), ([1, 1, 2, 3, 2], [3, 5, 4], [1.9, 1.9, 2.1])],
}


def _resized(name: str, rank: int, *extra: Any) -> list[Case]:
    cases = []
    for shape, size, scales in _SHAPES[rank]:
        grad = floats(*shape[:2], *size, seed=1)
        rest = (*extra, *scales)
        cases.append(case(f"aten.{name}.default", floats(*shape), size, *rest, tolerance=ACCUMULATED))
        cases.append(case(f"aten.{name}_backward.default", grad, size, shape, *rest, tolerance=ACCUMULATED))
    return cases


CASES = [
    *_resized("upsample_nearest1d", 1),
    *_resized("upsample_nearest3d", 3),
    *(c for rank in (1, 2, 3) for c in _resized(f"_upsample_nearest_exact{rank}d", rank)),
    *(c for corners in (False, True) for c in _resized("upsample_linear1d", 1, corners)),
    *(c for corners in (False, True) for c in _resized("upsample_trilinear3d", 3, corners)),
    *(c for corners in (False, True) for c in _resized("upsample_bicubic2d", 2, corners)),
    *(c for corners in (False, True) for c in _resized("_upsample_bilinear2d_aa", 2, corners)),
    *(c for corners in (False, True) for c in _resized("_upsample_bicubic2d_aa", 2, corners)),
]


def _padded(name: str, x: torch.Tensor, padding: list[int]) -> list[Case]:
    op = f"{name}_pad{len(padding) // 2}d"
    y = getattr(torch.ops.aten, op)(x, padding)
    grad = floats(*y.shape, seed=1)
    return [
        case(f"aten.{op}.default", x, padding, tolerance=EXACT),
        case(f"aten.{op}_backward.default", grad, x, padding, tolerance=ACCUMULATED),
    ]


for _name in ("reflection", "replication"):
    CASES += _padded(_name, floats(2, 3, 5), [2, 1])
    CASES += _padded(_name, floats(3, 4, 5), [1, 2, 3, 0])
    CASES += _padded(_name, floats(1, 2, 3, 3, 4), [1, 1, 2, 0, 1, 2])
CASES += _padded("replication", floats(2, 5), [-1, 3])


def _sampled(x: torch.Tensor, grid: torch.Tensor, form: int, padding: int, corners: bool) -> list[Case]:
    op = f"grid_sampler_{x.dim() - 2}d"
    grad = floats(*x.shape[:2], *grid.shape[1:-1], seed=2)
    attributes = (form, padding, corners)
    return [
        case(f"aten.{op}.default", x, grid, *attributes, tolerance=ACCUMULATED),
        case(f"aten.{op}_backward.default", grad, x, grid, *attributes, [True, True], tolerance=_GRID),
    ]


for _padding in (0, 1, 2):
    for _corners in (False, True):
        _grid = floats(2, 3, 4, 2, low=-1.6, high=1.6)
        for _form in (0, 1, 2):
            CASES += _sampled(floats(2, 2, 4, 5), _grid, _form, _padding, _corners)
        for _form in (0, 1):
            _grid = floats(1, 2, 3, 2, 3, low=-1.6, high=1.6)
            CASES += _sampled(floats(1, 2, 3, 4, 3), _grid, _form, _padding, _corners)
CASES += _sampled(floats(0, 2, 4, 5), floats(0, 3, 4, 2), 0, 0, False)
