"""Distances between rows, and the gradients of margin losses."""

from __future__ import annotations

import torch

from lowering.case import ACCUMULATED, case
from lowering.samples import INF, floats

_NORMS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, INF)
_X, _Y = floats(2, 4, 3), floats(2, 5, 3, seed=1)
_Y[0, 0] = _X[0, 0]
_ROWS = floats(4, 3)
_ROWS[2] = _ROWS[0]
_SCORES = floats(3, 4)
_CLASSES = torch.tensor([1, 0, 3])
_LABELS = torch.tensor([[1, 2, -1, 0], [0, -1, 3, -1], [-1, 1, 2, 3]])

CASES = []
for _p in _NORMS:
    _far = torch.ops.aten._cdist_forward(_X, _Y, _p, 2)
    _pairs = torch.ops.aten._pdist_forward(_ROWS, _p)
    CASES += [
        case("aten._cdist_forward.default", _X, _Y, _p, 2, tolerance=ACCUMULATED),
        case("aten._cdist_backward.default", floats(2, 4, 5, seed=2), _X, _Y, _p, _far, tolerance=ACCUMULATED),
        case("aten._cdist_backward.default", floats(0, 4, 5), _X[0], _Y[:0], _p, floats(0, 4, 5)),
        case("aten._pdist_forward.default", _ROWS, _p, tolerance=ACCUMULATED),
        case("aten._pdist_backward.default", floats(6, seed=2), _ROWS, _p, _pairs, tolerance=ACCUMULATED),
        case("aten.dist.default", floats(3, 4), floats(4, seed=1), _p, tolerance=ACCUMULATED),
    ]
for _reduction in (0, 1, 2):
    _grad = floats(3, seed=3) if _reduction == 0 else floats(seed=3)
    for _power in (1, 2):
        _arguments = (_grad, _SCORES, _CLASSES, _power, 0.7, floats(4, low=0.5, seed=5), _reduction)
        CASES.append(case("aten.multi_margin_loss_backward.default", *_arguments, tolerance=ACCUMULATED))
    _, _marked = torch.ops.aten.multilabel_margin_loss_forward(_SCORES, _LABELS, _reduction)
    _arguments = (_grad, _SCORES, _LABELS, _reduction, _marked)
    CASES.append(case("aten.multilabel_margin_loss_backward.default", *_arguments, tolerance=ACCUMULATED))

_ONE, _FIRST, _NONE = torch.tensor(0.5), torch.tensor(0), torch.tensor(-1)
CASES += [
    case("aten.multi_margin_loss_backward.default", _ONE, floats(), _FIRST, 1, 1.0, None, 1, tolerance=ACCUMULATED),
    case("aten.multilabel_margin_loss_backward.default", _ONE, floats(), _FIRST, 1, _ONE * 0, tolerance=ACCUMULATED),
    case("aten.multilabel_margin_loss_backward.default", _ONE, floats(), _NONE, 1, _ONE * 0, tolerance=ACCUMULATED),
]
