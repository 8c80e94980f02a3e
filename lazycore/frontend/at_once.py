"""Running ops in PyTorch on the CPU at once, where an op's result or its shape depends on data."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from lazycore.frontend.copies import fresh_from_host, read_back, to_cpu
from lazycore.frontend.observer import count_fallback
from lazycore.frontend.randomness.generator import GENERATOR, uses_device_stream
from lazycore.frontend.schema import OpInfo
from lazycore.frontend.storage import is_ours

__all__ = ["eager_kernel"]


def eager_kernel(info: OpInfo) -> Any:
    """A kernel that runs the op at once on the CPU: the device's values in, new device tensors out; what the op mutates
    is written back. For ops whose shapes or results depend on data, and those torch has no shape function for.
    Random ones draw from a CPU generator that the device's stream seeds."""
    seeded = next((i for i, a in enumerate(info.args) if a.name == "generator"), 0)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        count_fallback(info.name)
        given: list[tuple[torch.Tensor, torch.Tensor]] = []

        def move(x: Any) -> Any:
            if is_ours(x):
                copy = to_cpu(x)
                given.append((x, copy))
                return copy
            return torch.device("cpu") if isinstance(x, torch.device) else x

        args = tuple(_mapped(move, x) for x in args)
        kwargs = {name: _mapped(move, x) for name, x in kwargs.items()}
        if seeded and len(args) <= seeded and uses_device_stream(kwargs.get("generator")):
            kwargs["generator"] = GENERATOR.take_generator()
        with _disable_current_modes(), torch.no_grad():
            result = info.op(*args, **kwargs)
        back = {id(copy): original for original, copy in given}
        if info.written:
            read_back(info, args, kwargs, back)

        def wrap(x: Any) -> Any:
            if not isinstance(x, torch.Tensor):
                return x
            return back[id(x)] if id(x) in back and info.written else fresh_from_host(x)

        return _mapped(wrap, result)

    return kernel


def _mapped(function: Any, x: Any) -> Any:
    """``function`` of x, or of the items of a list or tuple (torch's named result tuples become plain ones)."""
    if isinstance(x, (list, tuple)):
        items = [_mapped(function, item) for item in x]
        return items if isinstance(x, list) else tuple(items)
    return function(x)
