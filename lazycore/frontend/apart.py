"""A trace of its own for a function of recorded ops, on stand-ins for operands of the trace that is open."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from lazycore.frontend.infer import NoInference
from lazycore.frontend.local import local
from lazycore.frontend.storage import adopt
from lazycore.trace.call import Call, Lifted, Number, Operand, Template, View, Write
from lazycore.trace.layout import Layout
from lazycore.trace.node import Node
from lazycore.trace.recorder import Recorder, Trace
from lazycore.trace.tree import Limits, Tree

__all__ = ["Apart"]

_ENDLESS = Limits(soft_ops=1 << 60, hard_ops=1 << 60, nbytes=1 << 60, copy_ops=1 << 60)


class Apart(Trace):
    """A trace that is never run: what looks at one of its values raises NoInference, the recorder's word for an op that
    must be computed at once. Running a trace begins with a look at ``ran``."""

    def __init__(self) -> None:
        self._ran = False
        super().__init__(Tree(_ENDLESS), Node(None, None, (), None), Recorder())
        self._standing: list[torch.Tensor] = []

    @property
    def ran(self) -> bool:  # type: ignore[override]
        if self.closed:
            raise NoInference("it looks at a value")
        return self._ran

    @ran.setter
    def ran(self, value: bool) -> None:
        self._ran = value

    def stand_in(self, layout: Layout) -> torch.Tensor:
        """A tensor for the next operand."""
        tensor = adopt(layout, self)
        self.admit(tensor.untyped_storage().state)
        self._standing.append(tensor)
        return tensor

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record here what this thread calls, undisturbed by what watches the program's calls. Finalizers wait, as
        they could use the device."""
        outer, collects = local.trace, gc.isenabled()
        gc.disable()
        local.trace = self
        try:
            with _disable_current_modes(), torch._C.DisableTorchFunction(), torch.no_grad():
                yield
            if self.closed or len(self.inputs) != len(self._standing):
                raise NoInference("it reads what is not its operand")
        finally:
            local.trace = outer
            if collects:
                gc.enable()

    def calls(self, values: Mapping[int, int]) -> list[Call]:
        """What was recorded, in terms of another trace: ``values`` are its values, by this trace's. The numbers that
        this trace would lift follow from shapes and literals: they are literals of the call that was composed."""
        return [self._moved(call, values) for node in self.node.path() for call in node.calls]

    def _moved(self, call: Call, values: Mapping[int, int]) -> Call:
        return replace(
            call,
            args=tuple(self._template(a, values) for a in call.args),
            kwargs={name: self._template(a, values) for name, a in call.kwargs.items()},
            values=tuple(None if v is None else values[v] for v in call.values),
            writes=tuple(Write(w.result, self._operand(w.target, values), values[w.value]) for w in call.writes),
            layouts={values[v]: layout for v, layout in call.layouts.items()},
        )

    def _template(self, template: Template, values: Mapping[int, int]) -> Template:
        if isinstance(template, Operand):
            return self._operand(template, values)
        if isinstance(template, Number):
            return Number(self._number(template.number))
        if isinstance(template, tuple):
            return tuple(self._template(t, values) for t in template)
        return self._number(template)

    def _operand(self, operand: Operand, values: Mapping[int, int]) -> Operand:
        view = operand.view
        if isinstance(view, View):
            view = replace(view, offset=self._number(view.offset))
        return Operand(values[operand.value], view)

    def _number(self, number: Any) -> Any:
        return self.scalars[number.position] if isinstance(number, Lifted) else number
