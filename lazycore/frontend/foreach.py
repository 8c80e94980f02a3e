"""``_foreach_*`` ops: one entry of the trace for a whole list, whose calls are the per-tensor op.

torch would otherwise call the per-tensor op in a loop: a look-up per parameter instead of one per list, and a run-time
number per parameter where the list shares one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import torch
from lazycore_plugin_api import TensorSpec

from lazycore.frontend.definition import record
from lazycore.frontend.dtypes import TO_IR
from lazycore.frontend.infer import Inferred, infer
from lazycore.frontend.operands import operand, scalar, tensor_key
from lazycore.frontend.record import bind, promoted_places, result_layout, results, written
from lazycore.frontend.schema import ArgInfo, OpInfo, info_of
from lazycore.frontend.source import current_source
from lazycore.frontend.storage import state_of
from lazycore.frontend.stricter import check_cast
from lazycore.frontend.template import Decoder
from lazycore.trace.call import Call, Operand, Template, Write
from lazycore.trace.keys import literal_key
from lazycore.trace.layout import Layout
from lazycore.trace.node import Node
from lazycore.trace.recorder import Trace
from lazycore.trace.state import StorageState

__all__ = ["foreach_kernel", "single_of"]

_ELEMENT = {"List[Tensor]": "Tensor", "List[number]": "number"}


@cache
def single_of(op: Any) -> OpInfo | None:
    """The functional per-tensor overload that a foreach overload applies to each element, found by argument kinds."""
    info = info_of(op)
    base = info.base.removeprefix("_foreach_").removesuffix("_")
    packet = getattr(torch.ops.aten, base, None)
    if packet is None or info.is_out:
        return None
    kinds = [(_ELEMENT.get(a.kind, a.kind), a.optional) for a in info.args]
    candidates = [info_of(getattr(packet, name)) for name in packet.overloads()]
    return next((c for c in candidates if not c.written and _takes(c, kinds)), None)


def _takes(single: OpInfo, kinds: list[tuple[str, bool]]) -> bool:
    own = [(a.kind, a.optional) for a in single.args]
    return own[: len(kinds)] == kinds and not any(a.required for a in single.args[len(kinds) :])


def foreach_kernel(op: Any) -> Callable[..., Any]:
    """The kernel of a foreach overload that has a per-tensor one."""
    info, single = info_of(op), single_of(op)
    assert single is not None, f"{info.name} has no per-tensor overload; leave it to torch's own loop"
    in_place = bool(info.written)
    lists = [i for i, a in enumerate(info.args) if a.kind == "List[Tensor]"]

    def kernel(*args: Any, **kwargs: Any) -> Any:
        values: Sequence[Any] = args
        if kwargs or len(args) != len(info.args):
            given = bind(info, args, kwargs)
            values = [given.get(a.name, a.default) for a in info.args]
        first = values[0]
        try:
            states = {i: [t.untyped_storage().state for t in values[i]] for i in lists}
        except AttributeError:  # a tensor of the CPU among them
            return _one_by_one(info, single, values, in_place)
        if in_place and len(set(map(id, states[0]))) != len(states[0]):
            return _one_by_one(info, single, values, in_place)
        outputs = _record(info, single, values, states, in_place)
        if in_place:
            # torch's foreach kernels count versions themselves: no key above them does.
            torch._C._increment_version(first)
            return None
        return outputs

    return kernel


def _one_by_one(info: OpInfo, single: OpInfo, values: Sequence[Any], in_place: bool) -> Any:
    """Each element on its own: lists that mix devices, or that hold one storage twice, where order matters."""
    outputs = []
    for position in range(len(values[0])):
        args = [_element(a, v, position) for a, v in zip(info.args, values, strict=True)]
        split = sum(not a.keyword for a in single.args[: len(args)])
        keywords = {a.name: v for a, v in zip(single.args[split : len(args)], args[split:], strict=True)}
        result = single.op(*args[:split], **keywords)
        if in_place:
            check_cast(result, args[0])
            result = torch.ops.aten.copy_.default(args[0], result)
        outputs.append(result)
    if not in_place:
        return outputs
    torch._C._increment_version(values[0])
    return None


def _element(arg: ArgInfo, value: Any, position: int) -> Any:
    return value[position] if arg.kind in _ELEMENT else value


def _record(
    info: OpInfo, single: OpInfo, values: Sequence[Any], states: Mapping[int, list[StorageState]], in_place: bool
) -> list[torch.Tensor] | None:
    """Record the call; ``states``: the storages of the tensors in each list, by its position."""

    def key(trace: Trace) -> Any:
        items = [info.number]
        for i, (arg, value) in enumerate(zip(info.args, values, strict=True)):
            if i in states:
                # Thousands a step: what each tensor costs is spelled out.
                pairs = zip(value, states[i], strict=True)
                items.append(tuple([s.index if s.fast is trace else operand(trace, t, s) for t, s in pairs]))
            else:
                items.append(_key(trace, arg, value, single, single.args[i].name))
        return tuple(items)

    def make(trace: Trace, item: Any) -> Node:
        return _node(trace, item, info, single, values, in_place)

    def commit(trace: Trace, node: Node) -> list[torch.Tensor] | None:
        if in_place:
            written(trace, node, states[0])
            return None
        tensors: list[torch.Tensor] = results(trace, node, "list")
        trace.node = node
        return tensors

    return record(key, make, commit)


def _key(trace: Trace, arg: ArgInfo, value: Any, single: OpInfo, name: str) -> Any:
    """An argument's key item; ``name`` is what the per-tensor op calls it."""
    if arg.kind == "Tensor":
        return tensor_key(trace, value)
    liftable = name in single.row.lift
    if arg.kind == "List[number]":
        return tuple([scalar(trace, x) if liftable else literal_key(x) for x in value])
    if arg.kind == "number":
        return scalar(trace, value) if liftable else literal_key(value)
    return value


def _node(trace: Trace, key: Any, info: OpInfo, single: OpInfo, values: Sequence[Any], in_place: bool) -> Node:
    infer(info, tuple(values[: _positional(info)]), {a.name: v for a, v in _keyword(info, values)})
    node = Node(trace.node, key, (), current_source())
    node.names = tuple(a.name for a in info.args)
    decoder = Decoder(trace.node.ninputs, trace.node.nscalars)
    columns = [_templates(decoder, a, k, v) for a, k, v in zip(info.args, key[1:], values, strict=True)]
    inferred = [_infer_one(info, single, values, i) for i in range(len(values[0]))]
    if in_place:
        # The Meta kernels of lists let through what those of the CPU refuse.
        for target, x in zip(values[0], inferred, strict=True):
            check_cast(x.outputs[0], target)
    layouts = tuple(result_layout(x.outputs[0]) for x in inferred)
    bases = tuple(state_of(t).layout for t in values[0])
    node.set_outs(() if in_place else layouts, bases if in_place else ())
    new = _new_layouts(node, decoder, bases if in_place else layouts)
    node.calls = tuple(
        _call(node, single, [_element_template(a, c, i) for a, c in zip(info.args, columns, strict=True)], x, i, new)
        for i, x in enumerate(inferred)
    )
    return node


def _positional(info: OpInfo) -> int:
    return sum(not a.keyword for a in info.args)


def _keyword(info: OpInfo, values: Sequence[Any]) -> list[tuple[ArgInfo, Any]]:
    return [(a, v) for a, v in zip(info.args, values, strict=True) if a.keyword]


def _templates(decoder: Decoder, arg: ArgInfo, item: Any, value: Any) -> Template:
    return decoder.template(item, list(value) if arg.kind in _ELEMENT else value, "Tensor" in arg.kind)


def _element_template(arg: ArgInfo, column: Template, position: int) -> Template:
    if arg.kind in _ELEMENT:
        assert isinstance(column, tuple)
        return column[position]
    return column


def _infer_one(info: OpInfo, single: OpInfo, values: Sequence[Any], position: int) -> Inferred:
    args = [_element(a, v, position) for a, v in zip(info.args, values, strict=True)]
    split = sum(not a.keyword for a in single.args[: len(args)])
    keywords = {a.name: v for a, v in zip(single.args[split : len(args)], args[split:], strict=True)}
    return infer(single, tuple(args[:split]), keywords)


def _call(
    node: Node,
    single: OpInfo,
    templates: list[Template],
    inferred: Inferred,
    position: int,
    layouts: dict[int, Layout],
) -> Call:
    defaults = [a.default for a in single.args[len(templates) :]]
    pairs = list(zip(single.args, [*templates, *defaults], strict=True))
    (output,) = inferred.outputs
    assert output is not None
    writes: tuple[Write, ...] = ()
    if node.written:
        assert isinstance(templates[0], Operand)
        writes = (Write(0, templates[0], node.written[position]),)
    out = None if node.written else node.outs[position]
    return Call(
        op=single.name,
        args=tuple(t for a, t in pairs if not a.keyword),
        kwargs={a.name: t for a, t in pairs if a.keyword},
        results=(TensorSpec(tuple(output.shape), TO_IR[output.dtype]),),
        values=() if out is None else (out[1],),
        writes=writes,
        compute=None if inferred.compute is None else TO_IR[inferred.compute],
        promoted=promoted_places(single),
        source=node.source,
        layouts=layouts if position == 0 else {},
    )


def _new_layouts(node: Node, decoder: Decoder, layouts: tuple[Layout, ...]) -> dict[int, Layout]:
    """The layouts that the list introduces; whichever of its calls comes first may be the one to read an input."""
    values = node.written or tuple(out[1] for out in node.outs if out is not None)
    return decoder.layouts | dict(zip(values, layouts, strict=True))
