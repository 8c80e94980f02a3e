"""The cost that a backend is told before it accepts a segment."""

from __future__ import annotations

from lazycore_plugin_api import Dim, DType, Estimate, Graph, Segment, TensorSpec, Value
from plan_fakes.builder import Builder

from lazycore.compiler.estimate import estimate


def _spec(*shape: int | Dim) -> TensorSpec:
    return TensorSpec(shape, DType.float32)


def _segment(graph: Graph) -> Segment:
    return Segment(graph.inputs, graph.nodes, graph.outputs)


def _one(op: str, out: tuple[int, ...], *shapes: tuple[int, ...]) -> int:
    b = Builder()
    operands: list[Value] = [b.input(_spec(*shape)) for shape in shapes]
    return estimate(_segment(b.graph(b.op(op, *operands, spec=_spec(*out)))), frozenset()).flops


def test_products() -> None:
    assert _one("aten.mm.default", (2, 5), (2, 3), (3, 5)) == 2 * 2 * 3 * 5
    assert _one("aten.addmm.default", (2, 5), (5,), (2, 3), (3, 5)) == 2 * 2 * 3 * 5
    assert _one("aten.bmm.default", (7, 2, 5), (7, 2, 3), (7, 3, 5)) == 7 * 2 * 2 * 3 * 5


def test_convolutions() -> None:
    x, weight, out = (1, 3, 8, 8), (4, 3, 3, 3), (1, 4, 6, 6)
    forward = _one("aten.convolution.default", out, x, weight)
    assert forward == 2 * (4 * 6 * 6) * (3 * 3 * 3)
    assert _one("aten.convolution_backward.default", x, out, x, weight) == 2 * forward


def test_a_reduction_costs_what_it_reads() -> None:
    assert _one("aten.sum.default", (), (10, 10)) == 100


def test_bytes_and_crossings() -> None:
    b = Builder()
    x, y = b.input(_spec(4)), b.input(_spec(4))
    z = b.op("aten.mul.Tensor", x, y, spec=_spec(4))
    segment = _segment(b.graph(z))
    expected = Estimate(flops=4, bytes_in=32, bytes_out=16, crossings=2, crossing_bytes=32)
    assert estimate(segment, frozenset({x.id, z.id})) == expected


def test_a_symbolic_size_counts_as_its_lower_bound() -> None:
    b = Builder()
    spec = _spec(Dim("n", 5), 2)
    segment = _segment(b.graph(b.op("aten.neg.default", b.input(spec), spec=spec)))
    assert estimate(segment, frozenset()).bytes_in == 40
