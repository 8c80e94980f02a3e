"""Casting operands, and the casts of weights that are kept while autocast is on.

A weight that several ops read is cast once: so its gradient too is summed in the lower precision and cast once, as on
torch's own devices. The kept casts go with the outermost autocast context.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any
from weakref import ReferenceType, ref

import torch

from lazycore.frontend.storage import NAME

__all__ = ["cast", "eligible", "install", "tensors_in", "widest"]


class _Kept(threading.local):
    # id of a weight -> itself, what its cast depends on, the cast. How deep contexts are nested is the thread's own.
    def __init__(self) -> None:
        self.casts: dict[int, tuple[ReferenceType[torch.Tensor], tuple[Any, ...], torch.Tensor]] = {}


_kept = _Kept()


def eligible(x: Any) -> bool:
    """Whether autocast may change the dtype: of floating tensors on the device, float64 being meant as it is."""
    return (
        isinstance(x, torch.Tensor) and x.device.type == NAME and x.is_floating_point() and x.dtype is not torch.float64
    )


def cast(x: Any, dtype: torch.dtype) -> Any:
    """An argument, items of lists included, with its eligible tensors in ``dtype``."""
    if isinstance(x, torch.Tensor):
        return _cast_tensor(x, dtype) if eligible(x) and x.dtype is not dtype else x
    if isinstance(x, (list, tuple)):
        return type(x)([cast(item, dtype) for item in x])
    return x


def _cast_tensor(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    if not _is_weight(x) or dtype is torch.float32 or not torch.is_autocast_cache_enabled():
        return x.to(dtype)
    basis = (dtype, x._version, torch.is_grad_enabled(), torch.is_inference_mode_enabled())
    found = _kept.casts.get(id(x))
    if found is not None and found[0]() is x and found[1] == basis:
        return found[2]
    made = x.to(dtype)
    _kept.casts[id(x)] = (ref(x), basis, made)
    return made


def _is_weight(x: torch.Tensor) -> bool:
    return x.requires_grad and x.is_leaf and x.dtype is torch.float32 and not x._is_view()


def tensors_in(arguments: Any) -> Iterator[torch.Tensor]:
    """The tensors among arguments, those in lists included."""
    for x in arguments:
        if isinstance(x, torch.Tensor):
            yield x
        elif isinstance(x, (list, tuple)):
            yield from tensors_in(x)


def widest(arguments: Any, lower: torch.dtype) -> torch.dtype:
    """float32 if an eligible tensor has it, else ``lower``. Raises RuntimeError for a third dtype."""
    dtypes = {x.dtype for x in tensors_in(arguments) if eligible(x)}
    if torch.float32 in dtypes:
        return torch.float32
    if dtypes - {lower}:
        raise RuntimeError(f"autocast to {lower} was given operands of {', '.join(sorted(map(str, dtypes - {lower})))}")
    return lower


def install() -> None:
    """Let go of kept casts where torch lets go of its own: as the outermost context of a thread ends."""
    clear = torch.clear_autocast_cache

    def clear_autocast_cache() -> None:
        _kept.casts.clear()
        clear()

    clear_autocast_cache.__doc__ = clear.__doc__
    torch.clear_autocast_cache = clear_autocast_cache
