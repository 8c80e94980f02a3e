"""Reading through indices."""

from __future__ import annotations

import torch

from lowering.case import EXACT, each
from lowering.samples import floats, ints

_T = torch.tensor

CASES = [
    *each(
        "aten.embedding.default",
        (floats(5, 3), _T([0, 4, 2, 2])),
        (floats(5, 3), _T([[1, 0], [3, 4]])),
        (floats(5, 3), _T(2)),
        (floats(5, 3), _T([], dtype=torch.int64)),
        (floats(5, 3), _T([1, 2], dtype=torch.int32)),
        (floats(5, 3), _T([1, 2]), 1),
        (floats(5, 3, dtype=torch.bfloat16), _T([1, 2])),
        tolerance=EXACT,
    ),
    *each(
        "aten.gather.default",
        (floats(3, 4), 1, _T([[0, 3], [1, 1]])),
        (floats(3, 4), -2, _T([[2, 0, 1, 0]])),
        (ints(3, 4), 0, _T([[2, 0], [1, 1]])),
        (floats(), 0, _T(0)),
        (floats(3, 4), 1, torch.zeros(3, 0, dtype=torch.int64)),
        (floats(2, 3, 4), 2, ints(2, 3, 6, low=0, high=4)),
        tolerance=EXACT,
    ),
    *each(
        "aten.index_select.default",
        (floats(3, 4), 0, _T([2, 0, 0])),
        (floats(3, 4), -1, _T([3, 1])),
        (floats(3, 4), 1, _T([], dtype=torch.int64)),
        (floats(3, 4), 1, _T(2)),
        (ints(3, 4), 0, _T([1], dtype=torch.int32)),
        (floats(), 0, _T([0])),
        tolerance=EXACT,
    ),
    *each(
        "aten.index.Tensor",
        (floats(3, 4), [_T([2, 0, -1])]),
        (floats(3, 4), [None, _T([2, 0, -1])]),
        (floats(3, 4), [_T([2, 0]), _T([1, -4])]),
        (floats(3, 4), [_T([[2], [0]]), _T([1, 3, 2])]),
        (floats(2, 3, 4), [_T([1, 0]), None, _T([1, 3])]),
        (floats(2, 3, 4), [None, _T([1, 0]), _T([1, 3])]),
        (floats(2, 3, 4, 5), [None, _T([1, 0]), None, _T([[1], [3]])]),
        (floats(3, 4), [_T([], dtype=torch.int64)]),
        (floats(3, 4), [_T(1)]),
        (ints(3, 4), [_T([1, 2], dtype=torch.int32)]),
        tolerance=EXACT,
    ),
    *each(
        "aten.take.default",
        (floats(3, 4), _T([[0, 11], [5, -1]])),
        (floats(3, 4), _T(7)),
        (floats(3, 4), _T([], dtype=torch.int64)),
        (ints(3, 4), _T([3, 3])),
        tolerance=EXACT,
    ),
]
