"""Indices in range, as PyTorch checks them: those of the program's inputs before it runs, computed ones after."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from lazycore_plugin_api import HostArray, LazycoreError

from lazycore_loader.manifest import FlagCheck, InputCheck, Range
from lazycore_loader.values import Value

__all__ = ["check_flags", "check_inputs"]


def check_inputs(checks: Sequence[InputCheck], slots: Sequence[Value | None]) -> None:
    """Raise the check's error for the first input that has an index out of range."""
    for check in checks:
        value = slots[check.slot]
        assert value is not None
        array = value.host()
        if check.ignore is not None:
            array = array[array != check.ignore]
        if array.size:
            _check(check.range, int(array.min()), int(array.max()))


def check_flags(checks: Sequence[FlagCheck], results: Sequence[HostArray]) -> None:
    """Raise the check's error for the first computed index that was out of range."""
    for check in checks:
        _check(check.range, int(results[check.output]), int(results[check.output + 1]))


def _check(allowed: Range, low: int, high: int) -> None:
    if low < allowed.low or high >= allowed.high:
        index = low if low < allowed.low else high
        raise _class(allowed.error)(allowed.message.replace("{index}", str(index)))


def _class(name: str) -> type[Exception]:
    found = getattr(builtins, name, None)
    return found if isinstance(found, type) and issubclass(found, Exception) else LazycoreError
