"""What is right op by op must be right fused: TVM's simplifier sees all of a kernel at once."""

from __future__ import annotations

import numpy as np
import pytest
from lazycore_plugin_api import DType, Segment, Supported, verify
from lowering.backends import Backend

from lazycore.conformance.fuzz.graphs import built, chosen_at_random
from lazycore.conformance.fuzz.menus import exact_menu


def _results(backend: Backend, segment: Segment, arrays: list[np.ndarray]) -> list[np.ndarray]:
    assert all(isinstance(backend.supports(node), Supported) for node in segment.nodes)
    executable = backend.compile(segment)
    return [b.to_host() for b in executable.run(backend.bind(segment, arrays))]


def _check(seed: int, dtype: DType, tvm: Backend, reference: Backend) -> None:
    graph = built(chosen_at_random(seed, 14), exact_menu(dtype), seed)
    verify(graph.segment)
    results = _results(tvm, graph.segment, graph.arrays)
    expected = _results(reference, graph.segment, graph.arrays)
    for actual, right in zip(results, expected, strict=True):
        assert actual.dtype == right.dtype
        if dtype.is_floating:
            actual, right = actual.astype(np.float64), right.astype(np.float64)
        np.testing.assert_array_equal(actual, right, err_msg=str(graph.segment))
        if dtype.is_floating:
            number = ~np.isnan(right)
            signs = np.signbit(actual)[number], np.signbit(right)[number]
            np.testing.assert_array_equal(*signs, err_msg=f"signs of zeros in\n{graph.segment}")


@pytest.mark.parametrize("dtype", [DType.float32, DType.bfloat16, DType.int64])
@pytest.mark.parametrize("seed", range(6))
def test_random_graphs(tvm: Backend, reference: Backend, dtype: DType, seed: int) -> None:
    _check(seed, dtype, tvm, reference)
