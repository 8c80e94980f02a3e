"""What no backend takes, in terms of smaller ops: torch's own decompositions, traced once per call signature."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import torch
from lazycore_plugin_api import Argument, Graph, Node, TensorSpec, Value
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import _disable_current_modes

from lazycore.frontend.dtypes import TO_IR, TO_TORCH
from lazycore.frontend.eager import _op_of, torch_arguments
from lazycore.frontend.schema import DROPPED, info_of

__all__ = ["decompose"]


def decompose(node: Node) -> Graph | None:
    """The node as a graph of core ATen ops over its distinct input values, or None where torch has no decomposition."""
    table = _table()
    try:
        op = _op_of(node.op)
    except AttributeError:
        return None
    if op not in table:
        return None
    values = list({v.id: v for v in node.inputs()}.values())
    with _disable_current_modes(), torch.no_grad():
        fakes = [torch.empty(v.spec.static_shape, dtype=TO_TORCH[v.spec.dtype], device="meta") for v in values]

        def run(*tensors: torch.Tensor) -> Any:
            args, kwargs = torch_arguments(node, dict(zip((v.id for v in values), tensors, strict=True)))
            return table[op](*args, **kwargs)

        try:
            traced = make_fx(run, decomposition_table={}, tracing_mode="real")(*fakes)
        except (NotImplementedError, RuntimeError, TypeError, ValueError):
            # None for these operands (a data-dependent branch, a 0-d number read as a Scalar): it runs whole.
            return None
        return _translate(traced.graph, node)


def _table() -> Mapping[Any, Any]:
    from torch._decomp import core_aten_decompositions

    global _decompositions
    if _decompositions is None:
        _decompositions = core_aten_decompositions()
    return _decompositions


_decompositions: Mapping[Any, Any] | None = None


def _translate(graph: Any, node: Node) -> Graph | None:
    known: dict[Any, Any] = {}
    inputs: list[Value] = []
    nodes: list[Node] = []
    count = 0

    def fresh(meta: torch.Tensor) -> Value:
        nonlocal count
        count += 1
        return Value(count, TensorSpec(tuple(meta.shape), TO_IR[meta.dtype]))

    for step in graph.nodes:
        if step.op == "placeholder":
            known[step] = fresh(_meta_of(step))
            inputs.append(known[step])
        elif step.op == "call_function" and step.target is operator.getitem:
            known[step] = known[step.args[0]][step.args[1]]
        elif step.op == "call_function" and isinstance(step.target, type):
            known[step] = _named_tuple(step.args, known)
        elif step.op == "call_function":
            made = _node_of(step, known, fresh, node)
            if made is None:
                return None
            nodes.append(made)
            known[step] = made.outputs if isinstance(_meta_of(step), (tuple, list)) else made.outputs[0]
        elif step.op == "output":
            results = step.args[0] if isinstance(step.args[0], (tuple, list)) else (step.args[0],)
            outputs = tuple(known.get(r) for r in results)
            if len(outputs) == 1 and isinstance(outputs[0], tuple):
                (outputs,) = outputs
            if any(o is None for o in outputs):
                return None
            return Graph(tuple(inputs), nodes, outputs)
        else:
            return None
    return None


def _named_tuple(args: tuple[Any, ...], known: Mapping[Any, Any]) -> tuple[Any, ...]:
    """torch's named result tuples are made of their parts, of one tuple node, or of a tuple of nodes."""
    if len(args) > 1:
        return tuple(known[part] for part in args)
    whole = known[args[0]] if isinstance(args[0], torch.fx.Node) else tuple(known[part] for part in args[0])
    return whole if isinstance(whole, tuple) else (whole,)


def _meta_of(step: Any) -> Any:
    return step.meta.get("val", step.meta.get("tensor_meta"))


def _node_of(step: Any, known: Mapping[Any, Any], fresh: Any, origin: Node) -> Node | None:
    info = info_of(step.target)
    if info.written:
        return None
    given = {a.name: x for a, x in zip(info.args, step.args, strict=False)} | dict(step.kwargs)
    args: list[Argument] = []
    kwargs: dict[str, Argument] = {}
    for arg in info.args:
        if arg.name in DROPPED or arg.kind == "MemoryFormat":
            continue
        argument = _argument(given.get(arg.name, arg.default), known)
        if arg.keyword:
            kwargs[arg.name] = argument
        else:
            args.append(argument)
    meta = _meta_of(step)
    metas = tuple(meta) if isinstance(meta, (tuple, list)) else (meta,)
    if any(not isinstance(m, torch.Tensor) for m in metas):
        return None
    return Node(info.name, tuple(args), kwargs, tuple(fresh(m) for m in metas), origin.source)


def _argument(x: Any, known: Mapping[Any, Any]) -> Argument:
    if isinstance(x, torch.fx.Node):
        return known[x]  # type: ignore[no-any-return]
    if isinstance(x, (list, tuple)):
        return tuple(_argument(i, known) for i in x)
    if isinstance(x, torch.dtype):
        return TO_IR[x]
    return x  # type: ignore[no-any-return]
