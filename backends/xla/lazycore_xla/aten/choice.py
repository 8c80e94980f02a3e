"""Whose convolutions a program gets: the option ``convolutions`` of the backend."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from lazycore_plugin_api import BackendError, CompileContext, Option, Segment, Target

from lazycore_xla.aten.calls import CALLS
from lazycore_xla.aten.library import why_not
from lazycore_xla.devices import platform_of

__all__ = ["CONVOLUTIONS", "OPTION", "calls_for", "check"]

CONVOLUTIONS = "convolutions"
OPTION = Option(
    "auto", "on a CPU: xla (its own), aten (PyTorch's, which needs a C compiler), auto (aten where it can be had)"
)
_CHOICES = ("auto", "aten", "xla")
_NONE: Mapping[str, Callable[..., Any]] = MappingProxyType({})


def check(target: Target) -> None:
    """Raises BackendError for a value that the option does not have."""
    if target.options[CONVOLUTIONS] not in _CHOICES:
        given = target.options[CONVOLUTIONS]
        raise BackendError(f"xla: {CONVOLUTIONS}={given} is none of {', '.join(_CHOICES)}")


def calls_for(segment: Segment, ctx: CompileContext) -> Mapping[str, Callable[..., Any]]:
    """The ops of this segment that ATen may compute. Raises BackendError where it must and cannot."""
    choice = ctx.target.options[CONVOLUTIONS]
    if choice == "xla" or ctx.portable or platform_of(ctx.target.device) != "cpu":
        return _NONE
    if not any(node.op in CALLS for node in segment.nodes):
        return _NONE
    reason = why_not()
    if reason and choice == "aten":
        raise BackendError(f"xla: {CONVOLUTIONS}=aten cannot be had: {reason}")
    return _NONE if reason else CALLS
