"""Recording calls that define values: a new tensor's, or the next one of a storage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import ref

import torch

from lazycore.frontend.local import leave, local
from lazycore.frontend.source import current_source
from lazycore.frontend.storage import pending
from lazycore.frontend.sync import flush
from lazycore.frontend.template import Decoder
from lazycore.trace.call import Call, Operand, Write
from lazycore.trace.layout import Layout
from lazycore.trace.node import Node
from lazycore.trace.recorder import FULL, Trace
from lazycore.trace.state import StorageState

__all__ = ["define", "finish_node", "new_node", "new_result", "record"]

Result = TypeVar("Result")


def record(
    key: Callable[[Trace], Any], make: Callable[[Trace, Any], Node], commit: Callable[[Trace, Node], Result]
) -> Result:
    """Find or ``make`` the node of a key, after a barrier where the trace is full, and ``commit`` it: in one piece, as
    other threads see it."""
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
        if node is FULL:
            flush()
            continue
        with trace.recorder.lock:
            if not trace.closed:
                return commit(trace, node)
        leave(trace)


def new_node(trace: Trace, key: Any) -> Node:
    """A node after the trace's last one, without results yet."""
    return Node(trace.node, key, (), current_source())


def finish_node(node: Node, decoder: Decoder, layout: Layout, where: Operand | None, call: Call) -> Node:
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


def define(trace: Trace, node: Node, state: StorageState, target: bool) -> None:
    """Give a storage the node's value. A whole storage may come from anywhere: settled, pending, or never written."""
    if state.trace is not trace or state.index < 0:
        trace.refs.append(ref(state))
    if target:
        state.trace = trace
        state.fast = None if state.viewed else trace
        state.error = None
    state.index = node.index
    trace.node = node


def new_result(trace: Trace, node: Node) -> torch.Tensor:
    """A new tensor of a node's one result, and the trace moved onto the node."""
    assert node.layout is not None
    tensor = pending(trace, node.layout, node.index)
    trace.node = node
    return tensor
