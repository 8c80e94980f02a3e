"""Text and JSON of random valid graphs, composites and all: each form reads back as what was written."""

from __future__ import annotations

import json
import math
import re
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lazycore_plugin_api import (
    Argument,
    Dim,
    DType,
    Graph,
    InvalidGraph,
    Node,
    Segment,
    Source,
    TensorSpec,
    Value,
    from_json,
    from_text,
    to_json,
    to_text,
    verify,
)

PAGE = (Path(__file__).parents[2] / "docs" / "ir.md").read_text()
SCHEMA = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])
EXAMPLE = re.findall(r"```text\n(segment0.*?)```", PAGE, re.DOTALL)[0].rstrip()

identifiers = st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True)
products = st.builds("{}*{}*{}{:+}".format, st.integers(2, 9), identifiers, identifiers, st.integers(-3, 3))
dims = st.builds(Dim, identifiers | products, st.integers(0, 3), st.none() | st.integers(3, 9))
specs = st.builds(TensorSpec, st.lists(st.integers(0, 70) | dims, max_size=3).map(tuple), st.sampled_from(DType))
ops = st.tuples(st.just("test"), identifiers, identifiers).map(".".join)
files = st.from_regex(r"[\w./ -]{0,8}\w\.py", fullmatch=True)
sources = st.none() | st.builds(Source, files, st.integers(0, 99), st.none() | st.builds(Source, files, st.integers(0)))
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=9)
literals: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers(allow_nan=True), texts,
    st.sampled_from(DType),
)  # fmt: skip


def arguments(known: list[Value]) -> st.SearchStrategy[Any]:
    leaves = literals | st.sampled_from(known) if known else literals
    sizes = [size for value in known for size in value.spec.shape if isinstance(size, Dim)]
    if sizes:
        leaves |= st.sampled_from(sizes) | st.sampled_from(sizes).map(lambda size: 2 * size + 1)
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)


@st.composite
def blocks(draw: st.DrawFn, inputs: tuple[TensorSpec, ...] | None = None, depth: int = 0) -> Graph:
    """A valid graph; ``inputs``: the specs that its inputs must have."""
    fresh = iter(draw(st.permutations(range(60))))
    wanted = inputs if inputs is not None else tuple(draw(st.lists(specs, max_size=3)))
    known = [Value(next(fresh), spec) for spec in wanted]
    begin, nodes = tuple(known), []
    for _ in range(draw(st.integers(0, 3))):
        args = tuple(draw(st.lists(arguments(known), max_size=3)))
        kwargs = draw(st.dictionaries(identifiers, arguments(known), max_size=2))
        node = Node(draw(ops), args, kwargs, (), draw(sources))
        outputs = tuple(draw(st.lists(specs, min_size=1, max_size=2)))
        if depth == 0 and draw(st.booleans()):
            body = draw(blocks(tuple(value.spec for value in node.inputs()), depth + 1))
            values = [*body.inputs, *(v for n in body.nodes for v in n.outputs)]
            if values:
                body = replace(body, outputs=tuple(draw(st.lists(st.sampled_from(values), min_size=1, max_size=2))))
                outputs = tuple(value.spec for value in body.outputs)
                node = replace(node, op=f"test.{draw(identifiers)}.composite", body=body)
        node = replace(node, outputs=tuple(Value(next(fresh), spec) for spec in outputs))
        nodes.append(node)
        known += node.outputs
    return Graph(begin, nodes, tuple(draw(st.lists(st.sampled_from(known), max_size=3))) if known else ())


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A valid graph or segment."""
    graph = draw(blocks())
    if draw(st.booleans()):
        return graph
    flat = [p for p, value in enumerate(graph.inputs) if value.spec.shape == ()]
    scalars = frozenset(p for p in flat if draw(st.booleans()))
    donatable = frozenset(p for p in range(len(graph.inputs)) if p not in scalars and draw(st.booleans()))
    name = draw(identifiers.filter(lambda name: name != "graph"))
    return Segment(graph.inputs, graph.nodes, graph.outputs, name=name, scalars=scalars, donatable=donatable)


def _argument(argument: Argument) -> Any:
    """Equal for two arguments exactly if they are the same in type and bits; one NaN is as good as another."""
    if isinstance(argument, tuple):
        return tuple(map(_argument, argument))
    if isinstance(argument, complex):
        return complex, _argument(argument.real), _argument(argument.imag)
    if isinstance(argument, float):
        return float, "nan" if math.isnan(argument) else struct.pack("<d", argument)
    if isinstance(argument, Value):
        return _value(argument)
    return type(argument), argument


def _value(value: Value) -> Any:
    return value.id, value.spec.dtype, value.spec.shape


def content(graph: Graph) -> Any:
    """Everything in a graph, comparable."""
    marks = (graph.name, graph.scalars, graph.donatable) if isinstance(graph, Segment) else ()
    nodes = [
        (
            n.op, _argument(n.args), {k: _argument(a) for k, a in n.kwargs.items()}, tuple(map(_value, n.outputs)),
            n.source, n.body and content(n.body),
        )
        for n in graph.nodes
    ]  # fmt: skip
    return type(graph), tuple(map(_value, graph.inputs)), nodes, tuple(map(_value, graph.outputs)), marks


def unbounded(graph: Graph) -> Graph:
    """The graph as its text knows it: symbolic sizes without bounds."""
    text = re.sub(r'\["([\w*+-]+)",\d+,(?:\d+|null)\]', r'["\1",0,null]', to_json(graph))
    return from_json(text)


@settings(max_examples=50)
@given(graphs())
def test_text_reads_back(graph: Graph) -> None:
    verify(graph)
    text = to_text(graph)
    again = from_text(text)
    verify(again)
    assert to_text(again) == text
    assert content(again) == content(unbounded(graph))


@settings(max_examples=50)
@given(graphs())
def test_json_reads_back_and_follows_the_schema(graph: Graph) -> None:
    text = to_json(graph)
    assert text.isascii()
    check(json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON")), SCHEMA)
    again = from_json(text)
    verify(again)
    assert content(again) == content(graph)
    assert to_json(again) == text


@settings(max_examples=50)
@given(graphs())
def test_white_space_means_nothing(graph: Graph) -> None:
    lines = [line.strip() for line in to_text(graph).split("\n")]
    loose = "\n\n".join(re.sub(r"^(%[^']*?) = ", r"  \1   =  ", line) for line in lines)
    assert to_text(from_text(loose)) == to_text(graph)


def test_the_page_s_example_is_what_it_says() -> None:
    graph = from_text(EXAMPLE)
    verify(graph)
    assert to_text(graph) == EXAMPLE
    assert isinstance(graph, Segment)
    assert (graph.name, graph.scalars, graph.donatable) == ("segment0", {1}, {2})
    assert graph.nodes[1].body is not None
    assert graph.nodes[2].source == Source("train.py", 13, Source("model.py", 9))


def test_the_page_lists_the_dtypes() -> None:
    (listed,) = re.findall(r"Dtypes are `([^`]*)`", PAGE)
    assert set(listed.split()) == {dtype.short for dtype in DType}
    assert set(SCHEMA["$defs"]["dtype"]["enum"]) == {dtype.value for dtype in DType}


def test_constants_come_back_as_ordinary_inputs() -> None:
    x = Value(0, TensorSpec((2,), DType.float32))
    segment = Segment((x,), [], (x,), constants={0: np.zeros(2, np.float32)})
    for again in (from_text(to_text(segment)), from_json(to_json(segment))):
        assert isinstance(again, Segment)
        assert again.constants == {}
        assert again.inputs == (x,)


LINE = "graph(%0: f32[2]) {{\n  {}\n  return %1\n}}"

WRONG = {
    "": "it ends in line 1, before its closing brace",
    "graph(%0: f32[2]) {\n  return %0": "it ends in line 2, before",
    "graph(%0: f32[2]) {\n  return %0\n}\n\nmore": "line 5, column 1: nothing behind the closing brace",
    "graph(%0: f99[2]) {\n  return %0\n}": "line 1, column 14: one of the dtypes f64, ",
    "graph(%0 f32[2]) {\n  return %0\n}": "line 1, column 10: ':' is expected and not 'f32[2]) {'",
    "graph(%0: f32[-1]) {\n  return %0\n}": "line 1, column 15: a size",
    "graph(%0: f32[2] shared) {\n  return %0\n}": "line 1, column 18: ')'",
    "graph(%0: f32[2]) {\n  return %9\n}": "line 2, column 10: a value that is written before is expected and not '%9'",
    LINE.format("%1: f32[2] aten.neg.default(%0)"): "line 2, column 14: '='",
    LINE.format("%1: f32[2] = aten.neg.default(%1)"): "column 33: a value that is written before",
    LINE.format("%1: f32[2] = aten.neg.default(what)"): "column 33: a value, a literal or a list",
    LINE.format("%1: f32[2] = aten.neg.default(a=1, 2)"): "column 38: a keyword argument",
    LINE.format("%1: f32[2] = aten.neg.default('x)"): "column 33: a value, a literal or a list",
    LINE.format("%1: f32[2] = aten.neg.default(%0) # here"): "column 39: a line such as train.py:12",
    LINE.format("%1: f32[2] = aten.neg.default(%0) extra"): "column 37: '#'",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_text_that_is_none_is_told_with_its_place(text: str) -> None:
    with pytest.raises(InvalidGraph) as caught:
        from_text(text)
    assert WRONG[text] in str(caught.value)


@settings(max_examples=50)
@given(graphs(), st.data())
def test_a_changed_text_is_another_graph_or_an_invalid_one(graph: Graph, data: st.DataObject) -> None:
    """Never another exception, and never an endless loop."""
    text = to_text(graph)
    position = data.draw(st.integers(0, len(text) - 1))
    changed = (
        text[:position]
        + data.draw(st.sampled_from(["", "%", "(", "]", "'", "\n", "7", "j", "#"]))
        + text[position + 1 :]
    )
    try:
        from_text(changed)
    except InvalidGraph as error:
        assert "line" in str(error)  # noqa: PT017


def check(item: Any, schema: dict[str, Any]) -> None:
    """What of JSON Schema the page uses; raises AssertionError where the item does not follow the schema."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    if "anyOf" in schema:
        assert any(_follows(item, choice) for choice in schema["anyOf"]), item
    if "type" in schema:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        assert any(KINDS[kind](item) for kind in kinds), (item, kinds)
    assert "const" not in schema or item == schema["const"]
    assert "enum" not in schema or item in schema["enum"], item
    assert "minimum" not in schema or item >= schema["minimum"]
    assert "pattern" not in schema or re.search(schema["pattern"], item), item
    if isinstance(item, list):
        assert schema.get("minItems", 0) <= len(item) <= schema.get("maxItems", len(item))
        first = schema.get("prefixItems", [])
        for position, part in enumerate(item):
            check(part, first[position] if position < len(first) else schema.get("items", {}))
    if isinstance(item, dict):
        assert schema.get("minProperties", 0) <= len(item) <= schema.get("maxProperties", len(item))
        assert set(schema.get("required", ())) <= set(item)
        for name, needed in schema.get("dependentRequired", {}).items():
            assert name not in item or set(needed) <= set(item)
        others = schema.get("additionalProperties", True)
        for name, part in item.items():
            known = schema.get("properties", {}).get(name, others)
            assert known is not False, name
            check(part, {} if known is True else known)


KINDS = {
    "null": lambda item: item is None,
    "boolean": lambda item: isinstance(item, bool),
    "integer": lambda item: isinstance(item, int) and not isinstance(item, bool),
    "string": lambda item: isinstance(item, str),
    "array": lambda item: isinstance(item, list),
    "object": lambda item: isinstance(item, dict),
}


def _follows(item: Any, schema: dict[str, Any]) -> bool:
    try:
        check(item, schema)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2}, {"more": 1}, {"outputs": [-1]}, {"name": "x"},
        {"inputs": [[0, [1.5], "float32"]]}, {"inputs": [[0, [], "f32"]]},
        {"nodes": [["a.b.c", [{"float": "1.0"}], {}, [], None]]}, {"nodes": [["a.b.c", [], {}, []]]},
    ],
)  # fmt: skip
def test_the_schema_refuses_what_is_no_graph(change: dict[str, Any]) -> None:
    record = {"format": 1, "inputs": [], "nodes": [], "outputs": []}
    check(record, SCHEMA)
    assert not _follows(record | change, SCHEMA)
