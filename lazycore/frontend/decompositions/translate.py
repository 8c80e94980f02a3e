"""A traced decomposition as a graph of the IR: promotion made explicit, numbers in tensor places made values."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import torch
from lazycore_plugin_api import Argument, Graph, Node, TensorSpec, Value
from lazycore_plugin_api.opset import Promotion

from lazycore.frontend.dtypes import TO_IR
from lazycore.frontend.infer import compute_dtype
from lazycore.frontend.schema import DROPPED, ArgInfo, OpInfo, info_of

__all__ = ["translate"]

Known = dict[Any, Any]


def translate(graph: Any, origin: Node) -> Graph | None:
    """The fx graph, whose nodes carry Meta tensors, as nodes with the source line of ``origin``; None where it holds
    what the IR cannot say."""
    return _Translation(origin).run(graph)


class _Translation:
    def __init__(self, origin: Node) -> None:
        self.origin = origin
        self.known: Known = {}
        self.inputs: list[Value] = []
        self.nodes: list[Node] = []
        self.count = 0

    def run(self, graph: Any) -> Graph | None:
        for step in graph.nodes:
            if step.op == "output":
                return self._finish(step.args[0])
            made = self._step(step)
            if made is None:
                return None
            self.known[step] = made
        return None

    def _step(self, step: Any) -> Any:
        if step.op == "placeholder":
            self.inputs.append(self._fresh(_meta_of(step)))
            return self.inputs[-1]
        if step.op != "call_function":
            return None
        if step.target is operator.getitem:
            return self.known[step.args[0]][step.args[1]]
        if isinstance(step.target, type):
            return _named_tuple(step.args, self.known)
        return self._call(step) if isinstance(step.target, torch._ops.OpOverload) else None

    def _finish(self, results: Any) -> Graph | None:
        if not isinstance(results, (tuple, list)):
            results = (results,)
        outputs = tuple(self.known.get(r) for r in results)
        if len(outputs) == 1 and isinstance(outputs[0], tuple):
            (outputs,) = outputs
        return None if any(o is None for o in outputs) else Graph(tuple(self.inputs), self.nodes, outputs)

    def _fresh(self, meta: torch.Tensor) -> Value:
        self.count += 1
        return Value(self.count, TensorSpec(tuple(meta.shape), TO_IR[meta.dtype]))

    def _call(self, step: Any) -> Any:
        info = info_of(step.target)
        meta = _meta_of(step)
        metas = tuple(meta) if isinstance(meta, (tuple, list)) else (meta,)
        if info.written or any(not isinstance(m, torch.Tensor) for m in metas):
            return None
        args, kwargs = self._arguments(info, step)
        outputs = tuple(self._fresh(m) for m in metas)
        self.nodes.append(Node(info.name, args, kwargs, outputs, self.origin.source))
        return outputs if isinstance(meta, (tuple, list)) else outputs[0]

    def _arguments(self, info: OpInfo, step: Any) -> tuple[tuple[Argument, ...], dict[str, Argument]]:
        given = {a.name: x for a, x in zip(info.args, step.args, strict=False)} | dict(step.kwargs)
        dtype = compute_dtype(info, {name: _meta_tree(x) for name, x in given.items()})
        positional: list[Argument] = []
        keyword: dict[str, Argument] = {}
        for arg in info.args:
            if arg.name in DROPPED or arg.kind == "MemoryFormat":
                continue
            argument = self._argument(given.get(arg.name, arg.default), arg, _cast_to(info, arg, dtype))
            if arg.keyword:
                keyword[arg.name] = argument
            else:
                positional.append(argument)
        return tuple(positional), keyword

    def _argument(self, x: Any, arg: ArgInfo, dtype: torch.dtype | None) -> Argument:
        if isinstance(x, torch.fx.Node):
            return self._cast(self.known[x], dtype) if "Tensor" in arg.kind else self.known[x]
        if isinstance(x, (list, tuple)):
            return tuple(self._argument(item, arg, dtype) for item in x)
        if isinstance(x, torch.dtype):
            return TO_IR[x]
        if "Tensor" in arg.kind and x is not None:
            return self._number(x, dtype)
        return x  # type: ignore[no-any-return]

    def _cast(self, value: Value, dtype: torch.dtype | None) -> Value:
        if dtype is None or value.spec.dtype is TO_IR[dtype]:
            return value
        meta = torch.empty(value.spec.static_shape, dtype=dtype, device="meta")
        return self._emit("aten._to_copy.default", (value,), {"dtype": TO_IR[dtype]}, meta)

    def _number(self, x: Any, dtype: torch.dtype | None) -> Value:
        meta = torch.scalar_tensor(x, dtype=dtype or torch.tensor(x).dtype, device="meta")
        return self._emit("aten.scalar_tensor.default", (x,), {"dtype": TO_IR[meta.dtype]}, meta)

    def _emit(self, op: str, args: tuple[Argument, ...], kwargs: dict[str, Argument], meta: torch.Tensor) -> Value:
        output = self._fresh(meta)
        self.nodes.append(Node(op, args, kwargs, (output,), self.origin.source))
        return output


def _named_tuple(args: tuple[Any, ...], known: Mapping[Any, Any]) -> tuple[Any, ...]:
    """torch's named result tuples are made of their parts, of one tuple node, or of a tuple of nodes."""
    if len(args) > 1:
        return tuple(known[part] for part in args)
    whole = known[args[0]] if isinstance(args[0], torch.fx.Node) else tuple(known[part] for part in args[0])
    return whole if isinstance(whole, tuple) else (whole,)


def _meta_of(step: Any) -> Any:
    return step.meta.get("val", step.meta.get("tensor_meta"))


def _meta_tree(x: Any) -> Any:
    if isinstance(x, torch.fx.Node):
        return _meta_of(x)
    return type(x)(map(_meta_tree, x)) if isinstance(x, (list, tuple)) else x


def _cast_to(info: OpInfo, arg: ArgInfo, dtype: torch.dtype | None) -> torch.dtype | None:
    row = info.row
    if row.promotion is Promotion.none:
        return None  # its dtype is that of numbers that are lifted; indices and masks stay what they are
    return dtype if not row.operands or arg.name in row.operands else None
