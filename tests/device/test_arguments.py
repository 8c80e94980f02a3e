"""What fills a plan's inputs: each from its place, in the plan's order."""

from __future__ import annotations

import math

import numpy as np
import pytest
from lazycore_plugin_api import DType

from lazycore.compiler.build import Binding, InputBinding, NumberBinding, StartBinding
from lazycore.frontend.arguments import Arguments
from lazycore.trace.recorder import Trace


@pytest.fixture
def trace() -> Trace:
    found = Trace.__new__(Trace)
    found.inputs, found.scalars = ["a", "b", "c"], [0.5, 17, 0.5, 0.0, -0.0, -1]
    return found


def test_inputs_and_numbers_come_in_the_plans_order(trace: Trace) -> None:
    bindings: list[Binding] = [
        NumberBinding(0, DType.float32),
        InputBinding(2),
        StartBinding(1, 5, 2),
        InputBinding(0),
        NumberBinding(1, DType.int64),
    ]
    half, c, start, a, seventeen = Arguments(bindings).of(trace)
    assert (c, a) == ("c", "a")
    assert [(x.item(), x.dtype, x.shape) for x in (half, start, seventeen)] == [
        (0.5, np.float32, ()),
        (17 // 5 % 2, np.int64, ()),
        (17, np.int64, ()),
    ]


def test_equal_numbers_of_a_launch_share_an_array_but_for_the_two_zeros(trace: Trace) -> None:
    first, second, zero, minus = Arguments([NumberBinding(p, DType.float32) for p in (0, 2, 3, 4)]).of(trace)
    assert first is second
    assert [math.copysign(1, x) for x in (zero, minus)] == [1.0, -1.0]


def test_the_same_number_is_another_array_in_another_dtype(trace: Trace) -> None:
    narrow, wide = Arguments([NumberBinding(1, dtype) for dtype in (DType.int32, DType.int64)]).of(trace)
    assert (narrow.dtype, wide.dtype) == (np.int32, np.int64)


def test_a_number_out_of_range_wraps_as_torchs_does(trace: Trace) -> None:
    (number,) = Arguments([NumberBinding(5, DType.uint8)]).of(trace)
    assert number.item() == 255


def test_a_plan_without_inputs_takes_nothing(trace: Trace) -> None:
    assert Arguments([]).of(trace) == []
