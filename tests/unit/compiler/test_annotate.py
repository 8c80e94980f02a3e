"""Who takes a node, and what is remembered of those who did not."""

from __future__ import annotations

from lazycore_plugin_api import Dim, DType, Node, Rejected, TensorSpec, Value
from plan_fakes.backends import FakeBackend

from lazycore.compiler.annotate import Annotator

FLOATS = TensorSpec((3,), DType.float32)


def _neg(spec: TensorSpec = FLOATS) -> Node:
    return Node("aten.neg.default", (Value(0, spec),), {}, (Value(1, spec),))


def test_the_first_that_takes_it_wins_and_later_ones_are_not_asked() -> None:
    first, second = FakeBackend("first"), FakeBackend("second")
    annotation = Annotator([first, second])(_neg())
    assert (annotation.backend, annotation.rejections) == (0, {})
    assert second.asked == []


def test_rejections_are_kept() -> None:
    annotator = Annotator([FakeBackend("first", ops=()), FakeBackend("second")])
    node = _neg()
    assert annotator(node).backend == 1
    assert annotator(node).rejections[0].code == "op"
    assert annotator.reasons(node) == {"first": "aten.neg.default is not known to first"}


def test_a_node_is_asked_about_once() -> None:
    backend = FakeBackend("only", ops=())
    annotator = Annotator([backend])
    node = _neg()
    assert annotator(node) == annotator(node)
    assert backend.asked == [node]


def test_a_dtype_that_the_backend_lacks_is_rejected_without_asking() -> None:
    backend = FakeBackend("only", dtypes=[DType.float64])
    annotation = Annotator([backend])(_neg())
    assert annotation.backend is None
    assert annotation.rejections[0] == Rejected("dtype", "only has no float32")
    assert backend.asked == []


def test_symbolic_sizes_need_the_capability() -> None:
    spec = TensorSpec((Dim("n"),), DType.float32)
    annotation = Annotator([FakeBackend("only")])(_neg(spec))
    assert annotation.rejections[0].code == "shape"


def test_an_answer_that_is_no_decision_counts_as_a_rejection() -> None:
    class Odd(FakeBackend):
        def supports(self, node: Node) -> bool:  # noqa: ARG002
            return True

    annotation = Annotator([Odd("odd")])(_neg())
    assert annotation.rejections[0].code == "plugin"


def test_an_excluded_backend_is_passed_over() -> None:
    annotator = Annotator([FakeBackend("first"), FakeBackend("second")])
    node, other = _neg(), _neg()
    annotator.exclude(0, [node], Rejected("compile", "broken"))
    assert (annotator(node).backend, annotator(other).backend) == (1, 0)
    assert annotator.reasons(node) == {"first": "broken"}
