"""The contract's own types: specs and dtypes, the text, the JSON round trip, the verifier."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lazycore_plugin_api import (
    Argument,
    Dim,
    DType,
    Graph,
    HostBuffer,
    HostSession,
    InvalidGraph,
    Node,
    Segment,
    Source,
    TensorSpec,
    Value,
    argument_values,
    from_json,
    to_json,
    to_text,
    verify,
)

F32 = TensorSpec((4,), DType.float32)
SCALAR = TensorSpec((), DType.float32)


def value(identifier: int, spec: TensorSpec = F32) -> Value:
    return Value(identifier, spec)


class TestDTypes:
    @pytest.mark.parametrize("dtype", DType)
    def test_has_a_numpy_counterpart_and_back(self, dtype: DType) -> None:
        assert DType.of(dtype.numpy) is dtype
        assert DType(dtype.value) is dtype
        assert dtype.itemsize == dtype.numpy.itemsize

    def test_short_names_differ(self) -> None:
        assert len({dtype.short for dtype in DType}) == len(DType)

    @pytest.mark.parametrize(
        ("name", "short", "size"),
        [
            ("float32", "f32", 4), ("bfloat16", "bf16", 2), ("float8_e4m3fn", "f8e4m3fn", 1), ("int64", "i64", 8),
            ("uint8", "u8", 1), ("bool", "b1", 1), ("complex128", "c128", 16),
        ],
    )  # fmt: skip
    def test_short_names_and_sizes(self, name: str, short: str, size: int) -> None:
        assert (DType(name).short, DType(name).itemsize) == (short, size)

    def test_kinds_part_the_dtypes(self) -> None:
        for dtype in DType:
            kinds = [dtype.is_floating, dtype.is_integral, dtype.is_complex, dtype is DType.bool]
            assert kinds.count(True) == 1, dtype

    def test_bfloat16_is_ml_dtypes(self) -> None:
        assert DType.of(ml_dtypes.bfloat16) is DType.bfloat16

    def test_a_dtype_without_counterpart_is_a_key_error(self) -> None:
        with pytest.raises(KeyError):
            DType.of("datetime64[s]")


class TestSpecs:
    def test_sizes(self) -> None:
        assert TensorSpec((2, 3), DType.bfloat16).nbytes == 12
        assert TensorSpec((), DType.float64).numel == 1
        assert TensorSpec((2, 0), DType.float64).nbytes == 0

    def test_symbolic_sizes_have_no_number(self) -> None:
        spec = TensorSpec((Dim("n"), 3), DType.float32)
        assert str(spec) == "f32[n,3]"
        for name in ("static_shape", "numel", "nbytes"):
            with pytest.raises(TypeError, match=r"f32\[n,3\] has symbolic dimensions"):
                getattr(spec, name)


class TestHostSession:
    @pytest.mark.parametrize("array", [np.float32(2.5), np.zeros((0, 3)), np.arange(6).reshape(2, 3).T])
    def test_uploads_keep_shape_dtype_and_content_and_are_row_major(self, array: Any) -> None:
        array = np.asarray(array)
        buffer = HostSession().upload(array)
        assert buffer.spec == TensorSpec(array.shape, DType.of(array.dtype))
        assert buffer.to_host().flags.c_contiguous
        np.testing.assert_array_equal(buffer.to_host(), array)

    def test_a_copy_has_memory_of_its_own(self) -> None:
        buffer = HostBuffer(np.zeros(3))
        copy = HostSession().copy(buffer)
        assert not np.shares_memory(copy.to_host(), buffer.to_host())


def example() -> Segment:
    a, b, s = value(0), value(1), value(2, SCALAR)
    total, flags = value(3), value(4, TensorSpec((4,), DType.bool))
    source = Source("train.py", 12, Source("model.py", 3))
    nodes = [
        Node("aten.add.Tensor", (a, b), {"alpha": s}, (total,), source),
        Node("aten.isin.Tensor_Tensor", (total, (a, None)), {"dtype": DType.int64, "mode": "x"}, (flags,)),
    ]
    return Segment((a, b, s), nodes, (flags,), name="s", scalars=frozenset({2}), donatable=frozenset({1}))


class TestText:
    def test_of_a_segment(self) -> None:
        assert to_text(example()) == (
            "s(%0: f32[4], %1: f32[4] donatable, %2: f32[] scalar) {\n"
            "  %3: f32[4] = aten.add.Tensor(%0, %1, alpha=%2)  # train.py:12 (backward of model.py:3)\n"
            "  %4: b1[4] = aten.isin.Tensor_Tensor(%3, [%0, None], dtype=i64, mode='x')\n"
            "  return %4\n"
            "}"
        )

    def test_str_of_a_graph_is_its_text(self) -> None:
        graph = Graph((value(0),), [], (value(0),))
        assert str(graph) == "graph(%0: f32[4]) {\n  return %0\n}"

    def test_constants_are_marked(self) -> None:
        segment = Segment((value(0),), [], (value(0),), constants={0: np.zeros(4)})
        assert "%0: f32[4] constant" in to_text(segment)


class TestNodes:
    def test_inputs_are_found_in_tuples_and_repeated(self) -> None:
        a, b = value(0), value(1)
        node = Node("aten.cat.default", ((a, (b, a)), 0), {"other": b}, (value(2),))
        assert list(node.inputs()) == [a, b, a, b]
        assert node.base == "aten.cat"
        assert list(argument_values("text")) == []

    def test_sources_of_a_segment_come_once_each(self) -> None:
        segment = example()
        segment.nodes.append(Node("aten.neg.default", (value(3),), {}, (value(9),), segment.nodes[0].source))
        assert segment.sources() == [Source("train.py", 12, Source("model.py", 3))]


sizes = st.integers(0, 5) | st.builds(Dim, st.sampled_from("nm"), st.integers(0, 3), st.none() | st.integers(3, 9))
specs = st.builds(TensorSpec, st.lists(sizes, max_size=3).map(tuple), st.sampled_from(DType))
names = st.text(st.characters(exclude_characters=".", exclude_categories=("Cs",)), min_size=1, max_size=4)
ops = st.tuples(names, names, names).map(".".join)
sources = st.recursive(
    st.none(),
    lambda inner: st.builds(Source, st.text(st.characters(exclude_categories=("Cs",))), st.integers(0), inner),
    max_leaves=2,
)
literals: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers(allow_nan=True),
    st.text(st.characters(exclude_categories=("Cs",))), st.sampled_from(DType),
)  # fmt: skip


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Any valid graph or segment, with arguments of every kind."""
    fresh = iter(draw(st.permutations(range(40))))
    inputs = tuple(Value(next(fresh), draw(specs)) for _ in range(draw(st.integers(1, 3))))
    known, nodes = list(inputs), []
    for _ in range(draw(st.integers(0, 4))):
        arguments = st.recursive(
            literals | st.sampled_from(known), lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4
        )
        args = tuple(draw(st.lists(arguments, max_size=3)))
        outputs = tuple(Value(next(fresh), draw(specs)) for _ in range(draw(st.integers(1, 2))))
        kwargs = draw(st.dictionaries(names, arguments, max_size=2))
        nodes.append(Node(draw(ops), args, kwargs, outputs, draw(sources)))
        known += outputs
    outputs = tuple(draw(st.lists(st.sampled_from(known), max_size=3)))
    if draw(st.booleans()):
        return Graph(inputs, nodes, outputs)
    scalars = frozenset(i for i, v in enumerate(inputs) if v.spec.shape == () and draw(st.booleans()))
    donatable = frozenset(i for i in range(len(inputs)) if i not in scalars and draw(st.booleans()))
    return Segment(inputs, nodes, outputs, name=draw(names), scalars=scalars, donatable=donatable)


def bits(argument: Argument) -> Any:
    """Something that is equal for two arguments exactly if they are the same in type and bits."""
    if isinstance(argument, tuple):
        return tuple(map(bits, argument))
    if isinstance(argument, complex):
        return complex, bits(argument.real), bits(argument.imag)
    if isinstance(argument, float):
        # One NaN is as good as another.
        return float, "nan" if math.isnan(argument) else struct.pack("<d", argument)
    return type(argument), argument


def content(graph: Graph) -> Any:
    nodes = [(n.op, bits(n.args), {k: bits(a) for k, a in n.kwargs.items()}, n.outputs, n.source) for n in graph.nodes]
    marks = (graph.name, graph.scalars, graph.donatable) if isinstance(graph, Segment) else ()
    return type(graph), graph.inputs, nodes, graph.outputs, marks


class TestJson:
    @given(graphs())
    def test_reads_back_exactly(self, graph: Graph) -> None:
        verify(graph)
        text = to_json(graph)
        again = from_json(text)
        assert content(again) == content(graph)
        assert to_json(again) == text
        verify(again)

    @given(graphs())
    def test_every_graph_has_a_text_with_all_its_nodes(self, graph: Graph) -> None:
        text = to_text(graph)
        assert all(f" = {node.op}(" in text for node in graph.nodes)

    def test_is_plain_json(self) -> None:
        json.loads(to_json(example()), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))

    @pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"format":1}', to_json(example())[:-9]])
    def test_refuses_what_is_no_graph(self, text: str) -> None:
        with pytest.raises(InvalidGraph, match="not a serialized graph"):
            from_json(text)

    def test_refuses_another_format(self) -> None:
        with pytest.raises(InvalidGraph, match="graph format 99; this version reads 1"):
            from_json(to_json(example()).replace('"format":1', '"format":99'))


def graph_of(node: Node, outputs: tuple[Value, ...] = ()) -> Graph:
    return Graph((value(0),), [node], outputs)


def neg(operand: Any = None, output: Value | None = None, **kwargs: Any) -> Node:
    operand = value(0) if operand is None else operand
    return Node("aten.neg.default", (operand,), kwargs, (output or value(1),))


def with_size(size: Any) -> Graph:
    return graph_of(neg(output=value(1, TensorSpec((size,), DType.float32))))


BROKEN = {
    "the input twice": (Graph((value(0), value(0)), [], ()), "%0 is written twice (second time by input)"),
    "an input overwritten": (graph_of(neg(output=value(0))), "%0 is written twice (second time by %0: f32[4] = "),
    "a read of nothing": (graph_of(neg(value(7))), "%7 is read by %1: f32[4] = aten.neg.default(%7) before"),
    "a read of itself": (graph_of(neg(value(1))), "%1 is read by "),
    "a read in a tuple": (graph_of(neg((1, (value(7),)))), "%7 is read by "),
    "a read in a keyword": (graph_of(neg(key=value(7))), "%7 is read by "),
    "another spec": (graph_of(neg(value(0, SCALAR))), "%0 is f32[4] where written and f32[] in %1: f32[4] = aten.neg"),
    "an unknown output": (graph_of(neg(), (value(7),)), "%7 is read by the graph's outputs before"),
    "an output of another spec": (graph_of(neg(), (value(1, SCALAR),)), "%1 is f32[4] where written and f32[] in the"),
    "an op without overload": (graph_of(Node("aten.neg", (), {}, (value(1),))), "'aten.neg' is no namespace.name.over"),
    "an op with an empty part": (graph_of(Node("aten..x", (), {}, (value(1),))), "'aten..x' is no namespace.name.over"),
    "a node without outputs": (graph_of(Node("aten.neg.default", ())), "nothing is written by "),
    "a list": (graph_of(neg([1])), "[1] is no IR argument"),
    "an array": (graph_of(neg(key=np.float32(1))), "np.float32(1.0) is no IR argument"),
    "a negative size": (with_size(-1), "%1 has the impossible size -1"),
    "a size that is a bool": (with_size(True), "%1 has the impossible size True"),
    "a size that is a float": (with_size(1.0), "%1 has the impossible size 1.0"),
    "a foreign dtype": (Graph((value(0, TensorSpec((), "f4")),), [], ()), "%0 has dtype 'f4', which is"),  # type: ignore[arg-type]
    "a mark beyond the inputs": (Segment((value(0),), [], (), donatable=frozenset({1})), "donatable of segment names"),
    "a scalar of rank 1": (
        Segment((value(0),), [], (), scalars=frozenset({0})),
        "scalar input 0 of segment is not",
    ),
    "a donated scalar": (
        Segment((value(0, SCALAR),), [], (), scalars=frozenset({0}), donatable=frozenset({0})),
        "segment would donate a scalar",
    ),
}


class TestVerifier:
    def test_accepts_the_example(self) -> None:
        verify(example())

    @pytest.mark.parametrize("case", BROKEN)
    def test_refuses(self, case: str) -> None:
        graph, message = BROKEN[case]
        with pytest.raises(InvalidGraph) as caught:
            verify(graph)
        assert message in str(caught.value)
