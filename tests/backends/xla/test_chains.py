"""Long programs in which one thing is used for several others do not become repetition when they are compiled."""

from __future__ import annotations

import random
from itertools import pairwise

import jax
import jax.numpy as jnp
import lazycore_xla.lowerings  # noqa: F401  (fills the table)
import numpy as np
from lazycore_plugin_api import DType, Node, Segment, TensorSpec, Value
from lazycore_xla.chains import LONGEST, Chains
from lazycore_xla.configuration import own_configuration
from lazycore_xla.emit import emit

SPEC = TensorSpec((64, 64), DType.float32)
BINARY = ("aten.mul.Tensor", "aten.add.Tensor", "aten.sub.Tensor", "aten.maximum.default")
UNARY = ("aten.relu.default", "aten.tanh.default", "aten.sigmoid.default")


def _tangle(ops: int, window: int = 30) -> Segment:
    """Each op reads one or two of the latest results."""
    drawn = random.Random(0)
    values, nodes = [Value(i, SPEC) for i in range(8)], []
    for number in range(8, 8 + ops):
        op = drawn.choice((*BINARY, *UNARY))
        operands = tuple(drawn.choice(values[-window:]) for _ in range(1 + (op in BINARY)))
        values.append(Value(number, SPEC))
        nodes.append(Node(op, operands, {}, (values[-1],), None))
    return Segment(tuple(values[:8]), nodes, tuple(values[-8:]))


def _chain(op: str, ops: int) -> list[Node]:
    values = [Value(i, SPEC) for i in range(ops + 1)]
    return [Node(op, (a,) if op in UNARY else (a, a), {}, (b,), None) for a, b in pairwise(values)]


def _compiled(segment: Segment, on_cpu: bool) -> jax.stages.Compiled:
    shapes = [jax.ShapeDtypeStruct(v.spec.static_shape, v.spec.dtype.numpy) for v in segment.arguments]
    with own_configuration():  # how good the machine code is makes no difference here
        return jax.jit(emit(segment, on_cpu)).lower(*shapes).compile({"xla_backend_optimization_level": 0})


def _instructions(compiled: jax.stages.Compiled) -> int:
    return sum(" = " in line for line in compiled.as_text().splitlines())


def test_the_code_grows_with_the_program() -> None:
    """Twice the ops are about twice the instructions; left whole, they are three times as many."""
    short, long = (_instructions(_compiled(_tangle(ops), on_cpu=True)) for ops in (400, 800))
    assert long < 2.5 * short


def test_what_is_cut_has_the_same_values() -> None:
    segment = _tangle(200)
    inputs = [np.random.default_rng(i).uniform(-1, 1, (64, 64)).astype(np.float32) for i in range(8)]
    whole, cut = (_compiled(segment, on_cpu)(*inputs) for on_cpu in (False, True))
    for expected, got in zip(whole, cut, strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-4, atol=1e-6)


def test_an_op_counts_once_however_often_its_result_is_read() -> None:
    chains = Chains()
    cuts = [chains.is_too_long(node) for node in _chain("aten.mul.Tensor", 3 * LONGEST)]
    assert [i for i, cut in enumerate(cuts) if cut] == [LONGEST, 2 * LONGEST + 1]


def test_views_are_part_of_a_chain_and_no_ops() -> None:
    chains = Chains()
    chain = [node for pair in zip(*_alternating(LONGEST), strict=True) for node in pair]
    assert not any(chains.is_too_long(node) for node in chain)
    assert chains.is_too_long(Node("aten.relu.default", chain[-1].outputs, {}, (Value(9999, SPEC),), None))


def _alternating(ops: int) -> tuple[list[Node], list[Node]]:
    nodes = _chain("aten.relu.default", 2 * ops)
    views = [Node("aten.view.default", (*n.args, (64, 64)), {}, n.outputs, None) for n in nodes[1::2]]
    return nodes[::2], views


def test_what_is_a_kernel_of_its_own_begins_anew() -> None:
    chains = Chains()
    assert not any(chains.is_too_long(node) for node in _chain("aten.mm.default", 400))


def test_a_program_without_long_chains_is_as_it_was() -> None:
    segment = _tangle(8)
    inputs = [jnp.zeros((64, 64))] * 8
    with own_configuration():
        cut, whole = (str(jax.make_jaxpr(emit(segment, on_cpu))(*inputs)) for on_cpu in (True, False))
    assert cut == whole
