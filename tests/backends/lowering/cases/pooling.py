"""Two-dimensional pooling and its gradients."""

from __future__ import annotations

from typing import Any

import torch

from lowering.case import ACCUMULATED, Case, case
from lowering.samples import NAN, floats, ints

_HOLES = floats(1, 2, 6, 6)
_HOLES[0, 0, 2, 3] = NAN
_MAX: list[tuple[torch.Tensor, tuple[Any, ...]]] = [
    (floats(2, 3, 8, 6), ([2, 2], [2, 2])),
    (floats(2, 3, 8, 6), ([2, 2], [])),
    (floats(2, 3, 8, 7), ([3, 2], [2, 1], [1, 1])),
    (floats(2, 3, 9, 9), ([3, 3], [1, 1], [1, 1], [2, 2])),
    (floats(2, 3, 7, 7), ([2, 2], [2, 2], [0, 0], [1, 1], True)),
    (floats(3, 8, 6), ([2, 2], [2, 2])),
    (torch.ones(1, 1, 4, 4), ([2, 2], [2, 2])),
    (_HOLES, ([2, 2], [2, 2])),
    (floats(2, 3, 8, 6, dtype=torch.bfloat16), ([2, 2], [2, 2])),
    (floats(2, 3, 1, 9), ([1, 3], [1, 3], [0, 1])),
    (floats(0, 3, 8, 6), ([2, 2], [2, 2])),
]
_AVERAGE: list[tuple[torch.Tensor, tuple[Any, ...]]] = [
    (floats(0, 3, 8, 6), ([2, 2], [2, 2])),
    (floats(2, 3, 8, 6), ([2, 2], [2, 2])),
    (floats(2, 3, 8, 6), ([3, 2], [], [1, 1])),
    (floats(2, 3, 8, 7), ([3, 3], [2, 2], [1, 1], False, False)),
    (floats(2, 3, 7, 7), ([2, 2], [2, 2], [1, 1], True, True)),
    (floats(2, 3, 7, 7), ([2, 2], [2, 2], [1, 1], True, False)),
    (floats(2, 3, 8, 8), ([2, 2], [2, 2], [0, 0], False, True, 3)),
    (floats(3, 8, 6), ([2, 2], [2, 2])),
    (floats(2, 3, 8, 6, dtype=torch.bfloat16), ([2, 2], [2, 2])),
]
_ADAPTIVE = [
    (floats(2, 3, 7, 5), [1, 1]),
    (floats(2, 3, 7, 5), [3, 2]),
    (floats(3, 8, 6), [4, 3]),
    (floats(2, 3, 4, 4), [6, 5]),
]


def _filled(attributes: tuple[Any, ...], defaults: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*attributes, *defaults[len(attributes) :])


def max_backward(x: torch.Tensor, attributes: tuple[Any, ...]) -> Case:
    """The gradient of max pooling, from the indices of the forward."""
    y, indices = torch.ops.aten.max_pool2d_with_indices(x, *attributes)
    grad = floats(*y.shape, dtype=x.dtype, seed=4)
    filled = _filled(attributes, ([], [], [0, 0], [1, 1], False))
    return case("aten.max_pool2d_with_indices_backward.default", grad, x, *filled, indices, tolerance=ACCUMULATED)


def average_backward(x: torch.Tensor, attributes: tuple[Any, ...]) -> Case:
    """The gradient of average pooling."""
    y = torch.ops.aten.avg_pool2d(x, *attributes)
    filled = _filled(attributes, ([], [], [0, 0], False, True, None))
    return case(
        "aten.avg_pool2d_backward.default", floats(*y.shape, dtype=x.dtype, seed=4), x, *filled, tolerance=ACCUMULATED
    )


def adaptive_backward(x: torch.Tensor, size: list[int]) -> Case:
    """The gradient of adaptive average pooling."""
    grad = floats(*x.shape[:-2], *size, seed=4)
    return case("aten._adaptive_avg_pool2d_backward.default", grad, x, tolerance=ACCUMULATED)


CASES = [case("aten.max_pool2d_with_indices.default", x, *attributes) for x, attributes in _MAX]
CASES += [case("aten.max_pool2d_with_indices.default", ints(2, 5, 6), [3, 2], [2, 1], [1, 1])]
CASES += [max_backward(x, attributes) for x, attributes in _MAX]
CASES += [case("aten.avg_pool2d.default", x, *attributes, tolerance=ACCUMULATED) for x, attributes in _AVERAGE]
CASES += [
    case("aten.avg_pool2d.default", ints(1, 2, 5, 6), [2, 3], [2, 1], [1, 1], False, counted, divisor)
    for counted, divisor in ((True, None), (False, None), (True, -4))
]
CASES += [average_backward(x, attributes) for x, attributes in _AVERAGE]
CASES += [case("aten._adaptive_avg_pool2d.default", x, size, tolerance=ACCUMULATED) for x, size in _ADAPTIVE]
CASES += [adaptive_backward(x, size) for x, size in _ADAPTIVE]
