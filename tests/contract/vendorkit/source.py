"""The plugin's source: a handful of ops on NumPy, every hook call written down in ``CALLS``.

``NAME`` is the backend's name, and what a test appends to the source overrides what stands here.
"""

from __future__ import annotations

__all__ = ["SOURCE"]

SOURCE = """
import numpy as np
from lazycore_plugin_api import *
from lazycore_plugin_api.patterns import Any, Constant, Op, Optional

CALLS = []
SEGMENTS = []
POLICY = Constants.passed
TAKES = {"aten.addmm.default", "aten.relu.default", "aten.permute.default", "aten.mul.Tensor", "aten.neg.default"}
KERNELS = {
    "aten.addmm.default": lambda bias, x, w, beta, alpha: bias * beta + x @ w * alpha,
    "aten.linear.default": lambda x, w, bias: x @ w.T + (0 if bias is None else bias),
    "aten.relu.default": lambda x: np.maximum(x, 0),
    "aten.permute.default": np.transpose,
    "aten.mul.Tensor": np.multiply,
    "aten.neg.default": np.negative,
    "aten.scalar_tensor.default": lambda x, dtype: np.asarray(x, dtype.numpy),
}


def interpret(graph, arrays):
    known = {value.id: array for value, array in zip(graph.inputs, arrays, strict=True)}
    for node in graph.nodes:
        if node.body is not None:
            results = interpret(node.body, [known[v.id] for v in node.inputs()])
        else:
            args = [known[a.id] if isinstance(a, Value) else a for a in node.args]
            kwargs = {k: known[a.id] if isinstance(a, Value) else a for k, a in node.kwargs.items()}
            results = [np.asarray(KERNELS[node.op](*args, **kwargs), node.outputs[0].spec.dtype.numpy)]
        known.update((v.id, r) for v, r in zip(node.outputs, results, strict=True))
    return [known[v.id] for v in graph.outputs]


class Program(Executable):
    def __init__(self, segment):
        self.segment = segment
        SEGMENTS.append(segment)

    def run(self, inputs):
        arrays = [x.to_host() if isinstance(x, Buffer) else x for x in inputs]
        CALLS.append(("run", len(inputs)))
        arrays += [self.segment.constants[p] for p in range(len(arrays), len(self.segment.inputs))]
        return [HostBuffer(np.array(a, order="C", copy=True)) for a in interpret(self.segment, arrays)]


@hookimpl
def lazycore_backend_info():
    CALLS.append(("lazycore_backend_info", NAME))
    return BackendInfo(NAME, "3.1", constants=POLICY)


@hookimpl
def lazycore_supports(node, target):
    CALLS.append(("lazycore_supports", node.op))
    return Supported() if node.op in TAKES or node.body is not None else Rejected("op", f"no {node.op}")


@hookimpl
def lazycore_compile(segments, ctx):
    CALLS.append(("lazycore_compile", len(segments)))
    return [Program(segment) for segment in segments]
"""
