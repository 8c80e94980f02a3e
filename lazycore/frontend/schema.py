"""An operator's schema, read once: argument kinds, what it mutates, its functional twin."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from lazycore_plugin_api.opset import OpRow, row_of

__all__ = ["ArgInfo", "OpInfo", "info_of", "overload"]

_FACTORY = frozenset(("dtype", "layout", "device", "pin_memory"))
# The number that stands in schemas for the only dtype that is a default anywhere, of indices of triangles for example.
_DEFAULT_DTYPES = {4: torch.int64}
# Never part of a recorded call: they say where and how the result is stored, which the device decides.
DROPPED = frozenset(("layout", "device", "pin_memory", "generator", "non_blocking"))


@dataclass(frozen=True)
class ArgInfo:
    """One schema argument. ``kind`` is the schema's type without Optional[…], e.g. ``Tensor``, ``List[int]``,
    ``number``, ``ScalarType``; ``optional`` tells whether None is allowed."""

    name: str
    kind: str
    optional: bool
    keyword: bool
    required: bool
    default: Any
    written: bool
    out: bool


@dataclass(frozen=True, eq=False)
class OpInfo:
    """An overload: ``name`` as torch prints it, ``row`` what the opset adds, ``number`` its place in keys."""

    op: Any
    name: str
    base: str
    args: tuple[ArgInfo, ...]
    returns: tuple[str, ...]
    written: tuple[int, ...]
    number: int
    tags: frozenset[Any] = field(default_factory=frozenset)

    @property
    def row(self) -> OpRow:
        """The opset's row of the functional op that is recorded."""
        return row_of(self.name)

    @property
    def is_out(self) -> bool:
        """Whether it is an ``out=`` overload."""
        return any(a.out for a in self.args)

    @property
    def dynamic(self) -> bool:
        """Whether its output's shape or value depends on data, so that it can only run on values."""
        return torch.Tag.dynamic_output_shape in self.tags or torch.Tag.data_dependent_output in self.tags

    def functional(self) -> OpInfo | None:
        """The overload that computes the same without writing, found by schema; None where there is none."""
        return _functional(self.op)


_numbers: dict[Any, int] = {}


def overload(name: str) -> Any:
    """The OpOverload of a dispatcher name such as ``aten::add.Tensor``."""
    namespace, _, rest = name.partition("::")
    base, _, variant = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), base), variant or "default")


@cache
def info_of(op: Any) -> OpInfo:
    """The OpInfo of an OpOverload."""
    schema = op._schema
    args = tuple(_arg(a) for a in schema.arguments)
    return OpInfo(
        op=op,
        name=str(op),
        base=schema.name.partition("::")[2],
        args=args,
        returns=tuple(str(r.type) for r in schema.returns),
        written=tuple(i for i, a in enumerate(args) if a.written),
        number=_numbers.setdefault(op, len(_numbers)),
        tags=frozenset(op.tags),
    )


def _arg(argument: Any) -> ArgInfo:
    kind = str(argument.real_type)
    optional = kind.startswith("Optional[")
    kind = kind[len("Optional[") : -1] if optional else kind
    default = argument.default_value if argument.has_default_value() else None
    if kind == "ScalarType" and default is not None:
        default = _DEFAULT_DTYPES[default]
    return ArgInfo(
        name=argument.name,
        kind=kind,
        optional=optional,
        keyword=argument.kwarg_only,
        required=not argument.has_default_value(),
        default=tuple(default) if isinstance(default, list) else default,
        written=argument.alias_info is not None and argument.alias_info.is_write,
        out=argument.is_out,
    )


def _signature(args: tuple[ArgInfo, ...], names: bool) -> list[Any]:
    kept = [a for a in args if not a.out and a.name not in _FACTORY]
    return [(a.name, a.kind) if names else a.kind for a in kept]


@cache
def _functional(op: Any) -> OpInfo | None:
    info = info_of(op)
    candidates = [c for base in _bases(info) for c in _overloads(base) if not c.written]
    for names in (True, False):
        wanted = _signature(info.args, names)
        for candidate in candidates:
            if _signature(candidate.args, names) == wanted:
                return candidate
    return None


def _bases(info: OpInfo) -> list[str]:
    base = info.base
    if info.is_out:
        return [base, base.removesuffix("_out")]
    if base.startswith("__i"):
        return ["__" + base[3:]]
    return [base.removesuffix("_")]


def _overloads(base: str) -> list[OpInfo]:
    packet = getattr(torch.ops.aten, base, None)
    return [] if packet is None else [info_of(getattr(packet, name)) for name in packet.overloads()]
