"""``torch.Generator(device="lazycore")``: a CPU generator, which is what the device's random ops draw from.

A device written in Python cannot supply a generator to C++, so that the constructor would raise.
"""

from __future__ import annotations

from typing import Any

import torch

from lazycore.frontend.storage import NAME

__all__ = ["install"]

_Native = torch._C.Generator


class _Kind(type):
    """Every generator is an instance, whichever name of the class made it."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _Native)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, _Native)


class Generator(metaclass=_Kind):
    """``torch.Generator``, which knows this device besides."""

    def __new__(cls, device: Any = "cpu") -> torch._C.Generator:  # type: ignore[misc]
        where = torch.device(device)
        return _Native("cpu" if where.type == NAME else where)


def install() -> None:
    """Replace the name that programs use; torch's own class stays as it is."""
    Generator.__doc__ = _Native.__doc__
    torch.Generator = Generator  # type: ignore[misc, assignment]
