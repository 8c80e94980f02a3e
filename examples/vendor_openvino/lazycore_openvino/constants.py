"""Frozen weights in the form that the compiled model wants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
from lazycore_plugin_api import HostArray, Node, Segment, Value

from lazycore_openvino.patterns import NORMALIZATION, find

STATISTICS = ("w", "gamma", "beta", "mean", "variance")


def folded(segment: Segment) -> list[Node]:
    """The convolutions whose normalization goes into their weights: all of it is bound, and nobody else reads it."""
    positions = {value.id: p for p, value in enumerate(segment.inputs) if p in segment.constants}
    readers = Counter(v.id for node in segment.nodes for v in set(node.inputs()))
    readers.update(v.id for v in segment.outputs)

    def owned(node: Node) -> bool:
        values = [v for name in ("b", *STATISTICS) if isinstance(v := node.kwargs.get(name), Value)]
        return len({v.id for v in values}) == len(values) and all(
            v.id in positions and readers[v.id] == 1 for v in values
        )

    return [node for node in segment.nodes if find(node, NORMALIZATION) is not None and owned(node)]


def prepare(segment: Segment, constants: Mapping[int, HostArray]) -> Mapping[int, HostArray]:
    """Position -> array: floats as float32; of a folded convolution ``w`` and ``beta`` are the new weight and bias."""
    prepared = {p: a if a.dtype.kind in "ib" else a.astype(np.float32) for p, a in constants.items()}
    positions = {value.id: p for p, value in enumerate(segment.inputs)}
    for node in folded(segment):
        at = [positions[v.id] for name in STATISTICS if isinstance(v := node.kwargs[name], Value)]
        weight, gamma, beta, mean, variance = (prepared[p].astype(np.float64) for p in at)
        normalization = find(node, NORMALIZATION)
        assert normalization is not None
        factor = gamma / np.sqrt(variance + normalization.args[7])
        prepared[at[0]] = (weight * factor.reshape(-1, *[1] * (weight.ndim - 1))).astype(np.float32)
        bias = node.kwargs.get("b")
        own = prepared[positions[bias.id]] if isinstance(bias, Value) else 0.0
        prepared[at[2]] = (beta + (own - mean) * factor).astype(np.float32)
    return prepared
