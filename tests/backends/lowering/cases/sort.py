"""Sorting and selection. NaN is the largest number."""

from __future__ import annotations

import torch

from lowering.case import EXACT, case
from lowering.samples import bools, floats, ints, special

_TIES = torch.tensor([[3.0, 1.0, 3.0, 1.0], [float("nan"), 0.0, float("nan"), -0.0]])
_SAMPLES = [
    (floats(3, 5), -1),
    (floats(3, 5), 0),
    (_TIES, 1),
    (ints(12), 0),
    (special(), 0),
    (floats(), 0),
    (floats(0, 3), 1),
    (bools(6), 0),
]
_SAMPLES += [(floats(2, 5, dtype=torch.bfloat16), 1), (ints(3, 6, dtype=torch.int8), 1)]

CASES = [
    case("aten.sort.stable", x, stable=True, dim=dim, descending=descending, tolerance=EXACT)
    for x, dim in _SAMPLES
    for descending in (False, True)
]
CASES += [
    case("aten.topk.default", x, k, dim, largest, True, tolerance=EXACT)
    for x, k, dim in (
        (floats(3, 7), 3, -1),
        (floats(3, 7), 2, 0),
        (floats(3, 7), 7, 1),
        (floats(3, 7), 0, 1),
        (floats(), 1, 0),
    )
    for largest in (True, False)
]
CASES += [case("aten.topk.default", torch.tensor([4, 9, -2, 7]), 2, 0, True, True)]
CASES += [case("aten.topk.default", torch.tensor([1.0, float("nan"), 3.0]), 2, -1, True, True)]
