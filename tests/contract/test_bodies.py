"""Composite nodes in the IR: their text, their JSON, and the rules they keep."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from lazycore_plugin_api import (
    DType,
    Graph,
    InvalidGraph,
    Node,
    Segment,
    Source,
    TensorSpec,
    Value,
    from_json,
    to_json,
    to_text,
    verify,
)  # fmt: skip

F32 = TensorSpec((4,), DType.float32)
X, Y, N, Z = (Value(i, F32) for i in range(4))


def composite(body: Graph | None = None) -> Node:
    inner = [Node("aten.neg.default", (X,), {}, (N,)), Node("aten.mul.Tensor", (N, Y), {}, (Z,))]
    body = body or Graph((Y, X), inner, (Z,))
    return Node("v.neg_mul.composite", (Y,), {"x": X, "c": 2.0}, (Z,), Source("train.py", 3), body)


def graph(node: Node) -> Graph:
    return Graph((X, Y), [node], (Z,))


def test_the_body_is_indented_under_its_node() -> None:
    assert to_text(graph(composite())) == (
        "graph(%0: f32[4], %1: f32[4]) {\n"
        "  %3: f32[4] = v.neg_mul.composite(%1, x=%0, c=2.0)  # train.py:3\n"
        "    body(%1: f32[4], %0: f32[4]) {\n"
        "      %2: f32[4] = aten.neg.default(%0)\n"
        "      %3: f32[4] = aten.mul.Tensor(%2, %1)\n"
        "      return %3\n"
        "    }\n"
        "  return %3\n"
        "}"
    )


def test_json_keeps_the_body() -> None:
    text = to_json(graph(composite()))
    again = from_json(text)
    verify(again)
    assert to_json(again) == text
    assert to_text(again) == to_text(graph(composite()))


BROKEN = {
    "no body": (replace(composite(), body=None), "no body has the composite"),
    "a body on an op": (replace(composite(), op="aten.x.default"), "a body belongs to the composite"),
    "too few inputs": (composite(Graph((Y,), [], (Y,))), r"the body's inputs \(f32\[4\]\) do not fit"),
    "another output": (composite(Graph((Y, X), [], ())), r"the body's outputs \(\) do not fit"),
    "an invalid body": (composite(Graph((Y, X), [], (Z,))), r"the body of .* is invalid: %3 is read by the graph's"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_the_verifier_refuses(fault: str) -> None:
    node, message = BROKEN[fault]
    with pytest.raises(InvalidGraph, match=message):
        verify(graph(node))


def test_constants_must_be_the_last_inputs() -> None:
    segment = Segment((X, Y), [], (X,), constants={1: np.zeros(4, np.float32)})
    verify(segment)
    assert segment.arguments == (X,)
    with pytest.raises(InvalidGraph, match=r"the constants of segment are inputs \[0\], not the last ones"):
        verify(replace(segment, constants={0: np.zeros(4, np.float32)}))
