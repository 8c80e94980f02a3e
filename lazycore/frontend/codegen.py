"""Recording kernels, one written for each overload on its first call.

A kernel runs on every op of every step, so it has no loops over arguments and no generic calls: its text spells out
how each argument of this schema becomes an item of the key. Everything rare is behind ``operand``, ``foreign`` and
``grow``. The order of its last statements matters: the recorder changes last, so that an exception before leaves the
trace as it was.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any
from weakref import ref

import torch

from lazycore.frontend import operands, record, storage, sync
from lazycore.frontend.at_once import eager_kernel
from lazycore.frontend.infer import NoInference
from lazycore.frontend.local import leave, local
from lazycore.frontend.schema import DROPPED, ArgInfo, OpInfo
from lazycore.trace.keys import literal_key
from lazycore.trace.recorder import FULL
from lazycore.trace.state import StorageState

__all__ = ["functional_kernel", "inplace_kernel"]

_GLOBALS: dict[str, Any] = {
    "FULL": FULL,
    "NoInference": NoInference,
    "State": StorageState,
    "check_device": storage.check_device,
    "create": torch._C._acc.create_empty_tensor,
    "empty_tensor": storage.empty_tensor,
    "flush": sync.flush,
    "foreign": operands.foreign,
    "leave": leave,
    "literal": literal_key,
    "local": local,
    "operand": operands.operand,
    "ref": ref,
    "results": record.results,
    "scalar": operands.scalar,
    "tensor_key": operands.tensor_key,
}

_HEAD = """\
def {name}({parameters}):
    trace = local.trace
    try:
{keys}
        node = trace.node.children.get(({number}, {items}))
        if node is None:
            node = trace.grow(({number}, {items}), make(trace, info, ({args}), {kwargs}))
            if node is FULL:
                flush()
                return {name}({forward})
"""

_ONE = """\
        tensor = create(node.size, node.native) if node.plain else empty_tensor(node.layout)
        state = State()
        state.fast = state.trace = trace
        state.index = node.index
        state.layout = node.layout
        tensor.untyped_storage().state = state
        trace.refs.append(ref(state))
        if trace.closed:
            leave(trace)
            return {name}({forward})
        trace.node = node
"""

_MANY = """\
        tensor = results(trace, node, {form!r})
        if trace.closed:
            leave(trace)
            return {name}({forward})
        trace.node = node
"""

_INPLACE = """\
        if s0.index < 0:
            trace.refs.append(ref(s0))
        if trace.closed:
            leave(trace)
            return {name}({forward})
        s0.index = node.index
        trace.node = node
        tensor = {first}
"""

_TAIL = """\
        return tensor
    except NoInference:
        trace.rollback()
        return eager({forward})
    except BaseException:
        trace.rollback()
        raise
"""


def functional_kernel(
    info: OpInfo, make: Callable[..., Any] = record.functional_node, otherwise: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """The kernel of an op without side effects: Tensor arguments -> new tensors. ``make`` builds a new call's node;
    where it raises NoInference, as where torch cannot tell the results' shapes beforehand, the call goes to
    ``otherwise``, or the op runs at once."""
    form = "one" if info.returns == ("Tensor",) else "list" if info.returns[0].startswith("List") else "tuple"
    return _compile(info, _ONE if form == "one" else _MANY, make, form, otherwise)


def inplace_kernel(info: OpInfo) -> Callable[..., Any]:
    """The kernel of an op that writes its first argument, which it returns."""
    return _compile(info, _INPLACE, record.inplace_node)


def _compile(
    info: OpInfo,
    body: str,
    make: Callable[..., Any],
    form: str = "one",
    otherwise: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    name = "record_" + "".join(c if c.isalnum() else "_" for c in info.name)
    args = [a for a in info.args if not a.out]
    scope: dict[str, Any] = {**_GLOBALS, "info": info, "make": make, "eager": otherwise or eager_kernel(info)}
    keys, items = "", []
    liftable = _liftable(info)
    for position, arg in enumerate(args):
        text, item = _key_of(arg, position, position in liftable)
        keys += text
        items += [item] if item else []
    names = {
        "name": name,
        "parameters": _parameters(args, scope),
        "keys": keys or "        pass\n",
        "number": info.number,
        "items": ", ".join(items),
        "args": "".join(f"{_safe(a)}, " for a in args if not a.keyword),
        "kwargs": "{" + ", ".join(f"{a.name!r}: {_safe(a)}" for a in args if a.keyword) + "}",
        "forward": ", ".join(f"{_safe(a)}={_safe(a)}" if a.keyword else _safe(a) for a in args),
    }
    names["args"] = names["args"] or " "
    source = (_HEAD + body + _TAIL).format(**names, first=info.args[0].name if info.args else "", form=form)
    return _load(name, source, scope)


def _load(name: str, source: str, scope: dict[str, Any]) -> Callable[..., Any]:
    file = f"<lazycore {name}>"
    # So that a traceback through a kernel shows its lines.
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    exec(compile(source, file, "exec"), scope)
    return scope[name]  # type: ignore[no-any-return]


def _safe(arg: ArgInfo) -> str:
    return arg.name + "_" if arg.name in ("from", "trace", "node", "tensor", "state") else arg.name


def _parameters(args: list[ArgInfo], scope: dict[str, Any]) -> str:
    parts: list[str] = []
    starred = False
    for arg in args:
        if arg.keyword and not starred:
            parts.append("*")
            starred = True
        default = ""
        if not arg.required:
            scope[f"d_{arg.name}"] = arg.default
            default = f"=d_{arg.name}"
        parts.append(_safe(arg) + default)
    return ", ".join(parts)


def _liftable(info: OpInfo) -> frozenset[int]:
    """Positions of the Scalar arguments that may become run-time inputs: those of the op that is recorded, which is the
    functional twin of one that writes."""
    recorded = (info.functional() or info) if info.written else info
    return frozenset(i for i, a in enumerate(recorded.args) if a.name in recorded.row.lift)


def _key_of(arg: ArgInfo, position: int, liftable: bool) -> tuple[str, str | None]:
    """The lines that compute an argument's key item, and the item's text; (\"\", None) for one that is not recorded.
    A number is a run-time input only where it is ``liftable``."""
    name = _safe(arg)
    if arg.name == "device":
        return f"        if {name} is not None:\n            check_device({name})\n", None
    if arg.name in DROPPED:
        return "", None
    if arg.kind == "Tensor":
        return _tensor_lines(arg, name, position), f"k{position}"
    if arg.kind.startswith("List[") and "Tensor" in arg.kind:
        inner = f"tuple([tensor_key(trace, x) for x in {name}])"
    elif arg.kind == "number":
        inner = f"scalar(trace, {name})" if liftable else f"literal({name})"
    elif arg.kind in ("List[number]", "List[float]"):
        inner = f"tuple(map(literal, {name}))"
    elif arg.kind == "float":
        inner = f"literal({name})"
    elif arg.kind.startswith("List["):
        inner = f"tuple({name})"
    else:
        return "", name
    if liftable and not arg.required:
        # The dispatcher drops arguments that equal their default, so the default is one key and no run-time input.
        inner = f"None if {name} is d_{arg.name} else {inner}"
    elif arg.optional:
        inner = f"None if {name} is None else {inner}"
    return f"        k{position} = {inner}\n", f"k{position}"


def _tensor_lines(arg: ArgInfo, name: str, position: int) -> str:
    lines = (
        f"try:\n"
        f"    s{position} = {name}.untyped_storage().state\n"
        f"    k{position} = s{position}.index if s{position}.fast is trace else operand(trace, {name}, s{position})\n"
        f"except AttributeError:\n"
        f"    k{position} = foreign(trace, {name})\n"
    ).splitlines()
    if arg.optional:
        lines = [f"if {name} is None:", f"    k{position} = None", "else:", *("    " + line for line in lines)]
    return "".join(f"        {line}\n" for line in lines)
