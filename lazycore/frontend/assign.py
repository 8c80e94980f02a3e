"""Recorded ops that give a storage new content without computing: copies between device tensors, fills, clones.

A write to a whole storage does not read what was there, so it *defines* the storage's next value: nothing old becomes
an input of the trace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

import torch
from lazycore_plugin_api import TensorSpec

from lazycore.frontend.dtypes import TO_IR
from lazycore.frontend.local import local
from lazycore.frontend.operands import scalar, tensor_key
from lazycore.frontend.overlap import refuse_internal, refuse_shared
from lazycore.frontend.source import current_source
from lazycore.frontend.storage import layout_for, pending, state_of, whole
from lazycore.frontend.sync import barrier
from lazycore.frontend.template import Decoder
from lazycore.trace.call import ALIAS, Call, Operand, Write
from lazycore.trace.keys import Mark
from lazycore.trace.layout import Layout
from lazycore.trace.node import Node
from lazycore.trace.recorder import FULL, Trace
from lazycore.trace.state import StorageState

__all__ = ["clone", "convert", "copy_between", "fill", "full"]

_COPY, _CONVERT, _FILL, _FULL = Mark("copy_"), Mark("_to_copy"), Mark("fill_"), Mark("full")


def _recorded(key: Callable[[Trace], Any], make: Callable[[Trace, Any], Node]) -> tuple[Trace, Node]:
    """The node of a key, after a barrier where the trace is full."""
    while True:
        trace = local.trace
        try:
            item = key(trace)
            node = trace.node.children.get(item)
            if node is None:
                node = trace.grow(item, lambda k, t=trace: make(t, k))
        except BaseException:
            trace.rollback()
            raise
        if node is not FULL:
            return trace, node
        barrier("a full trace")


def copy_between(dst: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    """``dst.copy_(src)`` on the device: broadcast, cast, stored through dst's view."""
    state = state_of(dst)
    if dst.shape != src.shape:
        torch.empty(dst.shape, device="meta").copy_(torch.empty(src.shape, device="meta"))
    if dst is src or (state is state_of(src) and dst.is_set_to(src)):
        return dst
    target = whole(dst, state)

    def key(trace: Trace) -> Any:
        where = state.layout if target else tensor_key(trace, dst)
        return (_COPY, where, tensor_key(trace, src), dst.dtype)

    def make(trace: Trace, item: Any) -> Node:
        refuse_internal(dst)
        refuse_shared(dst, src)
        return _store_node(trace, item, state.layout, target, dst, src)

    trace, node = _recorded(key, make)
    _store(trace, node, state, target)
    return dst


def _store_node(trace: Trace, key: Any, layout: Layout, target: bool, dst: torch.Tensor, src: torch.Tensor) -> Node:
    node, decoder = _node(trace, key), Decoder(trace.node.ninputs, trace.node.nscalars)
    where = None if target else decoder.operand(key[1])
    operand = decoder.operand(key[2])
    dtype = TO_IR[dst.dtype]
    same = dst.shape == src.shape
    args = (operand,) if same else (operand, tuple(dst.shape))
    spec = TensorSpec(tuple(dst.shape), dtype)
    op, kwargs = (ALIAS, {}) if same else ("aten.expand.default", {"implicit": False})
    call = Call(op, args, kwargs, (spec,), compute=dtype, promoted=frozenset((0,)))
    return _finish(node, decoder, layout, where, call)


def fill(dst: torch.Tensor, number: bool | int | float | complex) -> torch.Tensor:
    """``dst.fill_(number)``; ``zero_`` is ``fill_(0)``."""
    state = state_of(dst)
    target = whole(dst, state)

    def key(trace: Trace) -> Any:
        where = state.layout if target else tensor_key(trace, dst)
        return (_FILL, where, scalar(trace, number), dst.dtype)

    def make(trace: Trace, item: Any) -> Node:
        return _fill_node(trace, item, state.layout, target, dst, number)

    trace, node = _recorded(key, make)
    _store(trace, node, state, target)
    return dst


def _fill_node(trace: Trace, key: Any, layout: Layout, target: bool, dst: torch.Tensor, number: Any) -> Node:
    node, decoder = _node(trace, key), Decoder(trace.node.ninputs, trace.node.nscalars)
    where = None if target else decoder.operand(key[1])
    return _finish(node, decoder, layout, where, _full_call(decoder, tuple(dst.shape), key[2], number, dst.dtype))


def full(size: Any, number: Any, dtype: torch.dtype, stride: Any) -> torch.Tensor:
    """A new tensor of one number, e.g. ``zeros`` and ``full_like``."""
    layout = layout_for(size, stride, dtype)

    def key(trace: Trace) -> Any:
        return (_FULL, layout, scalar(trace, number))

    def make(trace: Trace, item: Any) -> Node:
        node, decoder = _node(trace, item), Decoder(trace.node.ninputs, trace.node.nscalars)
        return _finish(node, decoder, layout, None, _full_call(decoder, layout.size, item[2], number, dtype))

    trace, node = _recorded(key, make)
    return _result(trace, node)


def _full_call(decoder: Decoder, size: tuple[int, ...], item: Any, number: Any, dtype: torch.dtype) -> Call:
    ir = TO_IR[dtype]
    value = decoder.template(item, number, False)
    return Call("aten.full.default", (size, value), {"dtype": ir}, (TensorSpec(size, ir),), compute=ir)


def clone(x: torch.Tensor, memory_format: torch.memory_format | None = None) -> torch.Tensor:
    """``x.clone()``: a storage of its own; the content may be shared until one of the two is written."""
    return convert(x, x.dtype, memory_format or torch.preserve_format)


def convert(x: torch.Tensor, dtype: torch.dtype, memory_format: torch.memory_format | None = None) -> torch.Tensor:
    """``x.to(dtype)`` as a new tensor, with the strides that torch gives it."""
    geometry = torch.empty_strided(x.size(), x.stride(), dtype=dtype, device="meta")
    like = torch.empty_like(geometry, memory_format=memory_format or torch.preserve_format)
    layout = layout_for(x.shape, like.stride(), dtype)

    def key(trace: Trace) -> Any:
        return (_CONVERT, tensor_key(trace, x), layout)

    def make(trace: Trace, item: Any) -> Node:
        node, decoder = _node(trace, item), Decoder(trace.node.ninputs, trace.node.nscalars)
        spec = TensorSpec(layout.size, layout.dtype)
        call = Call(ALIAS, (decoder.operand(item[1]),), {}, (spec,), compute=layout.dtype)
        return _finish(node, decoder, layout, None, call)

    trace, node = _recorded(key, make)
    return _result(trace, node)


def _node(trace: Trace, key: Any) -> Node:
    return Node(trace.node, key, (), current_source())


def _finish(node: Node, decoder: Decoder, layout: Layout, where: Operand | None, call: Call) -> Node:
    """Number the value: a storage's next one, written through ``where``, or a new whole one."""
    if where is None:
        node.set_outs((layout,), ())
        values, writes, value = (node.index,), (), node.index
    else:
        node.set_outs((), (layout,))
        value = node.written[0]
        values, writes = (), (Write(0, where, value),)
    node.calls = (
        Call(
            call.op, call.args, call.kwargs, call.results, values, writes, call.compute, call.promoted, node.source,
            layouts=decoder.layouts | {value: layout},
        ),
    )  # fmt: skip
    return node


def _store(trace: Trace, node: Node, state: StorageState, target: bool) -> None:
    """Give a storage the node's value. A whole storage may come from anywhere: settled, pending, or never written."""
    if state.trace is not trace or state.index < 0:
        trace.refs.append(ref(state))
    if target:
        state.trace = trace
        state.fast = None if state.viewed else trace
        state.error = None
    state.index = node.index
    trace.node = node


def _result(trace: Trace, node: Node) -> torch.Tensor:
    assert node.layout is not None
    tensor = pending(trace, node.layout, node.index)
    trace.node = node
    return tensor
