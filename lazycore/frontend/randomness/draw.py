"""Recording a draw: into a tensor, or as new ones. What comes out is said by ``lazycore.compiler.build.random``."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from lazycore_plugin_api import TensorSpec

from lazycore.frontend.definition import define, finish_node, new_node, record
from lazycore.frontend.dtypes import TO_IR
from lazycore.frontend.operands import tensor_key
from lazycore.frontend.overlap import refuse_internal
from lazycore.frontend.randomness.stream import Place, decode_place
from lazycore.frontend.record import results
from lazycore.frontend.storage import state_of, whole
from lazycore.frontend.template import Decoder
from lazycore.trace.call import Call, Template
from lazycore.trace.keys import FLOAT, INT, Mark
from lazycore.trace.layout import Layout
from lazycore.trace.node import Node
from lazycore.trace.recorder import Trace

__all__ = ["Parameter", "draw_into", "draw_new"]

Parameter: TypeAlias = float | int | torch.Tensor
"""A number, exact in the trace until it is seen to vary, or a tensor on the device that broadcasts to the result."""

_DRAW = Mark("draw")


def draw_into(x: torch.Tensor, name: str, parameters: Sequence[Parameter], literals: tuple[int, ...] = ()) -> Any:
    """Fill ``x`` with a draw of distribution ``name``; ``literals`` are further arguments that are never lifted."""
    place, state = Place(), state_of(x)
    target = whole(x, state)

    def key(trace: Trace) -> Any:
        where = state.layout if target else tensor_key(trace, x)
        return (_DRAW, name, where, place.key(trace), _keys(trace, parameters), literals, x.dtype)

    def make(trace: Trace, item: Any) -> Node:
        refuse_internal(x)
        node, decoder = new_node(trace, item), Decoder(trace.node.ninputs, trace.node.nscalars)
        where = None if target else decoder.operand(item[2])
        spec = TensorSpec(tuple(x.shape), TO_IR[x.dtype])
        call = Call(f"lazycore.{name}.default", _arguments(decoder, item, parameters, literals), {}, (spec,))
        return finish_node(node, decoder, state.layout, where, call)

    def commit(trace: Trace, node: Node) -> None:
        place.commit(trace)
        define(trace, node, state, target)

    record(key, make, commit)
    return x


def draw_new(
    name: str,
    parameters: Sequence[Parameter],
    layouts: Callable[[], tuple[Layout, ...]],
    kind: Any,
) -> tuple[torch.Tensor, ...]:
    """The results of a draw as new tensors; ``layouts`` is called when it is recorded first. ``kind`` is what those
    depend on besides the parameters' geometry."""
    place = Place()

    def key(trace: Trace) -> Any:
        return (_DRAW, name, kind, place.key(trace), _keys(trace, parameters))

    def make(trace: Trace, item: Any) -> Node:
        node, decoder = new_node(trace, item), Decoder(trace.node.ninputs, trace.node.nscalars)
        arguments = _arguments(decoder, item, parameters, ())
        node.set_outs(layouts(), ())
        outs = [out for out in node.outs if out is not None]
        node.calls = (
            Call(
                f"lazycore.{name}.default", arguments, {}, tuple(layout.spec for layout, _ in outs),
                tuple(index for _, index in outs), source=node.source,
                layouts=decoder.layouts | {index: layout for layout, index in outs},
            ),
        )  # fmt: skip
        return node

    def commit(trace: Trace, node: Node) -> tuple[torch.Tensor, ...]:
        place.commit(trace)
        tensors: tuple[torch.Tensor, ...] = results(trace, node, "tuple")
        trace.node = node
        return tensors

    return record(key, make, commit)


def _keys(trace: Trace, parameters: Sequence[Parameter]) -> tuple[Any, ...]:
    return tuple([tensor_key(trace, p) if isinstance(p, torch.Tensor) else _number_key(trace, p) for p in parameters])


def _number_key(trace: Trace, number: float | int) -> Any:
    """Unlike other numbers even floats are exact at first: a rate or a spread is hardly ever varied, and each lifted
    number costs every launch a little."""
    trace.scalars.append(number)
    if type(number) is int:
        return (INT, number)
    return (FLOAT, number) if number and number == number else (FLOAT, struct.pack("d", number))


def _arguments(
    decoder: Decoder, key: Any, parameters: Sequence[Parameter], literals: tuple[int, ...]
) -> tuple[Template, ...]:
    place = decode_place(decoder, key[3])
    own = tuple(decoder.template(i, p, isinstance(p, torch.Tensor)) for i, p in zip(key[4], parameters, strict=True))
    return (*place, *own, *literals)
