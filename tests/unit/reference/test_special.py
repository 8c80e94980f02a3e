"""The functions that NumPy lacks, against the C library's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from lazycore_reference.special import erf, erfc, lgamma

POINTS = np.concatenate([np.linspace(-7, 7, 20_001), [0.0, -0.0, 1e-300, 1e-8, 5.9999, 6.0, 40.0, -40.0]])


def test_erf_is_within_three_ulps() -> None:
    expected = np.array([math.erf(x) for x in POINTS])
    np.testing.assert_allclose(erf(POINTS), expected, rtol=7e-16, atol=0)


def test_erf_of_single_precision_is_rounded_once() -> None:
    points = POINTS.astype(np.float32)
    expected = np.array([math.erf(x) for x in points])
    np.testing.assert_allclose(erf(points), expected, rtol=6.1e-8, atol=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_erf_of_no_ordinary_numbers(dtype: type[np.floating]) -> None:
    result = erf(np.array([np.inf, -np.inf, np.nan, -0.0], dtype))
    assert result[:2].tolist() == [1, -1]
    assert np.isnan(result[2])
    assert np.signbit(result[3])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_and_shape_are_kept(dtype: type) -> None:
    for function in (erf, erfc, lgamma):
        for shape in ((), (0,), (2, 3)):
            result = function(np.ones(shape, dtype))
            assert (result.dtype, result.shape) == (dtype, shape)


def test_erfc_is_accurate_in_the_tail() -> None:
    assert erfc(np.array([20.0]))[0] == math.erfc(20.0)


def test_lgamma_is_infinite_at_its_poles() -> None:
    result = lgamma(np.array([0.0, -1.0, -2.0, np.inf, -np.inf, -1.5, 3.0]))
    assert np.isposinf(result[:5]).all()
    np.testing.assert_allclose(result[5:], [math.lgamma(-1.5), math.lgamma(3.0)])
