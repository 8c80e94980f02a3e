"""Overloads that do what others do, in other words: with a default, with a tensor for a number, under another name."""

from __future__ import annotations

import torch

from lowering.case import ACCUMULATED, EXACT, Case, case, each
from lowering.samples import bools, floats, ints, permutation, special

_INDEX = torch.tensor([3, 0])
_FACTOR = floats(3, 3, dtype=torch.float64, low=0.5)


def _moved() -> list[Case]:
    return [
        *each("aten.reshape.default", (floats(3, 4), [2, -1]), (floats(), [1]), (ints(0, 3), [0]), tolerance=EXACT),
        *each("aten._unsafe_view.default", (floats(3, 4), [2, 6]), (floats(1), []), tolerance=EXACT),
        *each("aten.detach.default", (special(),), (bools(2, 3),), tolerance=EXACT),
        *each("aten.sort.default", (permutation(7),), (floats(3, 5), 0, True), (special()[1:4],), tolerance=EXACT),
    ]


def _filled() -> list[Case]:
    two = torch.tensor(2.5)
    return [
        *each("aten.fill.Scalar", (floats(2, 3), float("nan")), (ints(3), 7), (floats(0), 1.0), tolerance=EXACT),
        *each("aten.fill.Tensor", (floats(2, 3), two), (bools(3), torch.tensor(True)), tolerance=EXACT),
        *each("aten.index_fill.int_Tensor", (floats(4, 3), 0, _INDEX, two), (floats(2, 4), -1, _INDEX, two)),
        case("aten.eye.default", 3, dtype=torch.float32, tolerance=EXACT),
        case("aten.eye.default", 0, dtype=torch.int64, tolerance=EXACT),
    ]


def _computed() -> list[Case]:
    z, w = (torch.complex(floats(4, seed=s), floats(4, seed=s + 1)) for s in (0, 2))
    mean, var = floats(3, seed=2), floats(3, low=0.5, seed=3)
    return [
        *each("aten.copysign.Scalar", (special(), -2.0), (special(), 0.0), (floats(3), -0.0), tolerance=EXACT),
        *each("aten.count_nonzero.default", (special(),), (ints(3, 4),), (bools(),), (floats(0, 2),), tolerance=EXACT),
        *each("aten.native_dropout_backward.default", (floats(3, 4), bools(3, 4), 2.0)),
        *each(
            "aten.vdot.default", (floats(9), floats(9, seed=1)), (z, w), (floats(0), floats(0)), tolerance=ACCUMULATED
        ),
        case("aten.linalg_eigvals.default", torch.diag(torch.tensor([1.0, 2.0, 4.0])), tolerance=ACCUMULATED),
        case(
            "aten._cholesky_solve_helper.default", floats(3, 2).double(), _FACTOR.tril(), False, tolerance=ACCUMULATED
        ),
        case("aten._cholesky_solve_helper.default", floats(3, 2).double(), _FACTOR.triu(), True, tolerance=ACCUMULATED),
        *each(
            "aten._native_batch_norm_legit_no_training.default",
            (floats(4, 3), floats(3), floats(3, seed=1), mean, var, 0.1, 1e-5),
            (floats(2, 3, 4, 5), None, None, mean, var, 0.1, 1e-5),
            tolerance=ACCUMULATED,
        ),
    ]


CASES = [*_moved(), *_filled(), *_computed()]
