"""``module.to(device)`` keeps parameters what they are.

Between the CPU and this device torch makes new Parameter objects, one per mention: tied weights come apart, and an
optimizer made before holds the old ones. Nothing warns; the model merely trains differently. Swapping each parameter's
content in place, which torch offers as a future default, keeps identity, so it is switched on for such conversions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.modules.module import Module
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy

from lazycore.frontend.storage import NAME

__all__ = ["install"]

Convert = Callable[[torch.Tensor], torch.Tensor]


def install() -> None:
    """Wrap ``Module._apply``, which ``to``, ``cpu``, ``cuda`` and ``to_empty`` end in."""
    original = Module._apply
    converting = False

    def _apply(self: Module, fn: Convert, recurse: bool = True) -> Module:
        nonlocal converting
        if converting or not _crosses(self, fn):
            return original(self, fn, recurse)
        converting = True
        try:
            with _swapping(), _without_uninitialized(self, fn):
                return original(self, fn, recurse)
        finally:
            converting = False

    Module._apply = _apply  # type: ignore[method-assign]


def _crosses(module: Module, fn: Convert) -> bool:
    """Whether the conversion moves any tensor onto this device or off it."""
    tensors = [*module.parameters(), *module.buffers()]
    here = {t.device.type == NAME for t in tensors}
    if not here or (here == {False} and not _lands_here(fn)):
        return False
    return here == {True, False} or _lands_here(fn) != here.pop()


def _lands_here(fn: Convert) -> bool:
    # An empty probe: conversions are functions of one tensor, and only the result's device tells where they lead.
    with torch.no_grad():
        return fn(torch.empty(0, device="cpu")).device.type == NAME


@contextmanager
def _swapping() -> Iterator[None]:
    before = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        yield
    finally:
        torch.__future__.set_swap_module_params_on_conversion(before)


@contextmanager
def _without_uninitialized(module: Module, fn: Convert) -> Iterator[None]:
    """Lazy modules' parameters have no content to swap: they are made anew on the target and hidden meanwhile."""
    hidden: list[tuple[dict[str, Any], str, Any]] = []
    device = fn(torch.empty(0, device="cpu")).device
    for part in module.modules():
        for table in (part._parameters, part._buffers):
            for name, tensor in list(table.items()):
                if tensor is not None and is_lazy(tensor):
                    kind = UninitializedParameter if table is part._parameters else UninitializedBuffer
                    hidden.append((table, name, kind(tensor.requires_grad, device=device, dtype=tensor.dtype)))
                    table[name] = None
    try:
        yield
    finally:
        for table, name, tensor in hidden:
            table[name] = tensor
