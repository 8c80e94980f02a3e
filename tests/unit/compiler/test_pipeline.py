"""The whole compile: who runs what, what happens when a backend fails, and what the observer is told."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import pytest
from lazycore_plugin_api import BackendError, Graph, Node, Pattern, PluginError, Segment
from lazycore_plugin_api.patterns import Any, Op
from plan_fakes.backends import FakeBackend, FakeExecutable
from plan_fakes.builder import INDICES, Builder, never, square_as_mul

from lazycore.compiler.failures import BackendWarning
from lazycore.compiler.pipeline import compile_graph
from lazycore.compiler.placement import Placement
from lazycore.compiler.plan import EagerStep, Plan, SegmentStep

NEG, RELU = "aten.neg.default", "aten.relu.default"


class Witness:
    """An observer that remembers."""

    def __init__(self) -> None:
        self.compiles: list[tuple[str, int]] = []
        self.loads: list[tuple[str, int]] = []
        self.serves: list[tuple[str, int]] = []
        self.seconds = 0.0
        self.fallbacks: list[tuple[str, Mapping[str, str]]] = []
        self.placements: list[Placement] = []

    def compiled(self, segment: Segment, backend: str, seconds: float) -> None:
        self.compiles.append((backend, len(segment.nodes)))
        self.seconds += seconds

    def loaded(self, segment: Segment, backend: str, seconds: float) -> None:
        self.loads.append((backend, len(segment.nodes)))
        self.seconds += seconds

    def served(self, segment: Segment, backend: str) -> None:
        self.serves.append((backend, len(segment.nodes)))

    def fell_back(self, node: Node, reasons: Mapping[str, str]) -> None:
        self.fallbacks.append((node.op, reasons))

    def placed(self, placement: Placement) -> None:
        self.placements.append(placement)


def _compile(graph: Graph, backends: list[FakeBackend], **options: object) -> Plan:
    settings = {"scalars": frozenset(), "donatable": frozenset(), "decompose": never} | options
    return compile_graph(graph, backends=backends, **settings)


def _kinds(plan: Plan) -> list[str]:
    return [step.backend if isinstance(step, SegmentStep) else step.node.op for step in plan.steps]


def _three() -> Graph:
    b = Builder()
    return b.graph(b.neg(b.relu(b.neg(b.input()))))


def test_one_backend_takes_all() -> None:
    witness = Witness()
    plan = _compile(_three(), [FakeBackend("a")], observer=witness)
    assert _kinds(plan) == ["a"]
    assert witness.compiles == [("a", 3)]
    assert witness.seconds > 0
    assert witness.fallbacks == []
    assert witness.placements == [plan.placement]
    assert str(plan.placement) == "lazycore: 3 ops: a 3 in 1 segment"


def test_what_an_earlier_process_compiled_is_not_compiled_again() -> None:
    b = Builder()
    graph = b.graph(b.neg(b.op("lib.unknown.default", b.neg(b.neg(b.input())))))
    backend, witness = FakeBackend("a", [NEG]), Witness()
    first = _compile(graph, [backend])
    assert [segment.name for segment in backend.compiled] == ["segment0", "segment2"]
    backend.compiled.clear()
    stored = backend.stored["segment2"] = FakeExecutable(first.steps[2].segment, backend.session)
    plan = _compile(graph, [backend], observer=witness)
    assert _kinds(plan) == ["a", "lib.unknown.default", "a"]
    assert [segment.name for segment in backend.compiled] == ["segment0"]
    assert (witness.compiles, witness.loads) == ([("a", 2)], [("a", 1)])
    assert plan.steps[2].run == stored.run


def test_the_rest_runs_eagerly_and_says_why() -> None:
    witness = Witness()
    plan = _compile(_three(), [FakeBackend("a", [NEG])], observer=witness)
    assert _kinds(plan) == ["a", RELU, "a"]
    assert witness.fallbacks == [(RELU, {"a": "aten.relu.default is not known to a"})]
    assert str(plan.placement) == "lazycore: 3 ops: a 2 in 2 segments, eager 1 (aten.relu.default ×1)"  # noqa: RUF001


def test_dead_code_is_not_compiled() -> None:
    b = Builder()
    x = b.input()
    b.relu(x)
    witness = Witness()
    _compile(b.graph(b.neg(x)), [FakeBackend("a", [NEG])], observer=witness)
    assert (witness.compiles, witness.fallbacks) == ([("a", 1)], [])


def test_nobody_takes_it_whole_but_its_pieces() -> None:
    b = Builder()
    plan = _compile(b.graph(b.square(b.input())), [FakeBackend("a", ["aten.mul.Tensor"])], decompose=square_as_mul)
    assert _kinds(plan) == ["a"]
    assert plan.placement.decomposed == {"aten.square.default": 1}


def test_a_graph_that_returns_its_input_has_no_steps() -> None:
    b = Builder()
    x = b.input()
    plan = _compile(b.graph(x, x), [FakeBackend("a")])
    assert (plan.steps, plan.outputs) == ((), (0, 0))
    assert str(plan.placement) == "lazycore: 0 ops: nothing to run"


def test_no_backend_at_all_runs_everything_eagerly() -> None:
    plan = _compile(_three(), [])
    assert all(isinstance(step, EagerStep) for step in plan.steps)
    assert len(plan.steps) == 3


def test_a_failed_segment_goes_to_the_next_backend() -> None:
    witness = Witness()
    broken, sound = FakeBackend("broken", broken=[RELU]), FakeBackend("sound")
    with pytest.warns(BackendWarning) as caught:
        plan = _compile(_three(), [broken, sound], observer=witness)
    assert _kinds(plan) == ["sound"]
    assert witness.compiles == [("sound", 3)]
    (warning,) = caught
    text = str(warning.message)
    assert "broken's segment0" in text
    assert NEG in text
    assert "train.py:1" in text
    assert "aten.relu.default does not compile" in text
    assert "sound will run these ops" in text
    assert (warning.filename, warning.lineno) == ("train.py", 1)


def test_then_to_eager() -> None:
    with pytest.warns(BackendWarning, match="eager PyTorch will run these ops"):
        plan = _compile(_three(), [FakeBackend("broken", broken=[RELU])])
    assert _kinds(plan) == [NEG, RELU, NEG]
    assert plan.placement.eager[1].reasons == {"broken": "aten.relu.default does not compile"}


def test_a_failure_leaves_the_other_segments_compiled() -> None:
    b = Builder()
    sorted_, _ = b.sort(b.neg(b.input()))
    graph = b.graph(b.relu(sorted_))
    first = FakeBackend("first", [NEG, RELU], broken=[RELU])
    with pytest.warns(BackendWarning):
        plan = _compile(graph, [first, FakeBackend("second", [RELU])])
    assert _kinds(plan) == ["first", "aten.sort.default", "second"]
    assert [len(segment.nodes) for segment in first.compiled] == [1]


def test_a_backend_may_decline_a_segment() -> None:
    picky = FakeBackend("picky", [NEG], smallest=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan = _compile(_three(), [picky, FakeBackend("sound", [NEG])])
    assert _kinds(plan) == ["sound", RELU, "sound"]
    assert [estimate.crossings for estimate in picky.estimates] == [1, 1]


def test_a_plugin_that_fails_to_say_loses_the_segment() -> None:
    class Broken(FakeBackend):
        def accept_segment(self, segment: Segment, estimate: object) -> bool:  # noqa: ARG002
            raise BackendError("no last word")

    with pytest.warns(BackendWarning, match="no last word"):
        plan = _compile(_three(), [Broken("broken"), FakeBackend("sound")])
    assert _kinds(plan) == ["sound"]


def test_pieces_that_nobody_needs_are_not_compiled() -> None:
    def decompose(node: Node) -> Graph | None:
        if node.op != "aten.sort.default":
            return None
        b = Builder()
        x = b.input()
        return b.graph(b.neg(x), b.op("lib.indices.default", x, spec=INDICES))

    b = Builder()
    first, _ = b.sort(b.input())
    backend = FakeBackend("a", [NEG, "lib.indices.default"])
    _compile(b.graph(first), [backend], decompose=decompose)
    assert [[node.op for node in segment.nodes] for segment in backend.compiled] == [[NEG]]


def test_strict_makes_a_failed_compile_an_error() -> None:
    broken = FakeBackend("broken", broken=[RELU])
    with pytest.raises(BackendError, match=r"broken's segment0 .*train\.py:1.*does not compile") as caught:
        _compile(_three(), [broken, FakeBackend("sound")], strict=True)
    assert isinstance(caught.value.__cause__, ValueError)


def test_strict_makes_an_op_that_nobody_takes_an_error() -> None:
    backends = [FakeBackend("a", [NEG]), FakeBackend("b", [NEG])]
    with pytest.raises(BackendError) as caught:
        _compile(_three(), backends, strict=True)
    text = str(caught.value)
    assert "aten.relu.default at train.py:2: a: aten.relu.default is not known to a; b: " in text
    assert all(backend.compiled == [] for backend in backends)


def test_strict_is_content_with_full_support() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _kinds(_compile(_three(), [FakeBackend("a")], strict=True)) == ["a"]


def test_slots_and_releases() -> None:
    plan = _compile(_three(), [FakeBackend("a", [NEG])])
    first, eager, last = plan.steps
    assert (first.tensors, first.release) == ((0,), (0,))
    assert (eager.inputs, eager.release) == ((1,), (1,))
    assert (last.tensors, last.release) == ((2,), ())
    assert plan.outputs == (3,)


def test_what_nobody_reads_is_released_at_once() -> None:
    b = Builder()
    _, indices = b.sort(b.input())
    graph = b.graph(b.op(NEG, indices, spec=indices.spec))
    plan = _compile(graph, [FakeBackend("a", [NEG])])
    assert plan.steps[0].release == (0, 1)


def test_donated_inputs_are_named() -> None:
    b = Builder()
    x, y = b.input(), b.input()
    graph = b.graph(b.add(x, y))
    plan = _compile(graph, [FakeBackend("a", donation=True)], donatable=frozenset({1}))
    assert plan.donated == {1}


def test_placement_names_the_commonest_eager_ops() -> None:
    b = Builder()
    x = b.input()
    y = b.relu(b.neg(b.neg(x)))
    plan = _compile(b.graph(b.square(y), b.op("aten.clone.default", y)), [])
    assert str(plan.placement).startswith("lazycore: 5 ops: eager 5 (aten.neg.default ×2, ")  # noqa: RUF001
    assert str(plan.placement).endswith("…)")


NEG_RELU = Pattern("neg_relu", Op(RELU, (Op(NEG, (Any("x"),)),)))


def _pair() -> Graph:
    b = Builder()
    return b.graph(b.relu(b.neg(b.input())))


def test_a_composite_is_compiled_by_the_backend_that_declared_it() -> None:
    first, second = FakeBackend("first", []), FakeBackend("second", [], patterns=[NEG_RELU])
    plan = _compile(_pair(), [first, second])
    assert [node.op for node in plan.steps[0].segment.nodes] == ["second.neg_relu.composite"]
    assert plan.steps[0].backend == "second"
    assert all(node.body is None for node in first.asked)
    assert str(plan.placement) == "lazycore: 1 op: second 1 in 1 segment"


def test_a_composite_that_its_backend_refuses_is_taken_apart() -> None:
    vendor = FakeBackend("vendor", [NEG], patterns=[NEG_RELU], refused=["vendor.neg_relu.composite"])
    plan = _compile(_pair(), [vendor, FakeBackend("sound")])
    assert _kinds(plan) == ["vendor", "sound"]
    (lost,) = plan.placement.lost
    assert (lost.pattern, lost.ops, lost.code, str(lost.source)) == ("neg_relu", (NEG, RELU), "unclaimed", "train.py:2")
    assert lost.reason == "vendor.neg_relu.composite is not known to vendor"


def test_a_composite_that_does_not_compile_is_taken_apart_and_its_backend_keeps_the_ops() -> None:
    vendor = FakeBackend("vendor", broken=["vendor.neg_relu.composite"], patterns=[NEG_RELU])
    with pytest.warns(BackendWarning, match=r"cannot compile vendor's segment0 .*Its composites are taken apart"):
        plan = _compile(_pair(), [vendor, FakeBackend("sound")])
    assert _kinds(plan) == ["vendor"]
    assert [node.op for node in plan.steps[0].segment.nodes] == [NEG, RELU]
    assert [lost.code for lost in plan.placement.lost] == ["compile"]


def test_what_fails_without_composites_too_goes_to_the_next_backend() -> None:
    vendor = FakeBackend("vendor", broken=[RELU, "vendor.neg_relu.composite"], patterns=[NEG_RELU])
    with pytest.warns(BackendWarning) as caught:
        plan = _compile(_pair(), [vendor, FakeBackend("sound")])
    assert len(caught) == 2
    assert _kinds(plan) == ["sound"]


def test_the_parts_of_a_composite_are_decomposed_where_nobody_takes_them() -> None:
    b = Builder()
    pattern = Pattern("p", Op(RELU, (Op("aten.square.default", (Any("x"),)),)))
    vendor = FakeBackend("vendor", [RELU], broken=["vendor.p.composite"], patterns=[pattern])
    graph = b.graph(b.relu(b.square(b.input())))
    with pytest.warns(BackendWarning):
        plan = _compile(graph, [vendor, FakeBackend("sound", ["aten.mul.Tensor"])], decompose=square_as_mul)
    assert _kinds(plan) == ["sound", "vendor"]


def test_strict_makes_a_composite_that_does_not_compile_an_error() -> None:
    vendor = FakeBackend("vendor", broken=["vendor.neg_relu.composite"], patterns=[NEG_RELU])
    with pytest.raises(BackendError, match=r"vendor\.neg_relu\.composite does not compile"):
        _compile(_pair(), [vendor], strict=True)


def test_insisting_makes_a_failed_compile_an_error_and_eager_ops_none() -> None:
    with pytest.raises(BackendError, match="does not compile"):
        _compile(_pair(), [FakeBackend("broken", broken=[NEG])], insist=True)
    assert _kinds(_compile(_pair(), [FakeBackend("some", [NEG])], insist=True)) == ["some", RELU]


def test_patterns_that_cannot_be_had_are_a_warning_and_in_strict_mode_an_error() -> None:
    class Broken(FakeBackend):
        def patterns(self) -> list[Pattern]:
            raise PluginError("two patterns have this name")

    with pytest.warns(BackendWarning, match="two patterns have this name; the backend is used without its patterns"):
        assert _kinds(_compile(_pair(), [Broken("a")])) == ["a"]
    with pytest.raises(PluginError, match="two patterns have this name"):
        _compile(_pair(), [Broken("a")], strict=True)


def test_the_placement_is_data_with_codes_lines_and_costs() -> None:
    placement = _compile(_three(), [FakeBackend("a", [NEG]), FakeBackend("b", [])]).placement
    assert [(s.backend, dict(s.ops), [str(x) for x in s.sources]) for s in placement.segments] == [
        ("a", {NEG: 1}, ["train.py:1"]), ("a", {NEG: 1}, ["train.py:3"]),
    ]  # fmt: skip
    assert [(s.crossings, s.crossing_bytes, s.bytes_in, s.flops) for s in placement.segments] == [(1, 24, 24, 3)] * 2
    (refused,) = placement.refused
    assert (refused.op, refused.taken_by, str(refused.source)) == (RELU, None, "train.py:2")
    assert [(r.backend, r.code) for r in refused.refusals] == [("a", "op"), ("b", "op")]
    assert placement.eager[0].refusals == refused.refusals
