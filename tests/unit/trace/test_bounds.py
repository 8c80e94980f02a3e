"""Traces and the tree stay bounded: barriers where a trace has grown, and plans forgotten in order of use."""

from __future__ import annotations

from lazycore.trace.node import Node
from lazycore.trace.tree import Limits, Tree

from .recording import Recording, small


def count(node: Node) -> int:
    """Nodes below this one."""
    return sum(1 + count(child) for child in set(node.children.values()))


def test_a_trace_ends_at_the_hard_limit() -> None:
    recording = Recording(Tree(Limits(hard_ops=5, soft_ops=99)))
    assert all(recording.op(f"op{n}") for n in range(5))
    assert recording.op("one more") is None
    assert recording.trace.node.depth == 5


def test_a_trace_ends_at_the_limit_of_bytes() -> None:
    recording = Recording(Tree(Limits(nbytes=3 * small().nbytes)))
    assert all(recording.op(f"op{n}") for n in range(3))
    assert recording.op("one more") is None


def test_a_refused_call_leaves_nothing_behind() -> None:
    recording = Recording(Tree(Limits(hard_ops=1)))
    recording.op("a", 0.3)
    assert recording.op("b", 0.7, 5) is None
    assert recording.trace.scalars == [0.3]


def test_the_longest_unused_plans_are_forgotten() -> None:
    recording = Recording(Tree(Limits(plans=2)))
    ends = {}
    for name in ("a", "b", "c"):
        recording.run((name,), (name,))
        ends[name] = recording.trace.node
        ends[name].plan = name
        recording.tree.touch(ends[name])
    assert [ends[n].plan for n in "abc"] == [None, "b", "c"]
    assert recording.run(("b",), ("b",)) == 0
    assert recording.run(("a",), ("a",)) == 2


def test_using_a_plan_keeps_it() -> None:
    recording = Recording(Tree(Limits(plans=2)))
    ends = {}
    for name in ("a", "b", "a", "c"):
        recording.run((name,))
        ends[name] = recording.trace.node
        ends[name].plan = name
        recording.tree.touch(ends[name])
    assert [ends[n].plan for n in "abc"] == ["a", None, "c"]


def test_forgetting_keeps_what_other_plans_need() -> None:
    recording = Recording(Tree(Limits(plans=1)))
    recording.run(("a",))
    short = recording.trace.node
    short.plan = "short"
    recording.tree.touch(short)
    recording.run(("a",), ("b",))
    long = recording.trace.node
    long.plan = "long"
    recording.tree.touch(long)
    assert short.plan is None
    assert recording.run(("a",), ("b",)) == 0
    assert recording.trace.node is long


def test_shapes_that_never_repeat_fill_no_memory() -> None:
    recording = Recording(Tree(Limits(plans=8)))
    for number in range(100):
        recording.run(("load", number), (f"op{number}",), ("relu",))
        recording.trace.node.plan = number
        recording.tree.touch(recording.trace.node)
    assert count(recording.tree.root("root")) <= 8 * 3 + 2


def test_forgetting_a_lifted_path_forgets_the_numbers_that_led_there() -> None:
    recording = Recording(Tree(Limits(plans=1)))
    for number in (1, 2):
        recording.run(("shift", number))
        recording.trace.node.plan = number
        recording.tree.touch(recording.trace.node)
    recording.run(("other",))
    recording.trace.node.plan = "other"
    recording.tree.touch(recording.trace.node)
    assert set(recording.tree.root("root").children) == {("other",)}
    assert recording.run(("shift", 1)) == 1


def test_a_node_forgotten_under_an_open_trace_still_serves_it() -> None:
    recording = Recording(Tree(Limits(plans=1)))
    recording.run(("a",))
    standing = recording.trace
    standing.node.plan = "a"
    recording.tree.touch(standing.node)
    recording.run(("b",))
    recording.trace.node.plan = "b"
    recording.tree.touch(recording.trace.node)
    recording.trace = standing
    node = recording.op("c")
    assert node is not None
    assert [step.key[0] for step in node.path()] == ["a", "c"]
