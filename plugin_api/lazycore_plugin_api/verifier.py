"""The rules every graph keeps, checked after each pass that builds or changes one."""

from __future__ import annotations

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.errors import InvalidGraph
from lazycore_plugin_api.ir import COMPOSITE, Argument, Graph, Node, Segment, Value
from lazycore_plugin_api.specs import Dim
from lazycore_plugin_api.text import node_text

__all__ = ["verify"]


def verify(graph: Graph) -> None:
    """Raise InvalidGraph unless: each value is written once and read only afterwards, under one spec; ops are named
    ``namespace.name.overload``; arguments are of the IR's kinds; outputs exist; a composite has a body, itself a valid
    graph, that fits its arguments and outputs; a segment's marks name inputs, and its constants are the last ones."""
    defined: dict[int, Value] = {}
    for value in graph.inputs:
        _define(value, defined, "input")
    for node in graph.nodes:
        _check_node(node, defined)
    for value in graph.outputs:
        _check_use(value, defined, "the graph's outputs")
    if isinstance(graph, Segment):
        _check_marks(graph)


def _define(value: Value, defined: dict[int, Value], where: str) -> None:
    if value.id in defined:
        raise InvalidGraph(f"{value} is written twice (second time by {where})")
    for size in value.spec.shape:
        if not isinstance(size, (int, Dim)) or isinstance(size, bool) or (isinstance(size, int) and size < 0):
            raise InvalidGraph(f"{value} has the impossible size {size!r} (written by {where})")
    if not isinstance(value.spec.dtype, DType):
        raise InvalidGraph(f"{value} has dtype {value.spec.dtype!r}, which is no DType (written by {where})")
    defined[value.id] = value


def _check_use(value: Value, defined: dict[int, Value], where: str) -> None:
    known = defined.get(value.id)
    if known is None:
        raise InvalidGraph(f"{value} is read by {where} before anything writes it")
    if known.spec != value.spec:
        raise InvalidGraph(f"{value} is {known.spec} where written and {value.spec} in {where}")


def _check_node(node: Node, defined: dict[int, Value]) -> None:
    where = node_text(node)
    if len(node.op.split(".")) != 3 or not all(node.op.split(".")):
        raise InvalidGraph(f"{node.op!r} is no namespace.name.overload, in {where}")
    for argument in (*node.args, *node.kwargs.values()):
        _check_argument(argument, defined, where)
    if not node.outputs:
        raise InvalidGraph(f"nothing is written by {where}")
    for value in node.outputs:
        _define(value, defined, where)
    _check_body(node, where)


def _check_body(node: Node, where: str) -> None:
    if (node.body is not None) != node.op.endswith(f".{COMPOSITE}"):
        raise InvalidGraph(f"{'a body belongs to' if node.body else 'no body has'} the composite {where}")
    if node.body is None:
        return
    try:
        verify(node.body)
    except InvalidGraph as error:
        raise InvalidGraph(f"the body of {where} is invalid: {error}") from error
    sides = ((node.body.inputs, tuple(node.inputs()), "inputs"), (node.body.outputs, node.outputs, "outputs"))
    for inner, outer, side in sides:
        if [value.spec for value in inner] != [value.spec for value in outer]:
            specs = ", ".join(str(value.spec) for value in inner)
            raise InvalidGraph(f"the body's {side} ({specs}) do not fit {where}")


def _check_argument(argument: Argument, defined: dict[int, Value], where: str) -> None:
    if isinstance(argument, Value):
        _check_use(argument, defined, where)
    elif isinstance(argument, tuple):
        for item in argument:
            _check_argument(item, defined, where)
    elif not isinstance(argument, (bool, int, float, complex, str, DType, type(None))):
        raise InvalidGraph(f"{argument!r} is no IR argument, in {where}")


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
