"""Losses and their gradients. Reduction is ATen's code: 0 none, 1 mean, 2 sum."""

from __future__ import annotations

import torch

from lowering.case import ACCUMULATED, Case, case
from lowering.samples import floats, ints

_REDUCTIONS = (0, 1, 2)


def _case(op: str, *args: object) -> Case:
    return case(f"aten.{op}.default", *args, tolerance=ACCUMULATED)


def nll(suffix: str, shape: tuple[int, ...], reduction: int, ignored: int, weighted: bool) -> list[Case]:
    """Forward and backward of negative log likelihood over class dimension 1 (or 0 of one sample)."""
    scores = floats(*shape).log_softmax(1 if len(shape) > 1 else 0)
    classes = shape[1] if len(shape) > 1 else shape[0]
    target = ints(*(shape[:1] + shape[2:] if len(shape) > 1 else ()), low=0, high=classes)
    weight = floats(classes, low=0.5, high=2.0) if weighted else None
    arguments = (scores, target, weight, reduction, ignored)
    loss, total = getattr(torch.ops.aten, f"nll_loss{suffix}_forward")(*arguments)
    grad = floats(*loss.shape, seed=8)
    return [
        _case(f"nll_loss{suffix}_forward", *arguments),
        _case(f"nll_loss{suffix}_backward", grad, *arguments, total),
    ]


NLL = [
    c
    for suffix, shape in (("", (6, 4)), ("2d", (3, 4, 2, 5)))
    for reduction in _REDUCTIONS
    for ignored, weighted in ((-100, False), (1, False), (-100, True), (1, True))
    for c in nll(suffix, shape, reduction, ignored, weighted)
]
NLL += [c for reduction in _REDUCTIONS for c in nll("", (4,), reduction, -100, False)]

_X, _Y = floats(3, 4), floats(3, 4, seed=1)
_P, _T = floats(3, 4, low=0.01, high=0.99), floats(3, 4, low=0, high=1, seed=1)
_EDGE = (torch.tensor([0.0, 1.0, 0.0, 1.0]), torch.tensor([0.0, 1.0, 1.0, 0.0]))
_WEIGHT = floats(4, low=0.5, high=2.0)


def _grad(reduction: int) -> torch.Tensor:
    return floats(3, 4, seed=8) if reduction == 0 else floats(seed=8)


ERRORS = [
    c
    for r in _REDUCTIONS
    for c in (
        _case("mse_loss", _X, _Y, r),
        _case("mse_loss_backward", _grad(r), _X, _Y, r),
        _case("smooth_l1_loss", _X, _Y, r, 0.8),
        _case("smooth_l1_loss_backward", _grad(r), _X, _Y, r, 0.8),
        _case("smooth_l1_loss", _X, _Y, r, 1.0),
        _case("huber_loss", _X, _Y, r, 0.8),
        _case("huber_loss_backward", _grad(r), _X, _Y, r, 0.8),
    )
]
ERRORS += [_case("mse_loss", floats(0), floats(0), r) for r in _REDUCTIONS]
ERRORS += [
    _case("mse_loss", floats(9, dtype=torch.bfloat16), floats(9, dtype=torch.bfloat16, seed=1), r) for r in _REDUCTIONS
]

CROSS = [
    c
    for r in _REDUCTIONS
    for w in (None, _WEIGHT)
    for c in (
        _case("binary_cross_entropy", _P, _T, w, r),
        _case("binary_cross_entropy_backward", _grad(r), _P, _T, w, r),
        _case("binary_cross_entropy_with_logits", _X, _T, w, None, r),
        _case("binary_cross_entropy_with_logits", _X, _T, w, _WEIGHT, r),
    )
]
CROSS += [
    _case("binary_cross_entropy", *_EDGE, None, 0),
    _case("binary_cross_entropy_backward", floats(4), *_EDGE, None, 0),
]

CASES = [*NLL, *ERRORS, *CROSS]
