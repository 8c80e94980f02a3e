"""Pooling over volumes, and pooling whose windows adapt or follow samples."""

from __future__ import annotations

from typing import Any

import torch

from lowering.case import ACCUMULATED, EXACT, Case, case
from lowering.samples import NAN, floats, ints

_HOLES = floats(1, 2, 4, 4, 4)
_HOLES[0, 0, 1, 2, 3] = NAN
_MAX: list[tuple[torch.Tensor, tuple[Any, ...]]] = [
    (floats(2, 3, 4, 4, 6), ([2, 2, 2], [])),
    (floats(2, 4, 5, 6), ([2, 3, 2], [2, 1, 2], [1, 1, 1])),
    (floats(1, 2, 5, 5, 5), ([2, 2, 2], [1, 1, 1], [0, 0, 0], [2, 2, 2])),
    (floats(1, 2, 5, 5, 5), ([2], [2], [0], [1], True)),
    (_HOLES, ([2, 2, 2], [2, 2, 2])),
    (floats(0, 2, 4, 4, 4), ([2, 2, 2], [2, 2, 2])),
]
_AVERAGE: list[tuple[torch.Tensor, tuple[Any, ...]]] = [
    (floats(2, 3, 4, 4, 6), ([2, 2, 2], [])),
    (floats(1, 2, 5, 5, 5), ([2, 2, 2], [2, 2, 2], [1, 1, 1], True, False)),
    (floats(2, 4, 5, 6), ([2, 3, 2], [1, 1, 1], [1, 1, 1], False, True, 3)),
]


def _filled(attributes: tuple[Any, ...], defaults: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*attributes, *defaults[len(attributes) :])


def _max(x: torch.Tensor, attributes: tuple[Any, ...]) -> list[Case]:
    y, indices = torch.ops.aten.max_pool3d_with_indices(x, *attributes)
    filled = _filled(attributes, ([], [], [0, 0, 0], [1, 1, 1], False))
    arguments = (floats(*y.shape, seed=4), x, *filled, indices)
    return [
        case("aten.max_pool3d_with_indices.default", x, *attributes),
        case("aten.max_pool3d_with_indices_backward.default", *arguments, tolerance=ACCUMULATED),
    ]


def _average(x: torch.Tensor, attributes: tuple[Any, ...]) -> list[Case]:
    y = torch.ops.aten.avg_pool3d(x, *attributes)
    filled = _filled(attributes, ([], [], [0, 0, 0], False, True, None))
    arguments = (floats(*y.shape, seed=4), x, *filled)
    return [
        case("aten.avg_pool3d.default", x, *attributes, tolerance=ACCUMULATED),
        case("aten.avg_pool3d_backward.default", *arguments, tolerance=ACCUMULATED),
    ]


def _adaptive_max(x: torch.Tensor, size: list[int]) -> list[Case]:
    op = f"adaptive_max_pool{len(size)}d"
    y, indices = getattr(torch.ops.aten, op)(x, size)
    grad = floats(*y.shape, seed=4)
    return [
        case(f"aten.{op}.default", x, size, tolerance=EXACT),
        case(f"aten.{op}_backward.default", grad, x, indices, tolerance=ACCUMULATED),
    ]


def _adaptive_average(x: torch.Tensor, size: list[int]) -> list[Case]:
    grad = floats(*x.shape[:-3], *size, seed=4)
    return [
        case("aten._adaptive_avg_pool3d.default", x, size, tolerance=ACCUMULATED),
        case("aten._adaptive_avg_pool3d_backward.default", grad, x, tolerance=ACCUMULATED),
    ]


def _fractional(x: torch.Tensor, window: list[int], size: list[int]) -> list[Case]:
    op = f"fractional_max_pool{len(size)}d"
    samples = floats(*x.shape[:2], len(size), low=0, high=1, seed=6)
    y, indices = getattr(torch.ops.aten, op)(x, window, size, samples)
    grad = floats(*y.shape, seed=4)
    return [
        case(f"aten.{op}.default", x, window, size, samples, tolerance=EXACT),
        case(f"aten.{op}_backward.default", grad, x, window, size, indices, tolerance=ACCUMULATED),
    ]


CASES = [c for x, attributes in _MAX for c in _max(x, attributes)]
CASES += [c for x, attributes in _AVERAGE for c in _average(x, attributes)]
CASES += [case("aten.avg_pool2d.default", ints(2, 3, 6, 6), [2, 3], [2, 1], [1, 1])]
for _x, _size in ((floats(2, 3, 7, 5), [3, 2]), (floats(3, 4, 4), [6, 5]), (_HOLES[0], [2, 3]), (_HOLES, [3, 2, 2])):
    CASES += _adaptive_max(_x, _size)
for _x, _size in ((floats(2, 3, 7, 5, 4), [3, 2, 4]), (floats(3, 4, 4, 4), [2, 6, 1])):
    CASES += _adaptive_average(_x, _size)
CASES += _fractional(floats(2, 3, 7, 6), [2, 3], [3, 2])
CASES += _fractional(floats(1, 2, 5, 6, 7), [2, 2, 2], [2, 3, 1])
CASES += _fractional(floats(0, 2, 7, 6), [2, 3], [3, 2]) + _fractional(floats(0, 1, 4, 5, 4), [2, 2, 1], [2, 2, 2])
