"""Global switches that a compiled trace depends on end the trace when they change."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from lazycore.frontend.local import leave_root, local, tree
from lazycore.frontend.sync import barrier
from lazycore.plugins.selection import on_change

__all__ = ["install"]

_SETTERS = ("set_default_dtype", "use_deterministic_algorithms", "set_float32_matmul_precision")


def _ending_the_trace(setter: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(setter)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        _end(setter.__name__)
        return setter(*args, **kwargs)

    return wrapper


def _end(cause: str) -> None:
    # A trace without ops ends too: its root was chosen under the old setting. Traces of other threads end in their own
    # time, under the settings that they began with.
    if local.trace.node is not tree.unopened:
        barrier(cause)
        leave_root()


def install() -> None:
    """Wrap the setters, and follow changes of the backend selection."""
    for name in _SETTERS:
        setattr(torch, name, _ending_the_trace(getattr(torch, name)))
    on_change(lambda: _end("a change of backend"))
