"""The rules every graph keeps, checked after each pass that builds or changes one."""

from __future__ import annotations

from functools import lru_cache

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.errors import InvalidGraph
from lazycore_plugin_api.ir import COMPOSITE, Argument, Graph, Node, Segment, Value
from lazycore_plugin_api.opset.inference import fault_of
from lazycore_plugin_api.specs import Dim
from lazycore_plugin_api.text import node_text

__all__ = ["verify"]

_LITERALS = (bool, int, float, complex, str, DType, Dim, type(None))
_COMPOSITE = f".{COMPOSITE}"


def verify(graph: Graph) -> None:
    """Raise InvalidGraph unless: each value is written once and read only afterwards, under one spec; ops are named
    ``namespace.name.overload``; arguments are of the IR's kinds; what the opset has a row for fits it, arguments and
    outputs; outputs exist; a composite has a body, itself a valid graph, that fits its arguments and outputs; a
    segment's marks name inputs, and its constants are the last ones."""
    scope = _Scope()
    for value in graph.inputs:
        scope.define(value, "input")
    for node in graph.nodes:
        _check_node(node, scope)
    for value in graph.outputs:
        scope.check_use(value, "the graph's outputs")
    if isinstance(graph, Segment):
        _check_marks(graph)


class _Scope:
    """The values written so far. ``where`` is what reads or writes, put into words only if something is wrong."""

    def __init__(self) -> None:
        self.values: dict[int, Value] = {}
        self.symbolic: set[int] = set()

    def define(self, value: Value, where: Node | str) -> None:
        if value.id in self.values:
            raise InvalidGraph(f"{value} is written twice (second time by {_text(where)})")
        for size in value.spec.shape:
            if isinstance(size, Dim):
                self.symbolic.add(value.id)
            elif not isinstance(size, int) or size < 0 or isinstance(size, bool):
                raise InvalidGraph(f"{value} has the impossible size {size!r} (written by {_text(where)})")
        if not isinstance(value.spec.dtype, DType):
            raise InvalidGraph(f"{value} has dtype {value.spec.dtype!r}, which is no DType (written by {_text(where)})")
        self.values[value.id] = value

    def check_use(self, value: Value, where: Node | str) -> None:
        known = self.values.get(value.id)
        if known is value:
            return
        if known is None:
            raise InvalidGraph(f"{value} is read by {_text(where)} before anything writes it")
        if known.spec != value.spec:
            raise InvalidGraph(f"{value} is {known.spec} where written and {value.spec} in {_text(where)}")

    def is_static(self, node: Node) -> bool:
        if not self.symbolic:
            return True
        symbolic = any(v.id in self.symbolic for v in (*node.inputs(), *node.outputs))
        return not symbolic and not any(map(_varies, node.args))


def _varies(argument: Argument) -> bool:
    return isinstance(argument, Dim) or (isinstance(argument, tuple) and any(map(_varies, argument)))


def _text(where: Node | str) -> str:
    return where if isinstance(where, str) else node_text(where)


@lru_cache(4096)
def _is_name(op: str) -> bool:
    parts = op.split(".")
    return len(parts) == 3 and all(parts)


def _check_node(node: Node, scope: _Scope) -> None:
    if not _is_name(node.op):
        raise InvalidGraph(f"{node.op!r} is no namespace.name.overload, in {node_text(node)}")
    for argument in node.args:
        _check_argument(argument, scope, node)
    for argument in node.kwargs.values():
        _check_argument(argument, scope, node)
    if not node.outputs:
        raise InvalidGraph(f"nothing is written by {node_text(node)}")
    for value in node.outputs:
        scope.define(value, node)
    fault = fault_of(node, scope.is_static(node))
    if fault is not None:
        raise InvalidGraph(f"{node_text(node)} {fault}")
    if node.body is not None or node.op.endswith(_COMPOSITE):
        _check_body(node)


def _check_body(node: Node) -> None:
    if node.body is None or not node.op.endswith(_COMPOSITE):
        raise InvalidGraph(f"{'a body belongs to' if node.body else 'no body has'} the composite {node_text(node)}")
    try:
        verify(node.body)
    except InvalidGraph as error:
        raise InvalidGraph(f"the body of {node_text(node)} is invalid: {error}") from error
    sides = ((node.body.inputs, tuple(node.inputs()), "inputs"), (node.body.outputs, node.outputs, "outputs"))
    for inner, outer, side in sides:
        if [value.spec for value in inner] != [value.spec for value in outer]:
            specs = ", ".join(str(value.spec) for value in inner)
            raise InvalidGraph(f"the body's {side} ({specs}) do not fit {node_text(node)}")


def _check_argument(argument: Argument, scope: _Scope, node: Node) -> None:
    if isinstance(argument, Value):
        scope.check_use(argument, node)
    elif isinstance(argument, tuple):
        for item in argument:
            _check_argument(item, scope, node)
    elif not isinstance(argument, _LITERALS):
        raise InvalidGraph(f"{argument!r} is no IR argument, in {node_text(node)}")


def _check_marks(segment: Segment) -> None:
    count = len(segment.inputs)
    for mark in ("scalars", "donatable", "constants"):
        for position in getattr(segment, mark):
            if not 0 <= position < count:
                raise InvalidGraph(f"{mark} of {segment.name} names input {position} of {count}")
    for position in segment.scalars:
        if segment.inputs[position].spec.shape != ():
            raise InvalidGraph(f"scalar input {position} of {segment.name} is not 0-d")
    if sorted(segment.constants) != list(range(count - len(segment.constants), count)):
        raise InvalidGraph(f"the constants of {segment.name} are inputs {sorted(segment.constants)}, not the last ones")
    if segment.scalars & segment.donatable:
        raise InvalidGraph(f"{segment.name} would donate a scalar")
