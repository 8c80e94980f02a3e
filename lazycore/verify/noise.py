"""How far rounding alone may carry a result away.

Two right computations of a long segment differ by more than one op's tolerance where it magnifies rounding errors. So
the segment is computed in double precision, as it is and with every value jittered by what one rounding could change;
what moves is no backend's fault. This is asked only where a result looks wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
from lazycore_plugin_api import Argument, DType, Graph, HostArray, Node, Value
from lazycore_plugin_api.difference import Tolerance, tolerance_of

from lazycore.compiler.patterns import dissolve
from lazycore.compiler.protocols import RunEager
from lazycore.verify.truth import Values, evaluate

__all__ = ["allowance"]

SAMPLES = 3
MARGIN = 4.0
"""A result may be this many times as far off as the noise that was seen."""

_WIDE = {
    **dict.fromkeys((d for d in DType if d.is_floating), DType.float64),
    **dict.fromkeys((d for d in DType if d.is_complex), DType.complex128),
}

_PARTS = {DType.complex32: DType.float16, DType.complex64: DType.float32, DType.complex128: DType.float64}


def allowance(
    graph: Graph, inputs: Sequence[HostArray], eager: Values, run_eager: RunEager, base: Mapping[DType, Tolerance]
) -> list[Tolerance]:
    """Per output, what it may be off by: the dtype's tolerance and the noise. ``eager``: the outputs as eager execution
    has them; ``base`` overrides dtypes' own tolerances. Where the graph cannot be computed in double precision (it
    looks at bits, say) the noise counts as none."""
    plain = [base.get(v.spec.dtype, tolerance_of(v.spec.dtype)) for v in graph.outputs]
    try:
        runs = _runs(graph, inputs, run_eager)
    except Exception:
        return plain
    samples = [[_wide(eager[v.id]) for v in graph.outputs], *runs[1:]]
    return [_with_noise(t, runs[0][p], [s[p] for s in samples]) for p, t in enumerate(plain)]


def _runs(graph: Graph, inputs: Sequence[HostArray], run_eager: RunEager) -> list[list[HostArray]]:
    flat = dissolve(graph, lambda _: True)
    narrow = {v.id: v.spec.dtype for node in flat.nodes for v in node.outputs}
    wide, arrays = _widened(flat), [_wide(a) for a in inputs]
    exact = evaluate(wide, arrays, run_eager, lambda _, a: _wide(a))
    results = [[exact[v.id] for v in flat.outputs]]
    for seed in range(SAMPLES):
        random = np.random.default_rng(seed)
        jittered = evaluate(wide, arrays, run_eager, _jitter(narrow, random))
        results.append([jittered[v.id] for v in flat.outputs])
    return results


def _jitter(narrow: Mapping[int, DType], random: np.random.Generator) -> Callable[[Value, HostArray], HostArray]:
    return lambda value, array: _jittered(_wide(array), narrow[value.id], random)


def _with_noise(tolerance: Tolerance, exact: HostArray, samples: Sequence[HostArray]) -> Tolerance:
    """The tolerance widened by how far the samples lie from ``exact``; elements that change their kind (a flipped bool,
    a NaN that comes or goes) excuse as many."""
    noise, flips = 0.0, np.zeros(exact.shape, np.bool_)
    for sample in samples:
        off = _distance(exact, sample)
        finite = np.isfinite(off)
        flips |= ~finite
        noise = max(noise, float(off[finite].max(initial=0.0)))
    if exact.dtype.kind in "iub":
        flips = np.logical_or.reduce([s != exact for s in samples])
        noise = 0.0
    return replace(tolerance, atol=tolerance.atol + MARGIN * noise, excused=2 * int(flips.sum()))


def _distance(exact: HostArray, sample: HostArray) -> np.ndarray[Any, np.dtype[np.float64]]:
    with np.errstate(all="ignore"):
        same = (exact == sample) | (np.isnan(exact) & np.isnan(sample))
        off = np.abs(exact.astype(np.complex128) - sample)
    return np.asarray(np.where(same, 0.0, np.where(np.isnan(off), np.inf, off)))


def _wide(array: HostArray) -> HostArray:
    return array.astype(_WIDE.get(DType.of(array.dtype), DType.of(array.dtype)).numpy)


def _jittered(array: HostArray, dtype: DType, random: np.random.Generator) -> HostArray:
    """The values that rounding to ``dtype`` changes, each moved by up to one rounding; all others (masks, counts,
    zeros) are exact in any right computation."""
    if dtype not in _WIDE:
        return array
    with np.errstate(all="ignore"):
        rounded = array.astype(dtype.numpy).astype(array.dtype)
        moved = array * (1 + _epsilon(dtype) * random.uniform(-1, 1, array.shape))
    return np.asarray(np.where((rounded == array) | ~np.isfinite(array), array, moved))


def _epsilon(dtype: DType) -> float:
    part = _PARTS.get(dtype, dtype)
    return float(ml_dtypes.finfo(part.numpy).eps)  # type: ignore[no-untyped-call]


def _widened(graph: Graph) -> Graph:
    """The graph in double precision, under the same ids."""
    nodes = [_widened_node(node) for node in graph.nodes]
    return Graph(tuple(map(_widened_value, graph.inputs)), nodes, tuple(map(_widened_value, graph.outputs)))


def _widened_node(node: Node) -> Node:
    args = tuple(map(_widened_argument, node.args))
    kwargs = {k: _widened_argument(a) for k, a in node.kwargs.items()}
    return replace(node, args=args, kwargs=kwargs, outputs=tuple(map(_widened_value, node.outputs)))


def _widened_argument(argument: Argument) -> Argument:
    if isinstance(argument, Value):
        return _widened_value(argument)
    if isinstance(argument, DType):
        return _WIDE.get(argument, argument)
    return tuple(map(_widened_argument, argument)) if isinstance(argument, tuple) else argument


def _widened_value(value: Value) -> Value:
    dtype = _WIDE.get(value.spec.dtype, value.spec.dtype)
    return Value(value.id, replace(value.spec, dtype=dtype))
