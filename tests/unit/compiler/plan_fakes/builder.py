"""Graphs, written op by op."""

from __future__ import annotations

from lazycore_plugin_api import Argument, DType, Graph, Node, Source, TensorSpec, Value

VECTOR = TensorSpec((3,), DType.float64)
NUMBER = TensorSpec((), DType.float64)
INDICES = TensorSpec((3,), DType.int64)


class Builder:
    """Hands out value ids and source lines in order."""

    def __init__(self) -> None:
        self.inputs: list[Value] = []
        self.nodes: list[Node] = []
        self.ids = 0

    def value(self, spec: TensorSpec) -> Value:
        self.ids += 1
        return Value(self.ids - 1, spec)

    def input(self, spec: TensorSpec = VECTOR) -> Value:
        self.inputs.append(self.value(spec))
        return self.inputs[-1]

    def ops(self, op: str, *args: Argument, specs: tuple[TensorSpec, ...], **kwargs: Argument) -> tuple[Value, ...]:
        outputs = tuple(self.value(spec) for spec in specs)
        self.nodes.append(Node(op, args, kwargs, outputs, Source("train.py", len(self.nodes) + 1)))
        return outputs

    def op(self, op: str, *args: Argument, spec: TensorSpec = VECTOR, **kwargs: Argument) -> Value:
        return self.ops(op, *args, specs=(spec,), **kwargs)[0]

    def add(self, x: Value, y: Value) -> Value:
        return self.op("aten.add.Tensor", x, y, alpha=1)

    def mul(self, x: Value, y: Value) -> Value:
        return self.op("aten.mul.Tensor", x, y)

    def neg(self, x: Value) -> Value:
        return self.op("aten.neg.default", x)

    def relu(self, x: Value) -> Value:
        return self.op("aten.relu.default", x)

    def square(self, x: Value) -> Value:
        return self.op("aten.square.default", x)

    def sort(self, x: Value) -> tuple[Value, ...]:
        return self.ops("aten.sort.default", x, -1, False, specs=(VECTOR, INDICES))

    def graph(self, *outputs: Value) -> Graph:
        return Graph(tuple(self.inputs), self.nodes, outputs)


def square_as_mul(node: Node) -> Graph | None:
    """A ``Decompose`` that knows one op."""
    if node.op != "aten.square.default":
        return None
    b = Builder()
    x = b.input()
    return b.graph(b.mul(x, x))


def never(_node: Node) -> Graph | None:
    """A ``Decompose`` that knows none."""
    return None
