"""The miss path: building the node of a call that the tree does not know, and the results of any node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import ref

import torch
from lazycore_plugin_api import TensorSpec
from lazycore_plugin_api.opset import Promotion

from lazycore.frontend.checks import divisor_checks, index_checks
from lazycore.frontend.dtypes import TO_IR
from lazycore.frontend.infer import Inferred, infer
from lazycore.frontend.overlap import check_write
from lazycore.frontend.schema import ArgInfo, OpInfo
from lazycore.frontend.source import current_source
from lazycore.frontend.storage import layout_for, pending
from lazycore.frontend.stricter import check_cast
from lazycore.frontend.template import Decoder
from lazycore.trace.call import Call, Operand, Write
from lazycore.trace.layout import Layout, contiguous_stride, is_dense
from lazycore.trace.node import Node
from lazycore.trace.recorder import Trace
from lazycore.trace.state import StorageState

__all__ = ["bind", "functional_node", "inplace_node", "promoted_places", "result_layout", "results", "written"]


def bind(info: OpInfo, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments given, by name."""
    return {a.name: x for a, x in zip(info.args, args, strict=False)} | dict(kwargs)


def results(trace: Trace, node: Node, form: str) -> Any:
    """New tensors for a node's results. The trace has yet to be moved onto the node."""
    tensors = [None if out is None else pending(trace, *out) for out in node.outs]
    if form == "one":
        return tensors[0]
    return tensors if form == "list" else tuple(tensors)


def written(trace: Trace, node: Node, states: Sequence[StorageState]) -> None:
    """Move mutated storages to their next values, and the trace onto the node."""
    for state, index in zip(states, node.written, strict=True):
        if state.index < 0:
            trace.refs.append(ref(state))
        state.index = index
    trace.node = node


def functional_node(
    trace: Trace, info: OpInfo, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Callable[[Any], Node]:
    """How to build the node of a call without side effects, for ``Trace.grow``."""

    def make(key: Any) -> Node:
        inferred = infer(info, args, kwargs)
        return _node(trace, key, info, info, bind(info, args, kwargs), inferred, None)

    return make


def inplace_node(trace: Trace, info: OpInfo, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Callable[[Any], Node]:
    """How to build the node of an op that writes its first argument: the functional twin, stored through the target."""
    twin = info.functional()
    assert twin is not None, f"{info.name} has no functional twin; it is not recorded in place"

    def make(key: Any) -> Node:
        infer(info, args, kwargs)  # the in-place op's own checks: shape and dtype
        check_write(info, args[0], (args[1:], tuple(kwargs.values())))
        inferred = infer(twin, args, kwargs)
        check_cast(inferred.outputs[0], args[0])
        return _node(trace, key, info, twin, bind(info, args, kwargs), inferred, args[0])

    return make


def _node(
    trace: Trace,
    key: Any,
    info: OpInfo,
    functional: OpInfo,
    values: Mapping[str, Any],
    inferred: Inferred,
    target: torch.Tensor | None,
) -> Node:
    node = Node(trace.node, key, (), current_source())
    node.names = tuple(a.name for a in info.args)
    decoder = Decoder(trace.node.ninputs, trace.node.nscalars)
    args, kwargs = decoder.arguments(_named_as(info.args, functional), key[1:], values)
    layouts = tuple(None if o is None else result_layout(o) for o in inferred.outputs)
    base = None if target is None else target.untyped_storage().state.layout
    node.set_outs(() if base is not None else layouts, () if base is None else (base,))
    specs = tuple(_spec(o) for o in inferred.outputs)
    new_layouts = decoder.layouts | {o[1]: o[0] for o in node.outs if o is not None}
    writes: tuple[Write, ...] = ()
    if base is not None:
        assert isinstance(args[0], Operand)
        writes = (Write(0, args[0], node.written[0]),)
        new_layouts[node.written[0]] = base
    call = Call(
        op=functional.name,
        args=args,
        kwargs=kwargs,
        results=specs,
        values=tuple(None if o is None else o[1] for o in node.outs),
        writes=writes,
        compute=None if inferred.compute is None else TO_IR[inferred.compute],
        promoted=promoted_places(functional),
        source=node.source,
        checks=index_checks(functional, values) + divisor_checks(functional, inferred.compute, inferred.outputs[0]),
        layouts=new_layouts,
    )
    node.calls = (call,)
    return node


def _named_as(args: tuple[ArgInfo, ...], functional: OpInfo) -> tuple[ArgInfo, ...]:
    # An in-place op and its twin agree in place and kind; the twin's keyword names are the ones the IR shows.
    kept = [a for a in functional.args if not a.out]
    return tuple(kept) if len(kept) == len(args) else args


def promoted_places(info: OpInfo) -> frozenset[int] | None:
    """Positions of the arguments that are cast to the dtype the op computes in; None for all."""
    if info.row.promotion is Promotion.none:
        return frozenset()
    operands = info.row.operands
    return frozenset(i for i, a in enumerate(info.args) if a.name in operands) if operands else None


def _spec(output: torch.Tensor | None) -> TensorSpec | None:
    return None if output is None else TensorSpec(tuple(output.shape), TO_IR[output.dtype])


def result_layout(output: torch.Tensor) -> Layout:
    """The layout of a result as torch's kernels would allocate it, or contiguous where that is not dense."""
    size, stride = tuple(output.shape), output.stride()
    return layout_for(size, stride if is_dense(size, stride) else contiguous_stride(size), output.dtype)
