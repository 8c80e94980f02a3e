"""``module.to(device)`` keeps parameters what they are.

Between the CPU and this device torch makes new Parameter objects, one per mention: tied weights come apart, and an
optimizer made before holds the old ones. Nothing warns; the model merely trains differently. So each parameter that a
conversion moves takes its new content in place, after which torch finds nothing left to replace.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn.modules.module import Module

from lazycore.frontend.patches.identity import crosses, take_content

__all__ = ["install"]


class _InPlace:
    """A conversion as ``Module._apply`` calls it: of parameters, then their gradients, and of buffers."""

    def __init__(self, convert: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self.convert = convert

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        converted = self.convert(tensor)
        if not isinstance(tensor, torch.nn.Parameter) or not crosses(tensor, converted):
            return converted
        grad = tensor.grad
        tensor.grad = None
        moved = None if grad is None else self.convert(grad)
        take_content(tensor, converted)
        if grad is not None and moved is not None:
            take_content(grad, moved)
            tensor.grad = grad
        return tensor


def install() -> None:
    """Wrap ``Module._apply``, which ``to``, ``cpu``, ``cuda`` and ``to_empty`` end in."""
    original = Module._apply

    def _apply(self: Module, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> Module:
        if isinstance(fn, _InPlace) or isinstance(self, torch.jit.ScriptModule):
            # A scripted module's parameters live in C++, which would not learn of their new content.
            return original(self, fn, recurse)
        return original(self, _InPlace(fn), recurse)

    Module._apply = _apply  # type: ignore[method-assign]
