"""Cross entropy with smoothed labels and weights of classes.

torch selects the weights of the targets that count, a number of elements that only the data tell. Masked instead, they
sum to the same, and nothing waits.
"""

from __future__ import annotations

import torch

__all__ = ["cross_entropy_loss"]

aten = torch.ops.aten
_MEAN = 1


def cross_entropy_loss(
    x: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None = None, reduction: int = _MEAN,
    ignore_index: int = -100, label_smoothing: float = 0.0,
) -> torch.Tensor:  # fmt: skip
    """``aten::cross_entropy_loss``: (classes,), (batch, classes, …) and class numbers or probabilities."""
    smoothed = 0 < label_smoothing <= 1 and weight is not None and weight.dim() == 1
    if not smoothed or reduction != _MEAN or x.shape == target.shape or x.dim() - target.dim() != 1:
        whole = aten.cross_entropy_loss.default.decompose
        return whole(x, target, weight, reduction, ignore_index, label_smoothing)  # type: ignore[no-any-return]
    assert weight is not None
    dim = min(x.dim() - 1, 1)
    log = torch.log_softmax(x, dim, x.dtype)
    hard: torch.Tensor = aten.nll_loss_nd.default(log, target, weight, reduction, ignore_index)
    ignored = target == ignore_index
    along = [-1 if i == dim else 1 for i in range(x.dim())]
    smooth = -(log * weight.view(along)).sum(dim).masked_fill(ignored, 0.0).sum()
    counting = weight.gather(0, target.masked_fill(ignored, 0).flatten()).masked_fill(ignored.flatten(), 0.0)
    return (1 - label_smoothing) * hard + smooth / counting.sum() * (label_smoothing / x.shape[dim])
