"""Results whose shape or dtype torch's Meta kernels give as other devices' kernels do, and the CPU's does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

__all__ = ["corrected"]

Outputs = tuple[torch.Tensor | None, ...]
_NARROW = (torch.float16, torch.bfloat16)


def corrected(base: str, args: Sequence[Any], outputs: Outputs) -> Outputs:
    """The results of the op ``base`` as the CPU has them; all tensors are on Meta."""
    correct = _CORRECTIONS.get(base)
    return outputs if correct is None else correct(args, outputs)


def _statistics(parameters: slice) -> Callable[[Sequence[Any], Outputs], Outputs]:
    """Means and inverse deviations (the second and third result) of 16-bit inputs: in the dtype of the parameters, in
    the input's own where there are none."""

    def correct(args: Sequence[Any], outputs: Outputs) -> Outputs:
        x = args[0]
        if x.dtype not in _NARROW:
            return outputs
        given = [p for p in args[parameters] if isinstance(p, torch.Tensor)]
        dtype = torch.float32 if any(p.dtype is torch.float32 for p in given) else x.dtype
        saved = (o if o is None else o.to(dtype) for o in outputs[1:3])
        return (outputs[0], *saved, *outputs[3:])

    return correct


def _group_norm_backward(args: Sequence[Any], outputs: Outputs) -> Outputs:
    """The gradients' dtypes are those of what they belong to: the input, and the parameters where there are any."""
    x, weight = args[1], args[4]
    dtypes = (x.dtype, *[(x if weight is None else weight).dtype] * 2)
    return tuple(o if o is None else o.to(dtype) for o, dtype in zip(outputs, dtypes, strict=True))


def _batch_norm(args: Sequence[Any], outputs: Outputs) -> Outputs:
    """The new running statistics, where they are results, have the dtype of the old."""
    outputs = _statistics(slice(1, 5))(args, outputs)
    running = (o if o is None else o.to(p.dtype) for o, p in zip(outputs[3:], args[3:5], strict=False))
    return (*outputs[:3], *running)


def _multilabel_margin_loss(args: Sequence[Any], outputs: Outputs) -> Outputs:
    """One row has one loss, of no dimension."""
    loss, targets = outputs
    assert loss is not None
    return (loss if args[0].dim() > 1 else loss.reshape(()), targets)


def _pow(args: Sequence[Any], outputs: Outputs) -> Outputs:
    """Truth values to the power of one stay truth values."""
    base, exponent = args[:2]
    kinds = [x.dtype if isinstance(x, torch.Tensor) else type(x) for x in (base, exponent)]
    if outputs[0] is None or any(kind not in (torch.bool, bool) for kind in kinds):
        return outputs
    return (outputs[0].to(torch.bool),)


_CORRECTIONS: dict[str, Callable[[Sequence[Any], Outputs], Outputs]] = {
    "native_layer_norm": _statistics(slice(2, 4)),
    "native_group_norm": _statistics(slice(1, 3)),
    "native_group_norm_backward": _group_norm_backward,
    "native_batch_norm": _statistics(slice(1, 5)),
    "_native_batch_norm_legit": _statistics(slice(1, 5)),
    "_native_batch_norm_legit_no_training": _statistics(slice(1, 5)),
    "_native_batch_norm_legit_functional": _batch_norm,
    "pow": _pow,
    "multilabel_margin_loss_forward": _multilabel_margin_loss,
}
