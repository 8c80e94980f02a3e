"""Exponentials and their kin, which the plugin computes itself: every size of number, and all that is none."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lazycore_plugin_api import HostArray, Segment, from_text
from lowering.backends import Backend, open_backend

lazycore_tvm = pytest.importorskip("lazycore_tvm")
pytest.importorskip("tvm")

# How many units in the last place the result may be off.
ULPS = {"exp": 1.5, "expm1": 2, "log": 1.5, "log1p": 2, "tanh": 2, "erf": 6}
SPECIAL = np.array(
    [0.0, -0.0, 1e-20, -1e-20, 1e-40, -1e-40, np.inf, -np.inf, np.nan, 1, -1, 88.72283, 88.72284, -87.4, -103.97,
     -103.98, 3.4e38, -3.4e38, 2.0**-126, 0.625, -0.625, 3.92, -3.92, 100, -100], np.float32,
)  # fmt: skip
SIZE = 1 << 16


@cache
def _function(op: str) -> Callable[[HostArray], HostArray]:
    backend: Backend = open_backend("tvm")
    text = f"segment(%0: f32[{SIZE}]) {{\n  %1: f32[{SIZE}] = aten.{op}.default(%0)\n  return %1\n}}"
    segment = from_text(dedent(text))
    assert isinstance(segment, Segment)
    executable = backend.compile(segment)

    def run(x: HostArray) -> HostArray:
        padded = np.resize(x, SIZE)
        return executable.run(backend.bind(segment, [padded]))[0].to_host()[: x.size]

    return run


def _check(op: str, x: HostArray) -> None:
    actual = _function(op)(x)
    exact = getattr(torch, op)(torch.from_numpy(x.astype(np.float64))).numpy()
    with np.errstate(over="ignore"):
        expected = exact.astype(np.float32)
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(actual[~finite], expected[~finite], err_msg=op)
    signs = ~np.isnan(expected)
    wrong = x[signs][np.signbit(actual[signs]) != np.signbit(expected[signs])]
    assert wrong.size == 0, f"{op}: signs of the results for {wrong[:5]}"
    off = np.abs(actual[finite] - exact[finite]) / np.spacing(np.abs(expected[finite]))
    worst = int(np.argmax(off)) if off.size else 0
    assert off.size == 0 or off[worst] <= ULPS[op], f"{op}({x[finite][worst]!r}) is {off[worst]:.1f} units off"


def _all_sizes() -> HostArray:
    """Numbers of every exponent and both signs, and where the functions turn."""
    patterns = np.arange(0, 1 << 32, (1 << 32) // (SIZE // 2) + 1, dtype=np.uint64).astype(np.uint32).view(np.float32)
    return np.concatenate([SPECIAL, np.linspace(-110, 100, SIZE // 4, dtype=np.float32), patterns])


@pytest.mark.parametrize("op", ULPS)
def test_every_size_of_number(op: str) -> None:
    _check(op, _all_sizes())
    _check(op, np.linspace(-5, 5, SIZE, dtype=np.float32))


@pytest.mark.parametrize("op", ULPS)
@settings(max_examples=50, deadline=None)
@given(numbers=st.lists(st.floats(width=32), min_size=1, max_size=64))
def test_any_numbers(op: str, numbers: list[float]) -> None:
    _check(op, np.array(numbers, np.float32))


def _far(op: str, x: HostArray, **kwargs: Any) -> HostArray:
    return getattr(torch.nn.functional, op)(torch.from_numpy(x), **kwargs).numpy()


@pytest.mark.parametrize("op", ["gelu", "silu", "mish", "softplus"])
def test_activations_have_no_tails(op: str) -> None:
    """Where an activation is 0 or its operand, not even a small error may be multiplied with the operand."""
    x = np.array([-1e4, -1e3, -100, -30, -25, 25, 30, 100, 1e3, 1e4], np.float32)
    text = {
        "gelu": "gelu.default(%0, approximate='none')", "silu": "silu.default(%0)", "mish": "mish.default(%0)",
        "softplus": "softplus.default(%0, 1, 20)",
    }[op]  # fmt: skip
    backend = open_backend("tvm")
    segment = from_text(f"segment(%0: f32[10]) {{\n  %1: f32[10] = aten.{text}\n  return %1\n}}")
    assert isinstance(segment, Segment)
    (result,) = backend.compile(segment).run(backend.bind(segment, [x]))
    np.testing.assert_allclose(result.to_host(), _far(op, x), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("word", ["if_then_else", "tir.Let", "tvm.te"])
def test_lowerings_say_nothing_that_kernels_do_not_understand(word: str) -> None:
    """A value has its name in front of the expression that it is in: what must not be computed is for ``either``."""
    package = Path(lazycore_tvm.__file__).parent
    assert [p.name for p in package.rglob("*.py") if word in p.read_text() and p.name != "loops.py"] == []
