"""A loop without a barrier settles: its traces end where a round does, wherever the loop was entered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazycore.trace.circles import heads_a_loop
from lazycore.trace.tree import Limits, Tree

from .recording import Recording


@pytest.mark.parametrize(
    ("sites", "following", "heads"),
    [
        ("abcabc", "a", True),
        ("abcabc", "b", False),
        ("abc", "a", False),
        ("xyabcabc", "a", True),
        ("xyabcabca", "b", False),
        ("abab", "a", True),
        ("aa", "a", True),
        ("ababcababc", "a", True),
        ("xababcabab", "c", False),
        ("", "a", False),
    ],
)
def test_the_head_of_a_loop(sites: str, following: str, heads: bool) -> None:
    assert bool(heads_a_loop([(site, None) for site in sites], (following, None))) is heads


def rounds(recording: Recording, sites: str, prelude: str, count: int) -> list[str]:
    """Record a loop, with a barrier wherever the tree asks for one; the traces, as the sites of each."""
    traces = [""]
    for site in prelude + sites * count:
        if recording.op(site, line=ord(site)) is None:
            recording.open()
            traces.append("")
            assert recording.op(site, line=ord(site)) is not None
        traces[-1] += site
    return traces


def test_traces_end_with_a_round() -> None:
    recording = Recording(Tree(Limits(soft_ops=4)))
    first, *others, _last = rounds(recording, "abc", "", 20)
    assert first == "abcabc"
    assert set(others) == {"abcabc"}


def test_what_comes_before_the_loop_is_no_part_of_a_round() -> None:
    recording = Recording(Tree(Limits(soft_ops=4)))
    first, *others, _last = rounds(recording, "abc", "xyz", 20)
    assert first == "xyzabcabc"
    assert set(others) == {"abcabc"}


def test_a_site_that_recurs_within_the_round_is_no_end() -> None:
    """The layers of a model are often called by one line."""
    recording = Recording(Tree(Limits(soft_ops=12)))
    _, *others, _last = rounds(recording, "ababababc", "xx", 20)
    assert set(others) == {"ababababc" * 2}


def test_a_round_longer_than_the_soft_limit_is_a_trace() -> None:
    recording = Recording(Tree(Limits(soft_ops=4)))
    _, *others, _last = rounds(recording, "abcdefghij", "x", 20)
    assert set(others) == {"abcdefghij"}


def test_a_loop_inside_a_round_that_is_longer_than_the_limit_settles_too() -> None:
    recording = Recording(Tree(Limits(soft_ops=5)))
    body = "abababababababcd"
    rounds(recording, body, "xx", 20)
    made = len(recording.made)
    rounds(recording, body, "", 20)
    assert len(recording.made) == made


def test_the_same_op_of_another_line_is_another_site() -> None:
    recording = Recording(Tree(Limits(soft_ops=2)))
    for line in range(1, 9):
        assert recording.op("same", line=line) is not None


def test_below_the_soft_limit_loops_are_unrolled() -> None:
    recording = Recording(Tree(Limits(soft_ops=100)))
    assert len(rounds(recording, "ab", "", 50)) == 1


def cut_and_judge(recording: Recording, sites: str) -> list[str]:
    """One stretch from barrier to barrier; its traces, as the sites of each."""
    traces, ends = [""], []
    recording.open()
    for site in sites:
        if recording.op(site, line=ord(site)) is None:
            ends.append(recording.trace.node)
            traces.append("")
            recording.open()
            assert recording.op(site, line=ord(site)) is not None
        traces[-1] += site
    recording.tree.judge([*ends, recording.trace.node])
    return traces


def test_a_loop_that_is_a_part_of_a_stretch_cuts_it_once() -> None:
    recording = Recording(Tree(Limits(soft_ops=8)))
    step = "x" + "ab" * 10 + "y" + "cde" * 10 + "z"
    assert len(cut_and_judge(recording, step)) > 2
    assert cut_and_judge(recording, step) == [step]


def test_a_loop_that_is_all_of_a_stretch_goes_on_cutting_it() -> None:
    recording = Recording(Tree(Limits(soft_ops=8)))
    stretch = "x" + "abc" * 20 + "y"
    first = cut_and_judge(recording, stretch)
    assert len(first) > 2
    assert cut_and_judge(recording, stretch) == first


def test_a_stretch_longer_than_a_trace_may_be_stays_cut() -> None:
    recording = Recording(Tree(Limits(soft_ops=8, hard_ops=40)))
    step = "x" + "ab" * 10 + "y" + "cde" * 10 + "z"
    first = cut_and_judge(recording, step)
    assert cut_and_judge(recording, step) == first


@given(st.text("abc", min_size=1, max_size=6), st.text("xyz", max_size=6), st.integers(1, 12))
def test_any_loop_settles(body: str, prelude: str, soft: int) -> None:
    """After some rounds nothing is new, and no trace is longer than its loop needs to be half of it."""
    recording = Recording(Tree(Limits(soft_ops=soft)))
    traces = rounds(recording, body, prelude, 40)
    assert max(map(len, traces)) <= 2 * len(prelude) + soft + 3 * len(body)
    made = len(recording.made)
    for site in body * 40:
        if recording.op(site, line=ord(site)) is None:
            recording.open()
            recording.op(site, line=ord(site))
    assert len(recording.made) == made
