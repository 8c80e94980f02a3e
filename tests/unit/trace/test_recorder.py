"""The recorder commits last: an unfinished call can be taken back whole."""

from __future__ import annotations

import gc
from weakref import ref

import pytest

from lazycore.trace.recorder import FULL, Recorder, Trace
from lazycore.trace.state import StorageState
from lazycore.trace.tree import Tree

from .recording import Recording, small


def state(value: object = "content") -> StorageState:
    made = StorageState()
    made.layout = small()
    made.value = value
    return made


def test_inputs_are_numbered_from_minus_one_down() -> None:
    trace = Recording(Tree()).trace
    first, second = state("a"), state("b")
    trace.admit(first)
    trace.admit(second)
    assert (first.index, second.index) == (-1, -2)
    assert trace.inputs == ["a", "b"]
    assert first.trace is first.fast is trace


def test_a_viewed_input_is_never_on_the_fast_path() -> None:
    trace = Recording(Tree()).trace
    viewed = state()
    viewed.mark_viewed()
    trace.admit(viewed)
    assert viewed.trace is trace
    assert viewed.fast is None


def test_rollback_takes_back_inputs_and_numbers_of_the_unfinished_call() -> None:
    recording = Recording(Tree())
    kept, dropped = state("kept"), state("dropped")
    recording.trace.admit(kept)
    recording.op("a", 0.3)
    recording.trace.admit(dropped)
    recording.trace.admit_value("loose")
    recording.trace.scalars.append(5)
    recording.trace.rollback()
    assert recording.trace.inputs == ["kept"]
    assert recording.trace.scalars == [0.3]
    assert (dropped.trace, dropped.fast, dropped.value) == (None, None, "dropped")
    assert kept.trace is recording.trace


def test_an_exception_while_making_a_node_leaves_the_tree_as_it_was() -> None:
    recording = Recording(Tree())
    recording.op("a")

    def fail(_key: object) -> None:
        raise KeyboardInterrupt

    before = recording.trace.node
    with pytest.raises(KeyboardInterrupt):
        recording.trace.grow(("b",), fail)  # type: ignore[arg-type]
    assert recording.trace.node is before
    assert not before.children
    assert recording.op("b") is not None


def test_a_trace_does_not_keep_storages_alive() -> None:
    trace = Recording(Tree()).trace
    mine = state()
    trace.admit(mine)
    trace.refs.append(ref(mine))
    watch = ref(mine)
    del mine
    gc.collect()
    assert watch() is None


def test_settling_and_poisoning() -> None:
    trace = Recording(Tree()).trace
    held = state()
    trace.admit(held)
    held.poison(ValueError("boom"))
    assert (held.trace, held.fast, held.value) == (None, None, None)
    assert isinstance(held.error, ValueError)
    held.settle("new")
    assert (held.value, held.error) == ("new", None)


def test_roots_are_one_per_key() -> None:
    tree = Tree()
    assert tree.root("a") is tree.root("a")
    assert tree.root("a") is not tree.root("b")


def test_nothing_is_recorded_before_a_trace_is_opened() -> None:
    tree = Tree()
    trace = Trace(tree, tree.unopened, Recorder())
    assert trace.grow(("a",), lambda _key: pytest.fail("made a node")) is FULL


def test_counts_of_a_path_add_up() -> None:
    recording = Recording(Tree())
    recording.trace.admit(state())
    recording.op("a", 0.3)
    node = recording.op("b", 0.7, 4)
    assert node is not None
    assert (node.depth, node.ninputs, node.nscalars, node.nvalues) == (2, 1, 3, 2)
    assert node.nbytes == 2 * small().nbytes
    assert node.first.key[0] == "a"
    assert [step.index for step in node.path()] == [0, 1]
