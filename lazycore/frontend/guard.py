"""Errors that depend on data, without looking at the data at once."""

from __future__ import annotations

from typing import Any

import torch
from lazycore_plugin_api import TensorSpec

from lazycore.frontend.definition import new_node, record
from lazycore.frontend.dtypes import TO_IR
from lazycore.frontend.operands import tensor_key
from lazycore.frontend.template import Decoder
from lazycore.trace.call import ALIAS, Call, IndexCheck
from lazycore.trace.keys import Mark
from lazycore.trace.node import Node
from lazycore.trace.recorder import Trace

__all__ = ["guard"]

_GUARD = Mark("guard")


def guard(holds: torch.Tensor, message: str, error: type[Exception] = RuntimeError) -> None:
    """Raise ``error`` at the program's next observation unless every element of a bool tensor is true."""
    if not holds.numel():
        return
    fails = torch.ops.aten._to_copy.default(torch.ops.aten.logical_not.default(holds), dtype=torch.int64)

    def key(trace: Trace) -> Any:
        return (_GUARD, tensor_key(trace, fails), message)

    def make(trace: Trace, item: Any) -> Node:
        node, decoder = new_node(trace, item), Decoder(trace.node.ninputs, trace.node.nscalars)
        spec = TensorSpec(tuple(fails.shape), TO_IR[fails.dtype])
        check = IndexCheck(0, None, 0, 1, error, message)
        operand = decoder.operand(item[1])
        node.calls = (
            Call(ALIAS, (operand,), {}, (spec,), source=node.source, checks=(check,), layouts=decoder.layouts),
        )
        return node

    def commit(trace: Trace, node: Node) -> None:
        trace.node = node

    record(key, make, commit)
