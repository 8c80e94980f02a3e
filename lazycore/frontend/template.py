"""From a key and the call's arguments to the templates that the compiler reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from lazycore_plugin_api import DType

from lazycore.frontend.dtypes import TO_IR
from lazycore.frontend.schema import DROPPED, ArgInfo
from lazycore.trace.call import Lifted, Number, Operand, Template, View
from lazycore.trace.keys import DYNAMIC, FLOAT, INT, LIFTED_FLOAT, LIFTED_INT, VIEW, WRAPS
from lazycore.trace.layout import Layout

__all__ = ["Decoder"]

_LIFTED = {LIFTED_FLOAT: DType.float64, LIFTED_INT: DType.int64}
_PUSHED = (FLOAT, INT)


class Decoder:
    """Reads the items of one key in order: inputs and scalars are numbered as recording pushed them.

    ``layouts`` collects the layout of every input that first appears here.
    """

    def __init__(self, ninputs: int, nscalars: int) -> None:
        self.inputs = ninputs
        self.scalars = nscalars
        self.layouts: dict[int, Layout] = {}

    def arguments(
        self, args: tuple[ArgInfo, ...], items: tuple[Any, ...], values: Mapping[str, Any]
    ) -> tuple[tuple[Template, ...], dict[str, Template]]:
        """Templates of all recorded arguments, in the schema's order. ``values`` are the arguments given, by name."""
        positional: list[Template] = []
        keyword: dict[str, Template] = {}
        entries = iter(items)
        for arg in args:
            if arg.name in DROPPED or arg.out or arg.kind == "MemoryFormat":
                if arg.kind == "MemoryFormat":
                    next(entries)
                continue
            item = next(entries)
            template = self.template(item, values.get(arg.name, arg.default), "Tensor" in arg.kind)
            if arg.keyword:
                keyword[arg.name] = template
            else:
                positional.append(template)
        return tuple(positional), keyword

    def template(self, item: Any, value: Any, tensor: bool) -> Template:
        """One argument. ``value`` is what was given, for literals; ``tensor``: the schema has a Tensor here."""
        if tensor:
            return self._tensor(item, value)
        if isinstance(value, (list, tuple)):
            if isinstance(item, tuple) and len(item) == len(value) and not _is_literal(item):
                return tuple(self.template(i, v, False) for i, v in zip(item, value, strict=True))
            return tuple(literal(v) for v in value)
        return self._number(item, value)

    def _tensor(self, item: Any, value: Any) -> Template:
        if item is None:
            return None
        if isinstance(value, (list, tuple)):
            return tuple(self._tensor(i, v) for i, v in zip(item, value, strict=True))
        if isinstance(value, torch.Tensor):
            return self.operand(item)
        number = self._number(item, value)
        assert number is None or isinstance(number, (bool, int, float, complex, Lifted))
        return None if number is None else Number(number)

    def _number(self, item: Any, value: Any) -> Template:
        lifted = _LIFTED.get(item) if type(item) is not tuple else None
        if lifted is None and not (type(item) is tuple and item and item[0] in _PUSHED):
            return literal(value)
        position = self.scalars
        self.scalars += 1
        return literal(value) if lifted is None else Lifted(position, lifted)

    def operand(self, item: Any) -> Operand:
        """A tensor operand from its key item."""
        if type(item) is tuple and item[0] is VIEW:
            base = self.operand(item[1])
            return Operand(base.value, self._view(item))
        if isinstance(item, Layout):
            value = ~self.inputs
            self.inputs += 1
            self.layouts[value] = item
            return Operand(value)
        return Operand(item)

    def _view(self, item: Any) -> View:
        _, _, size, stride, offset, mode, extra = item
        if mode is not None:
            position = self.scalars
            self.scalars += 1
            if offset is DYNAMIC or offset is WRAPS:
                offset = Lifted(position, DType.int64)
        dtype, conj, neg = extra or (None, False, False)
        return View(size, stride, offset, mode is WRAPS, None if dtype is None else TO_IR[dtype], conj, neg)


def _is_literal(item: tuple[Any, ...]) -> bool:
    return bool(item) and (item[0] in _PUSHED or isinstance(item[0], type))


def literal(value: Any) -> Any:
    """A literal as the IR spells it."""
    if isinstance(value, torch.dtype):
        return TO_IR[value]
    if isinstance(value, (list, tuple)):
        return tuple(map(literal, value))
    return value
