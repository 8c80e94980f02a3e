"""Groups of ops that OpenVINO computes as one, and how to find their parts again in a composite's body."""

from __future__ import annotations

from lazycore_plugin_api import Decision, Match, Node, Pattern, Rejected, Supported
from lazycore_plugin_api.patterns import Any, Op, Optional

CONVOLUTION = "aten.convolution.default"
NORMALIZATION = "aten._native_batch_norm_legit_functional.default"
VIEWS = ("aten.view.default", "aten.expand.default")


def _convolution() -> Pattern:
    convolution = Op(CONVOLUTION, (Any("x"), Any("w"), Optional(Any("b"))), {6: False})
    statistics = (Any("gamma"), Any("beta"), Any("mean"), Any("variance"))
    normalized = Optional(Op(NORMALIZATION, (convolution, *statistics), {5: False}))
    added = Optional(Op("aten.add.Tensor", (normalized, Any("residual")), {"alpha": 1}, commutative=True))
    return Pattern("conv", Optional(Op("aten.relu.default", (added,))), _worthwhile)


def _worthwhile(match: Match) -> Decision:
    # Without its normalization a convolution is as good alone.
    return Supported() if len(match.nodes) > 1 else Rejected("single", "nothing follows the convolution")


def _attention() -> Pattern:
    # matmul, scale, mask, softmax, matmul, with the views by which torch makes matmul of bmm.
    def view(pattern: Op | Optional) -> Optional:
        return Optional(Op(VIEWS, (pattern,)))

    scores = view(Op("aten.bmm.default", (Any("q"), Any("k"))))
    number = Any("scale", where=lambda value: value.spec.shape == ())
    scaled = Optional(Op(("aten.mul.Tensor", "aten.div.Tensor"), (scores, number)))
    masked = Optional(Op("aten.add.Tensor", (scaled, Any("mask")), {"alpha": 1}))
    weights = view(view(Op("aten._softmax.default", (masked,), name="softmax")))
    return Pattern("attention", Op("aten.bmm.default", (weights, Any("v"))), _over_keys)


def _over_keys(match: Match) -> Decision:
    node = match.named["softmax"]
    last = node.args[1] in (-1, len(node.outputs[0].spec.shape) - 1)
    return Supported() if last else Rejected("dim", "the softmax is not over the keys")


PATTERNS = (_convolution(), _attention())


def find(node: Node, op: str) -> Node | None:
    """The first node of an op in a composite's body."""
    return next((inner for inner in node.body.nodes if inner.op == op), None) if node.body else None
