"""Recorded ops that give a storage new content without computing: copies between device tensors, fills, clones.

A write to a whole storage does not read what was there, so it *defines* the storage's next value: nothing old becomes
an input of the trace.
"""

from __future__ import annotations

from typing import Any

import torch
from lazycore_plugin_api import TensorSpec

from lazycore.frontend.definition import define, finish_node, new_node, new_result, record
from lazycore.frontend.dtypes import TO_IR
from lazycore.frontend.operands import scalar, tensor_key
from lazycore.frontend.overlap import refuse_internal, refuse_shared
from lazycore.frontend.storage import layout_for, state_of, whole
from lazycore.frontend.strides import stride_like
from lazycore.frontend.template import Decoder
from lazycore.trace.call import ALIAS, Call
from lazycore.trace.keys import Mark
from lazycore.trace.layout import Layout
from lazycore.trace.node import Node
from lazycore.trace.recorder import Trace

__all__ = ["clone", "convert", "copy_between", "fill", "full"]

_COPY, _CONVERT, _FILL, _FULL = Mark("copy_"), Mark("_to_copy"), Mark("fill_"), Mark("full")


def copy_between(dst: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    """``dst.copy_(src)`` on the device: broadcast, cast, stored through dst's view."""
    state = state_of(dst)
    if dst.shape != src.shape:
        torch.empty(dst.shape, device="meta").copy_(torch.empty(src.shape, device="meta"))
    if dst is src or (state is state_of(src) and _same_view(dst, src)):
        return dst
    target = whole(dst, state)

    def key(trace: Trace) -> Any:
        where = state.layout if target else tensor_key(trace, dst)
        return (_COPY, where, tensor_key(trace, src), dst.dtype)

    def make(trace: Trace, item: Any) -> Node:
        refuse_internal(dst)
        refuse_shared(dst, src)
        return _store_node(trace, item, state.layout, target, dst, src)

    record(key, make, lambda trace, node: define(trace, node, state, target))
    return dst


def _same_view(a: torch.Tensor, b: torch.Tensor) -> bool:
    bits = (a.dtype, a.is_conj(), a.is_neg()) == (b.dtype, b.is_conj(), b.is_neg())
    return bits and a.is_set_to(b)


def _store_node(trace: Trace, key: Any, layout: Layout, target: bool, dst: torch.Tensor, src: torch.Tensor) -> Node:
    node, decoder = new_node(trace, key), Decoder(trace.node.ninputs, trace.node.nscalars)
    where = None if target else decoder.operand(key[1])
    operand = decoder.operand(key[2])
    dtype = TO_IR[dst.dtype]
    same = dst.shape == src.shape
    args = (operand,) if same else (operand, tuple(dst.shape))
    spec = TensorSpec(tuple(dst.shape), dtype)
    op, kwargs = (ALIAS, {}) if same else ("aten.expand.default", {"implicit": False})
    call = Call(op, args, kwargs, (spec,), compute=dtype, promoted=frozenset((0,)))
    return finish_node(node, decoder, layout, where, call)


def fill(dst: torch.Tensor, number: bool | int | float | complex) -> torch.Tensor:
    """``dst.fill_(number)``; ``zero_`` is ``fill_(0)``."""
    state = state_of(dst)
    target = whole(dst, state)

    def key(trace: Trace) -> Any:
        where = state.layout if target else tensor_key(trace, dst)
        return (_FILL, where, scalar(trace, number), dst.dtype)

    def make(trace: Trace, item: Any) -> Node:
        return _fill_node(trace, item, state.layout, target, dst, number)

    record(key, make, lambda trace, node: define(trace, node, state, target))
    return dst


def _fill_node(trace: Trace, key: Any, layout: Layout, target: bool, dst: torch.Tensor, number: Any) -> Node:
    node, decoder = new_node(trace, key), Decoder(trace.node.ninputs, trace.node.nscalars)
    where = None if target else decoder.operand(key[1])
    return finish_node(node, decoder, layout, where, _full_call(decoder, tuple(dst.shape), key[2], number, dst.dtype))


def full(size: Any, number: Any, dtype: torch.dtype, stride: Any) -> torch.Tensor:
    """A new tensor of one number, e.g. ``zeros`` and ``full_like``."""
    layout = layout_for(size, stride, dtype)

    def key(trace: Trace) -> Any:
        return (_FULL, layout, scalar(trace, number))

    def make(trace: Trace, item: Any) -> Node:
        node, decoder = new_node(trace, item), Decoder(trace.node.ninputs, trace.node.nscalars)
        return finish_node(node, decoder, layout, None, _full_call(decoder, layout.size, item[2], number, dtype))

    return record(key, make, new_result)


def _full_call(decoder: Decoder, size: tuple[int, ...], item: Any, number: Any, dtype: torch.dtype) -> Call:
    ir = TO_IR[dtype]
    value = decoder.template(item, number, False)
    return Call("aten.full.default", (size, value), {"dtype": ir}, (TensorSpec(size, ir),), compute=ir)


def clone(x: torch.Tensor, memory_format: torch.memory_format | None = None) -> torch.Tensor:
    """``x.clone()``: a storage of its own; the content may be shared until one of the two is written."""
    return convert(x, x.dtype, memory_format or torch.preserve_format)


def convert(x: torch.Tensor, dtype: torch.dtype, memory_format: torch.memory_format | None = None) -> torch.Tensor:
    """``x.to(dtype)`` as a new tensor, with the strides that torch gives it."""
    layout = layout_for(x.shape, stride_like(x.shape, x.stride(), memory_format), dtype)

    def key(trace: Trace) -> Any:
        return (_CONVERT, tensor_key(trace, x), layout)

    def make(trace: Trace, item: Any) -> Node:
        node, decoder = new_node(trace, item), Decoder(trace.node.ninputs, trace.node.nscalars)
        spec = TensorSpec(layout.size, layout.dtype)
        call = Call(ALIAS, (decoder.operand(item[1]),), {}, (spec,), compute=layout.dtype)
        return finish_node(node, decoder, layout, None, call)

    return record(key, make, new_result)
