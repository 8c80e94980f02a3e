"""Connectionist temporal classification: lengths of all kinds, both forms of targets, impossible alignments."""

from __future__ import annotations

import torch

from lowering.case import ACCUMULATED, Case, case
from lowering.samples import floats, ints

_STEPS, _BATCH, _CLASSES = 9, 3, 6


def _both(
    targets: torch.Tensor, inputs: list[int], lengths: list[int], blank: int, zero: bool, dtype: torch.dtype
) -> list[Case]:
    scores = floats(_STEPS, _BATCH, _CLASSES, dtype=dtype, low=-2, high=2).log_softmax(2)
    options = (targets, inputs, lengths)
    loss, alphas = torch.ops.aten._ctc_loss.default(scores, *options, blank, zero)
    grad = floats(_BATCH, dtype=dtype, seed=3)
    return [
        # The states behind a sequence's end are whatever was in memory.
        case("aten._ctc_loss.default", scores, *options, blank, zero, tolerance=ACCUMULATED, shape_only=(1,)),
        case(
            "aten._ctc_loss_backward.default", grad, scores, *options, loss, alphas, blank, zero, tolerance=ACCUMULATED
        ),
    ]  # fmt: skip


_MATRIX = ints(_BATCH, 5, low=1, high=_CLASSES)
_REPEATED = torch.tensor([[2, 2, 3, 3, 2]]).expand(_BATCH, 5).contiguous()
_ROW = ints(9, low=1, high=_CLASSES)
_FIRST = ints(_BATCH, 4, low=0, high=_CLASSES - 1)

CASES = [
    *_both(_MATRIX, [9, 9, 9], [5, 4, 3], 0, False, torch.float32),
    *_both(_MATRIX, [9, 7, 5], [4, 4, 1], 0, False, torch.float64),
    *_both(_REPEATED, [9, 8, 9], [5, 3, 4], 0, False, torch.float32),
    *_both(_ROW, [9, 7, 5], [4, 2, 3], 0, False, torch.float32),
    *_both(_FIRST, [9, 6, 4], [4, 0, 2], _CLASSES - 1, False, torch.float32),
    # Two steps cannot tell four labels.
    *_both(_MATRIX, [9, 2, 9], [4, 4, 0], 0, False, torch.float32),
    *_both(_MATRIX, [9, 2, 9], [4, 4, 0], 0, True, torch.float32),
]
