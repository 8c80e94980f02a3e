"""Order statistics, running extremes, and places in sorted sequences."""

from __future__ import annotations

import torch

from lowering.case import ACCUMULATED, EXACT, case
from lowering.samples import INF, NAN, bools, floats, ints, permutation

_DISTINCT = permutation(24).reshape(4, 6)
_HOLES = torch.tensor([[3.0, NAN, 1.0, 2.0], [4.0, 3.0, 2.0, 1.0], [NAN, NAN, NAN, NAN], [1.0, NAN, NAN, 0.0]])
_LINES = [(_DISTINCT, 0), (_DISTINCT.float(), 1), (_DISTINCT.double(), -1), (floats(), 0)]
_RUNS = torch.tensor([[2, 1, 2, 1, 3], [5, 5, 0, 4, 4], [1, 2, 3, 4, 5]])

CASES = [
    case("aten.kthvalue.default", x, k, dim, keepdim, tolerance=EXACT)
    for x, dim in _LINES
    for k in ((1, 3) if x.dim() else (1,))
    for keepdim in (False, True)
]
CASES += [
    case(f"aten.{name}.dim", x, dim, keepdim, tolerance=EXACT)
    for name in ("median", "nanmedian")
    for x, dim in (*_LINES, (_HOLES[:2], 1))
    for keepdim in (False, True)
]
CASES += [case(f"aten.{name}.dim", _HOLES, 1, tolerance=EXACT, shape_only=(1,)) for name in ("median", "nanmedian")]
CASES += [
    case(f"aten.{name}.default", x, tolerance=EXACT)
    for name in ("median", "nanmedian")
    for x in (_DISTINCT, _HOLES, _HOLES[:2], floats(), floats(0), ints(0))
]
CASES += [case("aten.mode.default", x, dim, tolerance=EXACT) for x, dim in ((_RUNS, 1), (_RUNS, 0), (ints(), 0))]
CASES += [case("aten.mode.default", _RUNS.float(), -1, True, tolerance=EXACT)]

_ZEROS = torch.tensor([-0.0, 0.0, -0.0, 0.0, 0.0, -0.0])
_SERIES = torch.tensor([1.0, 3.0, 3.0, NAN, 2.0, INF, NAN, -INF])
CASES += [
    case(f"aten.{name}.default", x, dim, tolerance=EXACT)
    for name in ("cummax", "cummin")
    for x, dim in ((floats(3, 5), 1), (ints(3, 5), 0), (_SERIES, 0), (floats(), 0), (floats(0, 2), 0), (bools(5), 0))
]
CASES += [case(f"aten.{name}.default", _ZEROS, 0, tolerance=EXACT) for name in ("cummax", "cummin")]
CASES += [
    case("aten.logcumsumexp.default", x, dim, tolerance=ACCUMULATED)
    for x, dim in ((floats(3, 5), 1), (floats(3, 5, low=-80, high=80), 0), (floats(), 0), (floats(0, 2), 0))
]
CASES += [case("aten.logcumsumexp.default", torch.tensor([-INF, -INF, 1.0, INF, 2.0]), 0, tolerance=ACCUMULATED)]

_SORTED = torch.tensor([1.0, 2.0, 2.0, 4.0])
_ROWS = torch.tensor([[1, 3, 5, 7], [2, 2, 2, 9]])
_WANTED = torch.tensor([[0.5, 2.0, 9.0], [4.0, 3.0, NAN]])
CASES += [
    case("aten.searchsorted.Tensor", _SORTED, _WANTED, right=right, out_int32=small)
    for right in (False, True)
    for small in (False, True)
]
CASES += [
    case("aten.searchsorted.Tensor", _ROWS, torch.tensor([[3, 8], [2, 1]]), side="right"),
    case("aten.searchsorted.Tensor", _ROWS.flip(1), torch.tensor([[3], [2]]), sorter=torch.tensor([[3, 2, 1, 0]] * 2)),
    case("aten.searchsorted.Tensor", torch.zeros(0), _WANTED),
    case("aten.searchsorted.Tensor", torch.zeros(2, 0), torch.zeros(2, 3)),
    case("aten.searchsorted.Scalar", _SORTED, 2.0),
    case("aten.bucketize.Tensor", _WANTED, _SORTED, right=True),
    case("aten.bucketize.Tensor", ints(3, 4), _SORTED),
    case("aten.bucketize.Scalar", 2.5, _SORTED),
]
