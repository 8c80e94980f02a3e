"""The verifier against the table: wrong arguments and outputs are named, symbolic sizes and unknown ops pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from lazycore_plugin_api import Dim, DType, Graph, InvalidGraph, Node, TensorSpec, Value, verifier, verify
from lazycore_plugin_api.opset import OPSET, infer, row_of

from .calls import CallOf, meta

LONG = torch.int64
SQUARE = meta(2, 3, 3)


def graph_of(node: Node) -> Graph:
    return Graph(tuple({v.id: v for v in node.inputs()}.values()), [node], ())


def call(op: str, *args: Any, **kwargs: Any) -> Node:
    """The call with its outputs left as one 0-d float: that it is refused has other reasons."""
    return CallOf(op, args, kwargs).node((meta(),) * (OPSET[op].schema.results or 1))  # type: ignore[union-attr]


# One unfit call for every way in which a rule refuses, and what is said of it.
UNFIT = [
    (call("aten.add.Tensor", meta(2), meta(3)), "has operands of shapes [2] and [3], which do not broadcast"),
    (
        call("aten.add.Tensor", meta(2), meta(2, dtype=LONG)),
        "has operands of f32 and i64, which should have been promoted",
    ),
    (
        call("aten.lt.Tensor", meta(2), meta(2, dtype=LONG)),
        "has operands of f32 and i64, which should have been promoted",
    ),
    (
        call("aten.exp.default", meta(2, dtype=LONG)),
        "has operands of i64, which should have been promoted to floating point",
    ),
    (
        call("aten.div.Tensor_mode", meta(2, dtype=LONG), meta(2, dtype=LONG), rounding_mode=None),
        "promoted to floating",
    ),
    (call("aten.complex.default", meta(2, dtype=LONG), meta(2, dtype=LONG)), "has no complex dtype for real of i64"),
    (call("aten.sum.dim_IntList", meta(2, 3), [2]), "has dimension 2 for an operand of rank 2"),
    (call("aten.sum.dim_IntList", meta(2, 3), [0, -2]), "has the dimensions (0, -2), one of them twice"),
    (call("aten.topk.default", meta(2, 3), 4), "selects 4 of [2, 3] along dimension 1"),
    (call("aten.mm.default", meta(2, 3), meta(2, 3)), "multiplies 3 columns with 2 rows"),
    (call("aten.mm.default", meta(2), meta(2, 3)), "has self of rank 1, not 2"),
    (call("aten.bmm.default", meta(2, 2, 2), meta(3, 2, 2)), "multiplies 2 matrices with 3"),
    (call("aten.addmm.default", meta(5), meta(2, 3), meta(3, 4)), "has operands of shapes [5] and [2, 4]"),
    (call("aten.addmm.default", meta(9, 2, 4), meta(2, 3), meta(3, 4)), "adds self of shape [9, 2, 4] to a product"),
    (
        call("aten.convolution.default", meta(1, 2, 5), meta(1, 2, 3, 3), None, [1], [0], [1], False, [0], 1),
        "convolves [",
    ),
    (
        call("aten.convolution.default", meta(1, 2, 5), meta(1, 3, 3), None, [1], [0], [1], False, [0], 1),
        "2 input channels",
    ),
    (
        call("aten.convolution.default", meta(1, 2, 5), meta(1, 2, 3), None, [1, 1], [0], [1], False, [0], 1),
        "2 numbers",
    ),
    (
        call(
            "aten.convolution_backward.default",
            meta(),
            meta(1, 2, 5),
            meta(1, 2, 3),
            [1],
            [1],
            [0],
            [1],
            False,
            [0],
            1,
            [True] * 3,
        ),
        "has grad_output [] of a result [1, 1, 3]",
    ),
    (call("aten.avg_pool2d.default", meta(5), [2, 2]), "pools [5] over 2 dimensions"),
    (call("aten.constant_pad_nd.default", meta(5), [1]), "pads [5] by (1,)"),
    (
        call("aten.native_layer_norm.default", meta(2, 3), [2], None, None, 1e-5),
        "normalizes [2, 3] over the trailing [2]",
    ),
    (
        call("aten._native_batch_norm_legit.no_stats", meta(2), None, None, True, 0.1, 1e-5),
        "normalizes [2], which has no",
    ),
    (call("aten.index.Tensor", meta(2), [meta(dtype=LONG)] * 2), "has 2 indices for [2]"),
    (call("aten.index_select.default", meta(2), 0, meta(1, 1, dtype=LONG)), "selects by an index of shape [1, 1]"),
    (call("aten.gather.default", meta(2), 0, meta(2)), "has index of f32, which are no positions"),
    (call("aten.index.Tensor", meta(2), [meta(2)]), "has indices of f32, which are no positions"),
    (call("aten.view.default", meta(2, 3), [4, -1]), "has [2, 3] viewed as [4, -1]"),
    (call("aten.expand.default", meta(2, 3), [2, 4]), "has [2, 3] expanded to [2, 4]"),
    (call("aten.expand.default", meta(2, 3), [3]), "expanded to [3], which has fewer dimensions"),
    (call("aten.permute.default", meta(2, 3), [0]), "permutes [2, 3] by [0]"),
    (call("aten.select.int", meta(2, 3), 0, 2), "selects 2 of [2, 3] along dimension 0"),
    (call("aten.slice.Tensor", meta(2, 3), 0, 0, 1, 0), "slices [2, 3] with step 0"),
    (call("aten.diagonal.default", meta(2, 3), 0, 1, -1), "has the diagonal of [2, 3] between dimensions 1 and 1"),
    (call("aten.view.dtype", meta(3, dtype=torch.uint8), torch.int16), "has [3] of 1 bytes read as elements of 2"),
    (call("aten.cat.default", []), "joins nothing"),
    (call("aten.cat.default", [meta(2, 3), meta(3, 3)], 1), "joins [2, 3], [3, 3] along dimension 1"),
    (call("aten.stack.default", [meta(2), meta(3)]), "stacks [2], [3]"),
    (call("aten.linalg_inv_ex.default", meta(2, 3)), "has A of shape [2, 3], which is not square"),
    (call("aten.linalg_qr.default", meta(2)), "has A of shape [2], which is no matrix"),
    (
        call("aten.grid_sampler_2d_backward.default", *[meta(1, 1, 2, 2)] * 3, 0, 0, False, [True]),
        "has 1 flags in output_mask",
    ),
]


@pytest.mark.parametrize(("node", "said"), UNFIT, ids=lambda x: x.op if isinstance(x, Node) else None)
def test_unfit_arguments_are_refused(node: Node, said: str) -> None:
    with pytest.raises(InvalidGraph) as caught:
        infer(node)
    assert said in str(caught.value)
    assert node.op in str(caught.value)
    with pytest.raises(InvalidGraph) as caught:
        verify(graph_of(node))
    assert said in str(caught.value)


F32 = TensorSpec((2, 3), DType.float32)
X, Y, OUT = Value(0, F32), Value(1, F32), Value(9, F32)
ADD = Node("aten.add.Tensor", (X, Y), {"alpha": 1}, (OUT,))
TOPK = CallOf("aten.topk.default", (meta(2, 3), 1)).node()

WRONG = {
    "too few": (replace(ADD, args=(X,)), "has 1 positional arguments where the schema has 2"),
    "too many": (replace(ADD, args=(X, Y, 1)), "has 3 positional arguments where the schema has 2"),
    "a keyword missing": (replace(ADD, kwargs={}), "has the keywords [] where the schema has ['alpha']"),
    "a keyword more": (replace(ADD, kwargs={"alpha": 1, "out": None}), "has the keywords ['alpha', 'out'] where"),
    "a number for a tensor": (replace(ADD, args=(X, 2.0)), "has 2.0 for other where the schema has Tensor"),
    "a word for a number": (replace(ADD, kwargs={"alpha": "1"}), "has '1' for alpha where the schema has Scalar"),
    "a matrix for a number": (
        replace(ADD, kwargs={"alpha": Y}),
        "has %1: f32[2,3] for alpha where the schema has Scalar",
    ),
    "another shape": (
        replace(ADD, outputs=(Value(9, TensorSpec((2,), DType.float32)),)),
        "has output 0 of shape [2], the",
    ),
    "another dtype": (
        replace(ADD, outputs=(Value(9, TensorSpec((2, 3), DType.bool)),)),
        "has output 0 of b1, the opset says",
    ),
    "an output more": (replace(ADD, outputs=(OUT, Value(10, F32))), "has 2 outputs where the schema has 1"),
    "indices that are floats": (
        replace(TOPK, outputs=(TOPK.outputs[0], Value(99, TOPK.outputs[0].spec))),
        "has output 1 of f32, the opset says i64",
    ),
    "words that are too few": (
        Node("lazycore.philox.default", (1, 2, (3,), 2), {}, (Value(9, TensorSpec((3,), DType.uint32)),)),
        "has 1 outputs, the opset says 2",
    ),
    "a window of another rank": (
        Node("lazycore.dynamic_slice.default", (X, (0,), (1, 1)), {}, (Value(9, TensorSpec((1, 1), DType.float32)),)),
        "has 1 starts and 2 sizes for rank 2",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_nodes_are_refused(case: str) -> None:
    node, said = WRONG[case]
    with pytest.raises(InvalidGraph) as caught:
        verify(graph_of(node))
    assert said in str(caught.value)
    assert node.op in str(caught.value)


def test_numbers_may_be_0d_values() -> None:
    alpha = Value(5, TensorSpec((), DType.float32))
    verify(graph_of(replace(ADD, kwargs={"alpha": alpha})))


def test_what_was_not_asked_for_may_be_anything() -> None:
    arguments = (meta(1, 1, 3), meta(1, 2, 5), meta(1, 2, 3), [1], [1], [0], [1], False, [0], 1)
    node = CallOf("aten.convolution_backward.default", (*arguments, [True, False, False])).node()
    assert [spec.shape if spec else None for spec in infer(node)] == [(1, 2, 5), None, None]
    assert [output.spec.shape for output in node.outputs] == [(1, 2, 5), (0,), (0,)]
    verify(graph_of(node))


def test_ops_without_a_row_are_not_looked_at() -> None:
    node = Node("acme.fused_thing.default", (X, "whatever"), {"k": 1}, (Value(9, TensorSpec((7,), DType.bool)),))
    assert row_of(node.op).schema is None
    verify(graph_of(node))
    with pytest.raises(KeyError):
        infer(node)


def symbolic(dtype: DType) -> Node:
    spec = TensorSpec((Dim("n"), 3), DType.float32)
    return Node(
        "aten.add.Tensor", (Value(0, spec), Value(1, spec)), {"alpha": 1}, (Value(9, replace(spec, dtype=dtype)),)
    )


def test_symbolic_sizes_pass_and_dtypes_are_looked_at_all_the_same() -> None:
    verify(graph_of(symbolic(DType.float32)))
    with pytest.raises(InvalidGraph, match="has output 0 of b1, the opset says f32"):
        verify(graph_of(symbolic(DType.bool)))
    with pytest.raises(TypeError, match=r"f32\[n,3\] has symbolic dimensions"):
        infer(symbolic(DType.float32))


def test_a_static_node_beside_symbolic_ones_is_looked_at() -> None:
    graph = graph_of(symbolic(DType.float32))
    wrong = Node("aten.neg.default", (Value(20, F32),), {}, (Value(21, TensorSpec((2,), DType.float32)),))
    with pytest.raises(InvalidGraph, match="of shape"):
        verify(Graph((*graph.inputs, Value(20, F32)), [*graph.nodes, wrong], ()))


def test_nothing_is_put_into_words_while_all_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifier, "node_text", lambda node: pytest.fail(f"{node.op} was put into words"))
    verify(graph_of(ADD))
    verify(graph_of(TOPK))
