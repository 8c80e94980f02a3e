"""What no backend takes, in terms of smaller ops: a decomposition, traced by torch on Meta tensors."""

from __future__ import annotations

from typing import Any

import torch
from lazycore_plugin_api import Graph, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import _disable_current_modes

from lazycore.frontend.compositions import composition_of
from lazycore.frontend.decompositions.table import table
from lazycore.frontend.decompositions.translate import translate
from lazycore.frontend.dtypes import TO_TORCH
from lazycore.frontend.eager import op_of, torch_arguments
from lazycore.frontend.schema import info_of

__all__ = ["decompose"]

# What tracing goes by, and a call may leave out of those that it makes (torch.tensor does): a trace can end within one.
_TRACERS = ("Python", "PythonTLSSnapshot", "FuncTorchDynamicLayerFrontMode", "FuncTorchDynamicLayerBackMode")


def decompose(node: Node) -> Graph | None:
    """The node as a graph of ATen ops over its distinct input values, or None where nothing decomposes it."""
    try:
        op = op_of(node.op)
    except AttributeError:
        return None
    function = table().get(op) or composition_of(op)
    if function is None:
        return None
    values = list({v.id: v for v in node.inputs()}.values())
    with _disable_current_modes(), torch.no_grad(), _traceable():
        fakes = [torch.empty(v.spec.static_shape, dtype=TO_TORCH[v.spec.dtype], device="meta") for v in values]

        def run(*tensors: torch.Tensor) -> Any:
            args, kwargs = torch_arguments(node, dict(zip((v.id for v in values), tensors, strict=True)))
            return function(*args, **kwargs)

        try:
            graph = _trace(run, fakes)
        except (NotImplementedError, RuntimeError, TypeError, ValueError, IndexError, AssertionError):
            # None for these operands (a data-dependent branch, a 0-d number read as a Scalar): it runs whole.
            return None
        return translate(graph, node)


def _traceable() -> Any:
    excluded = torch._C._dispatch_tls_local_exclude_set()
    for name in _TRACERS:
        excluded = excluded.remove(getattr(torch._C.DispatchKey, name))
    return torch._C._ForceDispatchKeyGuard(torch._C._dispatch_tls_local_include_set(), excluded)


def _trace(run: Any, fakes: list[torch.Tensor]) -> Any:
    graph = make_fx(run, decomposition_table={}, tracing_mode="real")(*fakes).graph
    if any(n.op == "call_function" and _writes(n.target) for n in graph.nodes):
        pure = torch.func.functionalize(run, remove="mutations")
        graph = make_fx(pure, decomposition_table={}, tracing_mode="real")(*fakes).graph
    graph.eliminate_dead_code()
    return graph


def _writes(target: Any) -> bool:
    return isinstance(target, torch._ops.OpOverload) and bool(info_of(target).written)
