"""Reductions through indices, in the forms beside ``scatter_reduce``, and other ops that few programs reach."""

from __future__ import annotations

import torch

from lowering.case import ACCUMULATED, case
from lowering.samples import bools, floats, ints

_AT = torch.tensor([1, 0, 1])
_PLACES = torch.tensor([[1, 0, 1], [0, 0, 2]])

CASES = [
    case("aten.index_reduce.default", x, dim, _AT, source, how, include_self=own, tolerance=ACCUMULATED)
    for how in ("prod", "mean", "amax", "amin")
    for own in (True, False)
    for x, dim, source in (
        (floats(3, 4), 0, floats(3, 4, seed=1)),
        (floats(4, 3), -1, floats(4, 3, seed=1)),
        (ints(3, 4), 0, ints(3, 4, seed=1)),
    )
]
CASES += [
    case("aten.scatter.reduce", floats(3, 3), dim, _PLACES, floats(2, 3, seed=1), reduce=how, tolerance=ACCUMULATED)
    for how in ("add", "multiply")
    for dim in (0, 1)
]
CASES += [
    case("aten.scatter.reduce", bools(3, 3), 0, _PLACES, bools(2, 3, seed=1), reduce=how) for how in ("add", "multiply")
]
CASES += [
    case("aten.scatter.value_reduce", floats(3, 3), 0, _PLACES, 2.0, reduce=how, tolerance=ACCUMULATED)
    for how in ("add", "multiply")
]
CASES += [
    case("aten.hardshrink_backward.default", floats(9, seed=1), floats(9), 0.5),
    case("aten.softshrink_backward.default", floats(9, seed=1), floats(9), 0.5),
    case("aten.hardshrink_backward.default", floats(2), torch.tensor([0.5, float("nan")]), 0.5),
    case(
        "aten.rrelu_with_noise_backward.default", floats(9), floats(9, seed=1), floats(9, seed=2), 0.1, 0.3, True, False
    ),
    case("aten.rrelu_with_noise_backward.default", floats(9), floats(9, seed=1), floats(9), 0.1, 0.3, False, False),
    case("aten._trilinear.default", floats(2, 3), floats(4, 3, 5), floats(2, 5), [1, 3], [0], [1, 2], [2, 3], 0),
    case("aten.convolution.default", ints(1, 2, 5), ints(3, 2, 2), ints(3), [1], [1], [1], False, [0], 1),
]
CASES += [
    case(f"aten.{name}.default", rows, columns, offset)
    for name in ("tril_indices", "triu_indices")
    for rows, columns, offset in ((3, 4, 0), (4, 3, -1), (3, 3, 1), (0, 3, 0))
]
