"""Sizes that vary: each lowering that takes them, with symbols wherever its samples' inputs have a size."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
from lazycore_plugin_api import (
    Dim,
    DType,
    Node,
    Rejected,
    Segment,
    Supported,
    TensorSpec,
    Value,
    is_dynamic,
    node_text,
    specialized,
    symbol_places,
    to_text,
    verify,
)
from lowering.backends import Backend
from lowering.case import Case
from lowering.cases import ALL
from lowering.compare import check_spec, check_values
from lowering.required import is_asked
from lowering.segments import SegmentBuilder

from lazycore.conformance.fuzz.graphs import built, chosen_at_random
from lazycore.conformance.fuzz.menus import exact_menu

tvm_any_size = pytest.importorskip("lazycore_tvm.any_size")
OPS = [op for op in dict.fromkeys(case.op for case in ALL) if op in tvm_any_size.ANY_SIZE and is_asked("tvm", op)]

# The device's tests have these beside an input of that size.
NO_INPUT = ("aten.scalar_tensor.default", "aten.full.default", "aten.arange.start_step", "aten.eye.m",
            "lazycore.philox.default")  # fmt: skip


def general(segment: Segment, arguments: bool) -> Segment:
    """The segment with a symbol for each number from 2 on that is the size of an input, in shapes and, where
    ``arguments`` vary too, in lists of numbers."""
    sizes = {size for value in segment.arguments for size in value.spec.shape if isinstance(size, int) and size > 1}
    shapes = {size: Dim(f"s{i}", 2) for i, size in enumerate(sorted(sizes))}
    values: dict[int, Value] = {}

    def renewed(value: Value) -> Value:
        shape = tuple(shapes.get(size, size) for size in value.spec.shape)  # type: ignore[arg-type]
        return values.setdefault(value.id, Value(value.id, TensorSpec(shape, value.spec.dtype)))

    def argument(old: object, listed: bool = False) -> object:
        if isinstance(old, tuple):
            return tuple(argument(item, True) for item in old)
        if isinstance(old, Value):
            return values[old.id]
        return shapes.get(old, old) if listed and arguments and type(old) is int else old

    inputs = tuple(map(renewed, segment.inputs))
    nodes = []
    for node in segment.nodes:
        args = tuple(map(argument, node.args))
        kwargs = {name: argument(old) for name, old in node.kwargs.items()}
        nodes.append(replace(node, args=args, kwargs=kwargs, outputs=tuple(map(renewed, node.outputs))))
    return replace(segment, inputs=inputs, nodes=nodes, outputs=tuple(values[v.id] for v in segment.outputs))


def check(case: Case, tvm: Backend) -> bool:
    """Whether the backend takes the case with symbols; if so, it must be right."""
    builder = SegmentBuilder()
    node = builder.add(case, False)
    if isinstance(tvm.supports(node), Rejected):
        return False
    static, arrays = builder.segment(), builder.arrays
    segment = general(static, node.op in tvm_any_size.SIZE_ARGUMENTS)
    if not is_dynamic(segment):
        return False
    verify(segment)
    assert isinstance(tvm.supports(segment.nodes[0]), Supported), node_text(segment.nodes[0])
    results = list(tvm.compile(segment).run(tvm.bind(segment, arrays)))
    for i, (buffer, value, expected) in enumerate(zip(results, node.outputs, case.expected(), strict=True)):
        where = f"output {i} of {node_text(segment.nodes[0])} for {case.args} {case.kwargs}:"
        check_spec(buffer, value.spec, where)
        if expected is not None and i not in case.shape_only:
            check_values(buffer.to_host(), expected, case.tolerance, where)
    return True


@pytest.mark.parametrize("op", OPS)
def test_op(tvm: Backend, op: str) -> None:
    """One sample of each rank and dtype of the first operand: what differs beyond is no question of sizes."""
    samples = {(str(case.args[:1])[:40], len(str(case.args))): case for case in ALL if case.op == op}
    chosen = list(samples.values())[:: max(len(samples) // 3, 1)]
    taken = [check(case, tvm) for case in chosen]
    if not any(taken):
        taken = [check(case, tvm) for case in samples.values()]
    assert any(taken) or op in NO_INPUT, "no sample has a size that could vary"


def test_every_listed_op_has_a_lowering_and_a_case() -> None:
    registry = pytest.importorskip("lazycore_tvm.registry")
    pytest.importorskip("lazycore_tvm.lowerings")
    listed = tvm_any_size.ANY_SIZE
    assert listed <= registry.TABLE.keys()
    assert {op for op in listed if op.startswith("aten.")} <= {case.op for case in ALL}


@pytest.mark.parametrize("dtype", [DType.float32, DType.bfloat16, DType.int64])
@pytest.mark.parametrize("seed", range(4))
def test_random_graphs_fused(tvm: Backend, reference: Backend, dtype: DType, seed: int) -> None:
    graph = built(chosen_at_random(seed, 14), exact_menu(dtype), seed)
    segment = general(graph.segment, False)
    taken = all(isinstance(tvm.supports(node), Supported) for node in segment.nodes)
    if not taken or not is_dynamic(segment):
        pytest.skip("an op of this graph takes no sizes that vary")
    assert to_text(specialized(segment, values(segment, graph.arrays))) == to_text(graph.segment)
    results = tvm.compile(segment).run(tvm.bind(segment, graph.arrays))
    expected = reference.compile(graph.segment).run(reference.bind(graph.segment, graph.arrays))
    for actual, right in zip(results, expected, strict=True):
        np.testing.assert_array_equal(
            actual.to_host().astype(np.float64), right.to_host().astype(np.float64), err_msg=str(segment)
        )


def values(segment: Segment, arrays: list[np.ndarray]) -> dict[str, int]:
    return {name: arrays[place].shape[dim] for name, (place, dim) in symbol_places(segment).items()}


def test_an_op_that_is_not_listed_is_refused_with_a_symbol(tvm: Backend) -> None:
    x = Value(0, TensorSpec((Dim("s0", 2), 3), DType.float32))
    y = Value(1, TensorSpec((Dim("s0", 2), 3), DType.float32))
    decision = tvm.supports(
        Node("aten.max_pool2d_with_indices.default", (x, (2, 2), (), (0, 0), (1, 1), False), {}, (y, y))
    )
    assert isinstance(decision, Rejected)
    assert decision.reason == "the lowering of aten.max_pool2d_with_indices.default takes no sizes that vary"
    decision = tvm.supports(
        Node("aten.select.int", (x, Dim("s0", 2), 1), {}, (Value(1, TensorSpec((3,), DType.float32)),))
    )
    assert isinstance(decision, Rejected)
    assert decision.code == "attribute"


def test_one_program_at_many_sizes(tvm: Backend) -> None:
    n = Dim("s0", 2)
    x, y = Value(0, TensorSpec((n, 40), DType.float32)), Value(1, TensorSpec((n, 40), DType.float32))
    flat = Value(2, TensorSpec((40 * n,), DType.float32))
    total = Value(3, TensorSpec((1,), DType.float32))
    nodes = [
        Node("aten._softmax.default", (x, 0, False), {}, (y,)),
        Node("aten.view.default", (y, (40 * n,)), {}, (flat,)),
        Node("aten.sum.dim_IntList", (flat, (0,), True), {"dtype": None}, (total,)),
    ]
    segment = Segment((x,), nodes, (total, flat), name="segment0")
    verify(segment)
    program = tvm.compile(segment)
    for size in (2, 3, 31, 32, 33, 1000, 3):
        total_of, all_of = program.run(
            tvm.bind(segment, [np.linspace(-9, 9, size * 40, dtype=np.float32).reshape(size, 40)])
        )
        assert all_of.to_host().shape == (size * 40,)
        np.testing.assert_allclose(total_of.to_host(), [40], rtol=1e-6)


@pytest.mark.skipif(not any(map(shutil.which, ("g++", "gcc", "clang++", "clang", "c++", "cc"))), reason="nothing links")
def test_a_stored_program_serves_all_sizes(tvm: Backend) -> None:
    n = Dim("s0", 2)
    x, y = Value(0, TensorSpec((n, 8), DType.float32)), Value(1, TensorSpec((8, n), DType.float32))
    products = Value(2, TensorSpec((n, n), DType.float32)), Value(3, TensorSpec((n,), DType.float32))
    nodes = [
        Node("aten.permute.default", (x, (1, 0)), {}, (y,)),
        Node("aten.mm.default", (x, y), {}, products[:1]),
        Node("aten.amax.default", (products[0], (1,), False), {}, products[1:]),
    ]
    segment = Segment((x,), nodes, products[1:], name="segment0")
    payload = tvm.compile(segment).serialize()
    assert payload is not None
    program = pytest.importorskip("lazycore_tvm.executable").load_executable(payload)
    for size in (2, 5, 70):
        array = np.arange(size * 8, dtype=np.float32).reshape(size, 8) % 5
        (result,) = program.run(tvm.bind(segment, [array]))
        np.testing.assert_array_equal(result.to_host(), (array @ array.T).max(1))
