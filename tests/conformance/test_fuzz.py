"""Random graphs: valid, deep, of many operators, and any part of one is one."""

from __future__ import annotations

from typing import Any

import pytest
from lazycore_plugin_api import DType, Segment, verify

from lazycore.conformance.case import Case, Skipped
from lazycore.conformance.context import Context
from lazycore.conformance.fuzz import cases as fuzz
from lazycore.conformance.fuzz.cases import KINDS, SIZE
from lazycore.conformance.fuzz.graphs import built, chosen_at_random
from lazycore.conformance.graph.oracle import Eager


@pytest.mark.parametrize("kind", KINDS)
def test_graphs_are_valid_and_deep_and_the_same_each_time(kind: str) -> None:
    menu, _, seeds = KINDS[kind]
    for seed in range(seeds):
        drawn = built(chosen_at_random(seed, SIZE), menu, seed)
        verify(drawn.segment)
        assert len(drawn.segment.nodes) >= SIZE * 2 // 3
        again = built(chosen_at_random(seed, SIZE), menu, seed)
        assert str(again.segment) == str(drawn.segment)
        assert [a.tobytes() for a in again.arrays] == [a.tobytes() for a in drawn.arrays]


def test_any_part_is_a_graph() -> None:
    menu = KINDS["rounding"][0]
    choices = chosen_at_random(0, SIZE)
    for place in range(SIZE):
        part = built([*choices[:place], *choices[place + 1 :]], menu)
        verify(part.segment)
        assert len(part.origins) == len(part.segment.nodes)


def test_all_kinds_together_have_many_operators() -> None:
    found = {
        node.op
        for menu, _, seeds in KINDS.values()
        for seed in range(seeds)
        for node in built(chosen_at_random(seed, SIZE), menu, seed).segment.nodes
    }
    assert len(found) >= 55


class _Wrong(Eager):
    def expected(self, segment: Segment, arrays: Any) -> Any:
        right = super().expected(segment, arrays)
        assert right is not None
        return [array + 1 if array.dtype == DType.float32.numpy else array for array in right]


def test_where_those_who_know_disagree_nobody_is_blamed() -> None:
    context = Context("reference")
    context.__dict__["oracle"] = _Wrong()
    with pytest.raises(Skipped, match="the reference backend and PyTorch disagree, which is no fault"):
        fuzz.run(Case(3, "fuzz/rounding/0"), context)
