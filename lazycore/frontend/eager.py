"""Running a plan's ops in PyTorch on the CPU: what no backend takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import torch
from lazycore_plugin_api import DType, HostArray, Node, Value
from torch.utils._python_dispatch import _disable_current_modes

from lazycore.frontend.dtypes import TO_TORCH, array_of, tensor_of
from lazycore.frontend.own_ops import OWN_OPS
from lazycore.frontend.schema import DROPPED, info_of, overload

__all__ = ["op_of", "run_eager", "torch_arguments"]


@cache
def op_of(name: str) -> Any:
    """torch's overload of a node's op (``aten.add.Tensor``). Raises AttributeError where torch has none."""
    namespace, base, variant = name.split(".")
    return overload(f"{namespace}::{base}" + ("" if variant == "default" else f".{variant}"))


def torch_arguments(node: Node, tensors: Mapping[int, Any]) -> tuple[list[Any], dict[str, Any]]:
    """A node's arguments as torch wants them. ``tensors``: value id -> tensor; a 0-d value where the schema has a
    Scalar becomes a number."""
    info = info_of(op_of(node.op))
    kinds = {a.name: a.kind for a in info.args}
    positional = [a.kind for a in info.args if not a.keyword and a.kind != "MemoryFormat" and a.name not in DROPPED]
    args = [_convert(a, k, tensors) for a, k in zip(node.args, positional, strict=False)]
    return args, {name: _convert(a, kinds.get(name, ""), tensors) for name, a in node.kwargs.items()}


def _convert(argument: Any, kind: str, tensors: Mapping[int, Any]) -> Any:
    if isinstance(argument, Value):
        tensor = tensors[argument.id]
        return tensor.item() if "number" in kind else tensor
    if isinstance(argument, tuple):
        return [_convert(a, kind, tensors) for a in argument]
    return TO_TORCH[argument] if isinstance(argument, DType) else argument


def run_eager(node: Node, inputs: Sequence[HostArray]) -> Sequence[HostArray]:
    """One node of a plan on the CPU: arrays in, arrays out. Raises what torch raises."""
    distinct = dict.fromkeys(v.id for v in node.inputs())
    with _disable_current_modes(), torch.no_grad():
        tensors = {i: tensor_of(array) for i, array in zip(distinct, inputs, strict=True)}
        result = _compute(node, tensors)
    outputs = (result,) if isinstance(result, torch.Tensor) else tuple(result)
    return [_output(o, v) for o, v in zip(outputs, node.outputs, strict=True)]


def _compute(node: Node, tensors: Mapping[int, Any]) -> Any:
    own = OWN_OPS.get(node.op)
    if own is not None:
        return own(*(_convert(a, "", tensors) for a in node.args))
    args, kwargs = torch_arguments(node, tensors)
    return op_of(node.op)(*args, **kwargs)


def _output(tensor: torch.Tensor | None, value: Value) -> HostArray:
    if tensor is None:
        tensor = torch.empty((0,), dtype=TO_TORCH[value.spec.dtype], device="cpu")
    return array_of(tensor)
