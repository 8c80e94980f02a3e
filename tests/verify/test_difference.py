"""Comparing arrays: what counts as the same, and which element is named."""

from __future__ import annotations

import numpy as np
import pytest
from lazycore_plugin_api import DType
from lazycore_plugin_api.difference import Tolerance, compare, tolerance_of

NAN, INF = float("nan"), float("inf")


def off(got: object, right: object, tolerance: Tolerance, dtype: str = "float32") -> float | None:
    kind = DType(dtype).numpy
    difference = compare(0, np.array(got, kind), np.array(right, kind), tolerance)
    return None if difference is None else difference.greatest


@pytest.mark.parametrize(
    ("got", "right", "greatest"),
    [
        ([NAN, INF, -INF, -0.0], [NAN, INF, -INF, 0.0], None),
        ([0.0], [NAN], INF),
        ([NAN], [0.0], INF),
        ([INF], [-INF], INF),
        ([3e38], [INF], INF),
        ([], [], None),
        (1.5, 1.0, 0.5),
        (1.0, 1.0, None),
    ],
)
def test_odd_numbers(got: object, right: object, greatest: float | None) -> None:
    assert off(got, right, Tolerance()) == greatest


def test_the_worst_element_is_named() -> None:
    right = np.zeros((2, 3), np.float32)
    got = right.copy()
    got[0, 1], got[1, 2] = 1, -4
    difference = compare(7, got, right, Tolerance(atol=0.5))
    assert difference is not None
    assert (difference.output, difference.wrong, difference.size, difference.place) == (7, 2, 6, (1, 2))
    assert str(difference) == "2 of 6 elements differ, most at [1, 2]: -4.0 where 0.0 is right (off by 4)"


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64", "float8_e4m3fn"])
def test_each_dtype_may_be_off_by_its_own_rounding(dtype: str) -> None:
    kind = DType(dtype)
    one = np.ones(3, kind.numpy)
    step = {"float32": 2**-22, "float16": 2**-10, "bfloat16": 2**-7, "float64": 2**-51, "float8_e4m3fn": 2**-3}[dtype]
    near = (one.astype("f8") * (1 + step)).astype(kind.numpy)
    assert (near != one).all()
    assert compare(0, near, one, tolerance_of(kind)) is None
    far = (one.astype("f8") * (1 + 64 * step)).astype(kind.numpy)
    assert kind is not DType.float64 or compare(0, near, one, Tolerance()) is not None
    assert kind is DType.float64 or compare(0, far, one, tolerance_of(kind)) is not None


def test_integers_that_float64_cannot_tell_apart_differ() -> None:
    assert off([2**62 + 1], [2**62], tolerance_of(DType.int64), "int64") == 1.0
    assert off([True, False], [True, True], tolerance_of(DType.bool), "bool") == 1.0


def test_excused_elements() -> None:
    assert off([1, 2, 3], [1, 2, 9], Tolerance(excused=1)) is None
    assert off([1, 5, 3], [1, 2, 9], Tolerance(excused=1)) == 6.0


def test_complex_numbers() -> None:
    assert off([1 + 1j], [1 + 1j], Tolerance(), "complex64") is None
    assert off([1 + 4j], [4 + 8j], Tolerance(), "complex64") == 5.0
    assert off([complex(NAN, 1)], [complex(0, 1)], Tolerance(), "complex64") == INF
    assert off([1 + 4j], [4 + 8j], Tolerance(), "complex32") == 5.0
