"""Graphs as JSON and back, exactly: every float keeps its bits, every literal its type."""

from __future__ import annotations

import json
import math
from typing import Any

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.errors import InvalidGraph
from lazycore_plugin_api.ir import Argument, Graph, Node, Segment, Source, Value
from lazycore_plugin_api.specs import Dim, TensorSpec

__all__ = ["FORMAT", "from_json", "to_json"]

FORMAT = 1


def to_json(graph: Graph) -> str:
    """A graph or segment as JSON text. Constants' values are not part of it."""
    record = {"format": FORMAT, **_graph(graph)}
    if isinstance(graph, Segment):
        record |= {"name": graph.name, "scalars": sorted(graph.scalars), "donatable": sorted(graph.donatable)}
    return json.dumps(record, separators=(",", ":"), allow_nan=False)


def from_json(text: str) -> Graph:
    """The graph that ``to_json`` wrote. Raises InvalidGraph for another format or a text that is none."""
    try:
        record = json.loads(text)
        if record["format"] != FORMAT:
            raise InvalidGraph(f"graph format {record['format']}; this version reads {FORMAT}")
        return _read(record)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidGraph(f"not a serialized graph: {type(error).__name__}: {error}") from error


def _graph(graph: Graph) -> dict[str, Any]:
    return {
        "inputs": [_value(v) for v in graph.inputs],
        "nodes": [_node(n) for n in graph.nodes],
        "outputs": [v.id for v in graph.outputs],
    }


def _read(record: dict[str, Any]) -> Graph:
    values: dict[int, Value] = {}

    def define(entry: list[Any]) -> Value:
        identifier, shape, dtype = entry
        value = Value(identifier, TensorSpec(tuple(map(_read_size, shape)), DType(dtype)))
        values[identifier] = value
        return value

    inputs = tuple(define(e) for e in record["inputs"])
    nodes = []
    for op, args, kwargs, outputs, source, *rest in record["nodes"]:
        arguments = tuple(_read_argument(a, values) for a in args)
        keywords = {k: _read_argument(a, values) for k, a in kwargs.items()}
        body = _read(rest[0]) if rest else None
        nodes.append(Node(op, arguments, keywords, tuple(define(e) for e in outputs), _read_source(source), body))
    outputs = tuple(values[i] for i in record["outputs"])
    if "name" not in record:
        return Graph(inputs, nodes, outputs)
    scalars, donatable = frozenset(record["scalars"]), frozenset(record["donatable"])
    return Segment(inputs, nodes, outputs, name=record["name"], scalars=scalars, donatable=donatable)


def _value(value: Value) -> list[Any]:
    return [value.id, [_size(d) if isinstance(d, Dim) else d for d in value.spec.shape], value.spec.dtype.value]


def _size(dim: Dim) -> list[Any]:
    return [dim.name, dim.low, dim.high]


def _read_size(size: Any) -> int | Dim:
    return Dim(*size) if isinstance(size, list) else int(size)


def _node(node: Node) -> list[Any]:
    kwargs = {k: _argument(a) for k, a in node.kwargs.items()}
    record = [node.op, [_argument(a) for a in node.args], kwargs, [_value(v) for v in node.outputs]]
    return [*record, _source(node.source), *([] if node.body is None else [_graph(node.body)])]


def _argument(argument: Argument) -> Any:
    if isinstance(argument, Value):
        return {"value": argument.id}
    if isinstance(argument, DType):
        return {"dtype": argument.value}
    if isinstance(argument, tuple):
        return [_argument(a) for a in argument]
    if isinstance(argument, Dim):
        return {"size": _size(argument)}
    if isinstance(argument, complex):
        return {"complex": [_float(argument.real), _float(argument.imag)]}
    return {"float": _float(argument)} if isinstance(argument, float) else argument


def _float(number: float) -> str:
    # float.hex spells every finite double exactly; "nan" and "inf" are its own spellings of the rest.
    return number.hex() if math.isfinite(number) else repr(number)


def _read_argument(record: Any, values: dict[int, Value]) -> Argument:
    if isinstance(record, list):
        return tuple(_read_argument(r, values) for r in record)
    if not isinstance(record, dict):
        return record  # type: ignore[no-any-return]
    kind, content = next(iter(record.items()))
    if kind == "value":
        return values[content]
    if kind == "dtype":
        return DType(content)
    if kind == "size":
        return Dim(*content)
    if kind == "float":
        return float.fromhex(content)
    return complex(float.fromhex(content[0]), float.fromhex(content[1]))


def _source(source: Source | None) -> Any:
    return [source.file, source.line, _source(source.forward)] if source else None


def _read_source(record: Any) -> Source | None:
    return Source(record[0], record[1], _read_source(record[2])) if record else None
