"""Leaving the known paths explains itself: the op, the operand and the line that differ."""

from __future__ import annotations

from typing import Any

import pytest
from lazycore_plugin_api import DType

from lazycore.trace.divergence import describe
from lazycore.trace.keys import DYNAMIC, LIFTED_FLOAT, VIEW, literal_key, scalar_key
from lazycore.trace.layout import layout_of
from lazycore.trace.tree import Tree

from .recording import Recording, small


def test_the_first_trace_diverges_from_nothing() -> None:
    recording = Recording(Tree())
    recording.run(("relu",), ("scale", 3))
    assert not recording.tree.divergences


def test_another_op_names_both() -> None:
    recording = Recording(Tree())
    recording.run(("relu",), ("exp",))
    recording.open()
    recording.op("relu")
    recording.op("tanh", line=12)
    (divergence,) = recording.tree.divergences
    assert (divergence.op, divergence.operand, divergence.depth) == ("test.tanh.default", None, 1)
    assert str(divergence.source) == "program.py:12"
    assert "test.exp.default" in divergence.difference
    assert "program.py:1" in divergence.difference


@pytest.mark.parametrize(
    ("known", "new", "text"),
    [
        ((small(), 0), (small(), 1), "value 1 where value 0 is known"),
        ((small(), literal_key(2)), (small(), literal_key(3)), "3 where 2 is known"),
        ((small(), 0), (small(), layout_of((3,), (1,), DType.int64, "i")), "a new i64[3] where value 0 is known"),
    ],
)
def test_another_operand_is_named(known: tuple[Any, ...], new: tuple[Any, ...], text: str) -> None:
    recording = Recording(Tree())
    recording.op("add", items=known)
    recording.open()
    recording.op("add", items=new, line=7)
    (divergence,) = recording.tree.divergences
    assert divergence.operand == "argument1"
    assert text in divergence.difference
    assert str(divergence) == f"test.add.default, operand argument1 at program.py:7 (after 0 known ops): {text}"


def test_a_varying_number_is_called_so() -> None:
    recording = Recording(Tree())
    recording.run(("shift", 3))
    recording.run(("shift", 4))
    (divergence,) = recording.tree.divergences
    assert divergence.difference == "a varying number where 3 is known"


def test_the_sibling_most_alike_is_compared() -> None:
    recording = Recording(Tree())
    recording.op("add", items=(0, 1))
    recording.open()
    recording.op("exp")
    recording.open()
    recording.op("add", items=(0, 2))
    assert recording.tree.divergences[-1].difference == "value 2 where value 1 is known"


def test_another_number_of_operands() -> None:
    recording = Recording(Tree())
    recording.op("cat", items=((0, 1),))
    recording.open()
    recording.op("cat", items=((0, 1), 3))
    assert recording.tree.divergences[-1].difference == "another number of operands"


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (small(), "a new f32[2]"),
        (LIFTED_FLOAT, "a varying number"),
        (scalar_key(2.0), "2.0"),
        (literal_key(True), "True"),
        (4, "value 4"),
        (~0, "value -1"),
        ((1, 2), "[value 1, value 2]"),
        ((VIEW, 3, (2,), (4,), DYNAMIC, DYNAMIC, None), "a view size (2,) stride (4,) offset DYNAMIC of value 3"),
        ("mean", "'mean'"),
        (None, "None"),
    ],
)
def test_items_in_words(item: Any, text: str) -> None:
    assert describe(item) == text


def test_only_the_latest_are_kept() -> None:
    recording = Recording(Tree())
    for number in range(400):
        recording.run((f"op{number}",))
    assert len(recording.tree.divergences) == 256
    assert recording.tree.divergences[-1].op == "test.op399.default"
