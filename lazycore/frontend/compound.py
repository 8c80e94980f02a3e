"""Ops composed of others, recorded as one entry of the trace whose calls are the parts.

The composition runs where the tree does not know the call, and never again: apart, on stand-ins for the operands, whose
calls are then renumbered into the trace that is open. A hit costs what any other op's does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from lazycore_plugin_api import TensorSpec

from lazycore.frontend.apart import Apart
from lazycore.frontend.assign import clone
from lazycore.frontend.codegen import functional_kernel
from lazycore.frontend.record import bind
from lazycore.frontend.schema import OpInfo, info_of
from lazycore.frontend.source import current_source
from lazycore.frontend.storage import is_ours, layout_for, state_of, whole
from lazycore.frontend.template import Decoder
from lazycore.trace.call import ALIAS, Call, Compound, Operand
from lazycore.trace.layout import Layout, contiguous_stride
from lazycore.trace.node import Node
from lazycore.trace.recorder import Trace

__all__ = ["compound_kernel"]

Composition = Callable[..., Any]


def compound_kernel(op: Any, composition: Composition) -> Callable[..., Any]:
    """The kernel of an overload that computes ``composition`` of its arguments: a function of recorded ops that draws
    no random numbers and writes none of its operands. Where it looks at a value, its parts are recorded one by one."""

    def make(trace: Trace, info: OpInfo, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Callable[[Any], Node]:
        return lambda key: _Maker(trace, key, info, bind(info, args, kwargs)).node(composition)

    return functional_kernel(info_of(op), make, composition)


class _Maker:
    """Makes the node of one call. ``given``: its arguments by name."""

    def __init__(self, trace: Trace, key: Any, info: OpInfo, given: Mapping[str, Any]) -> None:
        self.info = info
        self.given = {a.name: given.get(a.name, a.default) for a in info.args}
        self.new = Node(trace.node, key, (), current_source())
        self.new.names = tuple(self.given)
        tensors = frozenset(i for i, a in enumerate(info.args) if "Tensor" in a.kind)
        self.new.compound = Compound(str(info.op), tensors)
        self.decoder = Decoder(trace.node.ninputs, trace.node.nscalars)
        self.apart = Apart()
        # What each stand-in stands for: a value of the open trace, None for the next of ``reads``, which take a view.
        self.operands: list[int | None] = []
        self.reads: list[tuple[Operand, Layout]] = []
        self.standing: dict[Operand, torch.Tensor] = {}

    def node(self, composition: Composition) -> Node:
        """The node, its results first among its values."""
        positional, named = self.decoder.arguments(self.info.args, self.new.key[1:], self.given)
        places = [a.name for a in self.info.args if not a.keyword]
        args = [self._argument(t, self.given[n]) for n, t in zip(places, positional, strict=True)]
        kwargs = {n: self._argument(t, self.given[n]) for n, t in named.items()}
        with self.apart.recording():
            returned = composition(*args, **kwargs)
            results = list(self._whole(returned if isinstance(returned, (tuple, list)) else (returned,)))
        return self._finish(results)

    def _argument(self, template: Any, value: Any) -> Any:
        if isinstance(template, Operand):
            return self._stand_in(template, value)
        if isinstance(value, (tuple, list)) and isinstance(template, tuple):
            return [self._argument(t, v) for t, v in zip(template, value, strict=True)]
        return value

    def _stand_in(self, operand: Operand, x: torch.Tensor) -> torch.Tensor:
        found = self.standing.get(operand)
        if found is not None:
            return found
        if operand.view is None:
            layout = state_of(x).layout if is_ours(x) else self.decoder.layouts[operand.value]
            self.operands.append(operand.value)
        else:
            layout = layout_for(x.shape, contiguous_stride(tuple(x.shape)), x.dtype)
            self.operands.append(None)
            self.reads.append((operand, layout))
        self.standing[operand] = self.apart.stand_in(layout)
        return self.standing[operand]

    def _whole(self, results: Any) -> Iterator[tuple[Layout, int] | None]:
        """Each result as (layout, value), a value of its own."""
        taken: set[int] = set()
        for tensor in results:
            if tensor is None:
                yield None
                continue
            state = state_of(tensor)
            if state.trace is not self.apart or state.index < 0 or state.index in taken or not whole(tensor, state):
                tensor = clone(tensor)
                state = state_of(tensor)
            taken.add(state.index)
            yield state.layout, state.index

    def _finish(self, results: list[tuple[Layout, int] | None]) -> Node:
        node = self.new
        node.set_outs(tuple(None if r is None else r[0] for r in results), ())
        reads = [self._read(*given) for given in self.reads]
        read = (call.values[0] for call in reads)
        values = {~i: next(read) if v is None else v for i, v in enumerate(self.operands)}
        values |= {r[1]: out[1] for r, out in zip(results, node.outs, strict=True) if r is not None and out is not None}
        for inner in range(self.apart.node.nvalues):
            if inner not in values:
                values[inner] = self._next()
        calls = [replace(call, source=node.source) for call in (*reads, *self.apart.calls(values))]
        if calls:
            calls[0] = replace(calls[0], layouts={**self.decoder.layouts, **calls[0].layouts})
        node.calls = tuple(calls)
        return node

    def _read(self, operand: Operand, layout: Layout) -> Call:
        """The call that reads an operand through its view."""
        value = self._next()
        spec = TensorSpec(layout.size, layout.dtype)
        return Call(ALIAS, (operand,), {}, (spec,), (value,), compute=layout.dtype, layouts={value: layout})

    def _next(self) -> int:
        self.new.nvalues += 1
        return self.new.nvalues - 1
