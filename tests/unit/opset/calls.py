"""Nodes from calls of torch's overloads, and what torch's Meta kernels make of the same calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import torch
from lazycore_plugin_api import DType, Node, TensorSpec, Value

DROPPED = frozenset(("device", "layout", "pin_memory", "generator", "memory_format", "non_blocking"))


def meta(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """An operand without content."""
    return torch.empty(shape, dtype=dtype, device="meta")


def overload(name: str) -> Any:
    """The torch overload of ``aten.add.Tensor``."""
    namespace, base, variant = name.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), base), variant)


def spec_of(tensor: torch.Tensor) -> TensorSpec:
    """Shape and dtype in the IR's terms."""
    return TensorSpec(tuple(tensor.shape), DType(str(tensor.dtype).removeprefix("torch.")))


@dataclass(frozen=True, eq=False)
class CallOf:
    """``op`` with Meta tensors and literals for arguments."""

    op: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def results(self) -> tuple[torch.Tensor | None, ...]:
        """What torch's Meta kernel yields. Raises what it raises."""
        factory = not any(isinstance(a, (torch.Tensor, tuple, list)) and _has_tensor(a) for a in self.args)
        made = overload(self.op)(*self.args, **self.kwargs, **({"device": "meta"} if factory else {}))
        return tuple(made) if isinstance(made, (tuple, list)) else (made,)

    def node(self, results: tuple[torch.Tensor | None, ...] | None = None) -> Node:
        """The call as the IR has it, with such outputs; (0,) stands for one that was not asked for."""
        ids = count()

        def argument(x: Any) -> Any:
            if isinstance(x, torch.Tensor):
                return Value(next(ids), spec_of(x))
            if isinstance(x, torch.dtype):
                return DType(str(x).removeprefix("torch."))
            return tuple(map(argument, x)) if isinstance(x, (tuple, list)) else x

        positional, keywords = [], {}
        for i, parameter in enumerate(overload(self.op)._schema.arguments):
            if parameter.name in DROPPED:
                continue
            given = self.args[i] if i < len(self.args) else self.kwargs.get(parameter.name, parameter.default_value)
            if "ScalarType" in str(parameter.real_type) and given == 4:
                given = torch.int64  # the number that stands in schemas for it
            if parameter.kwarg_only:
                keywords[parameter.name] = argument(given)
            else:
                positional.append(argument(given))
        absent = TensorSpec((0,), DType.float32)
        specs = [absent if r is None else spec_of(r) for r in (self.results() if results is None else results)]
        return Node(self.op, tuple(positional), keywords, tuple(Value(next(ids), s) for s in specs))


def _has_tensor(argument: Any) -> bool:
    if isinstance(argument, (tuple, list)):
        return any(map(_has_tensor, argument))
    return isinstance(argument, torch.Tensor)
