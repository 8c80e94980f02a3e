"""A right backend of a few operators, as source; ``FAULTS`` are what a fault appends to it."""

from __future__ import annotations

__all__ = ["FAULTS", "RIGHT"]

RIGHT = """
import numpy as np
from lazycore_plugin_api import *

XFAILS, TOLERANCES, DTYPES = {}, {}, (DType.float32, DType.int64, DType.bool)


def _sum(x, dim, keepdim, dtype):
    return x.sum(axis=tuple(dim or ()) or None, keepdims=keepdim) if x.ndim else x


KERNELS = {
    "aten.add.Tensor": lambda x, y, alpha: x + y * np.asarray(alpha, x.dtype),
    "aten.mul.Tensor": np.multiply,
    "aten.mul.Scalar": lambda x, y: x * np.asarray(y, x.dtype),
    "aten.neg.default": np.negative,
    "aten.exp.default": np.exp,
    "aten.maximum.default": np.maximum,
    "aten.sum.dim_IntList": _sum,
    "aten.mm.default": np.matmul,
    "aten.alias.default": np.array,
}


def compute(node, arrays):
    args = [arrays[a.id] if isinstance(a, Value) else a for a in node.args]
    kwargs = {k: arrays[a.id] if isinstance(a, Value) else a for k, a in node.kwargs.items()}
    with np.errstate(all="ignore"):
        result = KERNELS[node.op](*args, **kwargs)
    return np.array(result, node.outputs[0].spec.dtype.numpy, order="C")


class Program(Executable):
    def __init__(self, segment):
        self.segment = segment

    def run(self, inputs):
        arrays = {}
        for value, x in zip(self.segment.arguments, inputs):
            arrays[value.id] = x.to_host() if isinstance(x, Buffer) else x
        for node in self.segment.nodes:
            arrays[node.outputs[0].id] = compute(node, arrays)
        return [HostBuffer(arrays[v.id]) for v in self.segment.outputs]

    def serialize(self):
        return to_json(self.segment).encode()


@hookimpl
def lazycore_backend_info():
    return BackendInfo(NAME, "1.0", dtypes=frozenset(DTYPES))


@hookimpl
def lazycore_supports(node):
    plain = {v.spec.dtype for v in (*node.inputs(), *node.outputs)} <= {DType.float32}
    whole = node.op == "aten.alias.default"
    return Supported() if node.op in KERNELS and (plain or whole) else Rejected("op", f"no {node.op}")


@hookimpl
def lazycore_compile(segments):
    known = [all(n.op in KERNELS for n in s.nodes) for s in segments]
    return [Program(s) if k else CompileFailure("no lowering") for s, k in zip(segments, known)]


@hookimpl
def lazycore_load(artifact):
    return Program(from_json(artifact.payload.decode()))


@hookimpl
def lazycore_conformance():
    return Profile(DTYPES, TOLERANCES, XFAILS)
"""

FAULTS = {
    "some ulps": """
KERNELS["aten.exp.default"] = lambda x: np.exp(x) * np.float32(1 + 40 * 2.0**-23)
""",
    "half precision": """
KERNELS["aten.mm.default"] = lambda x, y: x.astype(np.float16) @ y.astype(np.float16)
""",
    "another axis": """
def elsewhere(x, dim, keepdim, dtype):
    return x.sum(axis=tuple(~d for d in dim or ()) or None, keepdims=keepdim) if x.ndim else x
KERNELS["aten.sum.dim_IntList"] = elsewhere
""",
    "drops NaN": """
KERNELS["aten.maximum.default"] = np.fmax
""",
    "no alpha": """
KERNELS["aten.add.Tensor"] = lambda x, y, alpha: x + y
""",
    "returns its input": """
KERNELS["aten.alias.default"] = None
old_run = Program.run
def run(self, inputs):
    if self.segment.nodes[0].op == "aten.alias.default":
        return list(inputs)
    return old_run(self, inputs)
Program.run = run
""",
    "writes its input": """
def negated(x):
    x *= -1
    return x
KERNELS["aten.neg.default"] = negated
""",
    "one result twice": """
old_run = Program.run
def run(self, inputs):
    results = old_run(self, inputs)
    return [results[0]] * len(results) if len({r.spec for r in results}) == 1 else results
Program.run = run
""",
    "wrong dtype": """
old_run = Program.run
def run(self, inputs):
    return [HostBuffer(b.to_host().astype(np.float64)) for b in old_run(self, inputs)]
Program.run = run
""",
    "claims without compiling": """
KERNELS["aten.mul.Tensor"] = np.multiply
@hookimpl
def lazycore_compile(segments):
    return [CompileFailure("later") if "aten.mul.Tensor" in [n.op for n in s.nodes] else Program(s) for s in segments]
""",
    "runs in PyTorch": """
def by_torch(x, y):
    import torch
    return torch.mul(torch.from_numpy(x.copy()), torch.from_numpy(y.copy())).numpy()
KERNELS["aten.mul.Tensor"] = by_torch
""",
    "runs on the reference": """
def by_reference(x, y):
    from lazycore_reference.plugin import lazycore_compile as theirs
    values = [Value(i, TensorSpec(a.shape, DType.of(a.dtype))) for i, a in enumerate((x, y))]
    out = Value(2, TensorSpec(np.broadcast_shapes(x.shape, y.shape), DType.float32))
    segment = Segment(tuple(values), [Node("aten.mul.Tensor", tuple(values), {}, (out,))], (out,))
    (program,) = theirs([segment], None)
    return program.run([HostBuffer(x), HostBuffer(y)])[0].to_host()
KERNELS["aten.mul.Tensor"] = by_reference
""",
    "hangs": """
def forever(x):
    import time
    time.sleep(3600)
KERNELS["aten.neg.default"] = forever
""",
    "crashes": """
def crash(x):
    import ctypes
    ctypes.string_at(0)
KERNELS["aten.neg.default"] = crash
""",
    "exits": """
def leave(x):
    import sys
    sys.exit(3)
KERNELS["aten.neg.default"] = leave
""",
    "bakes a number in": """
SEEN = {}
def baked(x, y):
    return x * np.asarray(SEEN.setdefault("y", y), x.dtype)
KERNELS["aten.mul.Scalar"] = baked
""",
    "claims the unknown": """
@hookimpl
def lazycore_supports(node):
    return Supported()
""",
    "supports raises": """
@hookimpl
def lazycore_supports(node):
    raise KeyError(node.op)
""",
    "changes its mind": """
ASKED = []
@hookimpl
def lazycore_supports(node):
    ASKED.append(node.op)
    return Supported() if node.op in KERNELS and len(ASKED) % 2 else Rejected("op", "not now")
""",
    "wrong order": """
@hookimpl
def lazycore_compile(segments):
    return [Program(s) for s in reversed(segments)]
""",
    "loads garbage": """
@hookimpl
def lazycore_load(artifact):
    return None
""",
    "another version's artifacts": """
@hookimpl
def lazycore_check_artifact(meta):
    return Compat.optimal
""",
    "not of many threads": """
SHARED = {}
@hookimpl
def lazycore_backend_info():
    capabilities = Capabilities(run_threads=Threads.concurrent)
    return BackendInfo(NAME, "1.0", dtypes=frozenset(DTYPES), capabilities=capabilities)
old_run = Program.run
def run(self, inputs):
    import time
    SHARED["inputs"], SHARED["segment"] = inputs, self
    time.sleep(0.01)
    return old_run(SHARED["segment"], SHARED["inputs"])
Program.run = run
""",
}
