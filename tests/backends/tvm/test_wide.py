"""Loops that threads share, for which small tensors are taken for large ones: sums in blocks and pieces."""

from __future__ import annotations

from textwrap import dedent

import numpy as np
import pytest
import torch
from lazycore_plugin_api import Segment, from_text
from lowering.backends import Backend

pytest.importorskip("tvm")

from lazycore_tvm import threads

aten = torch.ops.aten


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything but the smallest is worth three threads."""
    monkeypatch.setattr(threads, "_WIDE", 8)
    monkeypatch.setenv("TVM_NUM_THREADS", "3")


def _check(tvm: Backend, line: str, x: np.ndarray, expected: torch.Tensor) -> None:
    shape = ",".join(map(str, x.shape))
    kind = {"float32": "f32", "int64": "i64"}[str(x.dtype)]
    text = f"segment(%0: {kind}[{shape}]) {{\n  %1: {line}\n  return %1\n}}"
    segment = from_text(dedent(text))
    assert isinstance(segment, Segment)
    (result,) = tvm.compile(segment).run(tvm.bind(segment, [x]))
    np.testing.assert_allclose(result.to_host(), expected.numpy(), 1e-5, 1e-5)


def _normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("columns", [2, 3, 4, 7, 64, 100])
def test_columns(tvm: Backend, columns: int) -> None:
    x = _normal(9, columns)
    _check(tvm, f"f32[{columns}] = aten.sum.dim_IntList(%0, [0], False, dtype=None)", x, torch.from_numpy(x).sum(0))


@pytest.mark.parametrize("shape", [(5, 4, 3), (5, 2, 9), (5, 1, 7), (1, 5, 8)])
def test_columns_of_several_dimensions(tvm: Backend, shape: tuple[int, ...]) -> None:
    x = _normal(*shape)
    line = f"f32[{shape[1]},{shape[2]}] = aten.sum.dim_IntList(%0, [0], False, dtype=None)"
    _check(tvm, line, x, torch.from_numpy(x).sum(0))


def test_columns_behind_rows(tvm: Backend) -> None:
    x = _normal(6, 5, 7)
    line = "f32[6,7] = aten.sum.dim_IntList(%0, [1], False, dtype=None)"
    _check(tvm, line, x, torch.from_numpy(x).sum(1))


@pytest.mark.parametrize("size", [31, 1000, 32 * 1024, 32 * 1024 + 1, 70000])
def test_one_long_row(tvm: Backend, size: int) -> None:
    x = _normal(size)
    _check(tvm, "f32[] = aten.sum.default(%0, dtype=None)", x, torch.from_numpy(x).sum())
    whole = np.arange(size, dtype=np.int64)
    _check(tvm, "i64[] = aten.sum.default(%0, dtype=None)", whole, torch.from_numpy(whole).sum())


@pytest.mark.parametrize("place", [0, 40000, 69999])
def test_extremes_of_one_long_row(tvm: Backend, place: int) -> None:
    x = _normal(70000)
    x[place] = 9
    _check(tvm, "f32[] = aten.amax.default(%0, [0], False)", x, torch.from_numpy(x).amax(0))
    x[place] = np.nan
    _check(tvm, "f32[] = aten.amin.default(%0, [0], False)", x, torch.from_numpy(x).amin(0))


@pytest.mark.parametrize("ties", [(0, 69999), (1023, 1024), (40000, 40001)])
def test_the_first_of_equals_wins(tvm: Backend, ties: tuple[int, int]) -> None:
    x = np.zeros(70000, np.float32)
    x[list(ties)] = 1
    _check(tvm, "i64[] = aten.argmax.default(%0, 0, False)", x, torch.from_numpy(x).argmax(0))


def test_sums_do_not_depend_on_the_number_of_threads(tvm: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    results = set()
    for count in ("1", "2", "5"):
        monkeypatch.setenv("TVM_NUM_THREADS", count)
        segment = from_text("segment(%0: f32[99999]) {\n  %1: f32[] = aten.sum.default(%0, dtype=None)\n  return %1\n}")
        assert isinstance(segment, Segment)
        (result,) = tvm.compile(segment).run(tvm.bind(segment, [_normal(99999) * 1000]))
        results.add(float(result.to_host()))
    assert len(results) == 1
