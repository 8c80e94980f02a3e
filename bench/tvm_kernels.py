"""Kernels of the TVM backend beside PyTorch eager's: ``python -m bench.tvm_kernels``.

Both take turns in one process, on ``OMP_NUM_THREADS`` threads (1), and each figure is the smallest of the rounds':
noise only adds. Results are compared, so that a kernel that computes something else does not count. It ends with 1
where a kernel takes longer than it may; ``--compile`` measures how long programs of repeated layers take to compile.
``docs/tvm-kernels.md`` has figures and what is behind them.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

# NumPy's BLAS reads it when it is imported, PyTorch and TVM when they are first used.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from lazycore_plugin_api import CompileContext, CompileFailure, Executable, OpenContext, Segment, Target, from_text
from lazycore_tvm import plugin
from rich.console import Console
from rich.table import Table

F, aten = torch.nn.functional, torch.ops.aten
TARGET = Target("tvm", "cpu")
M, ROWS = "1048576", "512,1024"
# A turn is a few runs, after a pause in which the other way's threads stop waiting for work in a loop.
_TURN, _PAUSE = 5, 0.005
# Seconds in which a program of so many ops of repeated layers has to be compiled.
COMPILE_LIMITS = {200: 1.0, 800: 2.5}


@dataclass(frozen=True)
class Case:
    """A few ops: the shapes of the inputs ``%0`` …, the lines that follow them, the same by PyTorch, and how many
    times as long as PyTorch they may take."""

    name: str
    shapes: tuple[str, ...]
    lines: tuple[str, ...]
    eager: Callable[..., Any]
    limit: float = 1.0

    def segment(self) -> Segment:
        """The lines as a program that returns the first result of the last."""
        parameters = ", ".join(f"%{i}: f32[{shape}]" for i, shape in enumerate(self.shapes))
        return _segment([f"segment({parameters}) {{", *self.lines, f"return {self.lines[-1].split(':')[0]}", "}"])

    def arrays(self) -> list[np.ndarray]:
        """Normal numbers."""
        generator = np.random.default_rng(0)
        shapes = [tuple(map(int, shape.split(","))) for shape in self.shapes]
        return [generator.standard_normal(shape).astype(np.float32) for shape in shapes]


def _segment(lines: Sequence[str]) -> Segment:
    graph = from_text("\n".join(lines))
    assert isinstance(graph, Segment)
    return graph


def _unary(name: str, eager: Callable[..., Any], arguments: str = "") -> Case:
    return Case(f"{name}{arguments} 1M", (M,), (f"%1: f32[{M}] = aten.{name}.default(%0{arguments})",), eager)


def _chain(*calls: str) -> tuple[str, ...]:
    """Calls of two operands of 1M elements, whose results are ``%2`` …"""
    return tuple(f"%{i}: f32[{M}] = aten.{call}" for i, call in enumerate(calls, start=2))


FIFTEEN = ("mul.Tensor", "maximum.default", "mul.Tensor", "minimum.default") * 3 + ("mul.Tensor", "mul.Tensor")


def _fifteen(x: Any, y: Any) -> Any:
    value = x + y
    for i, op in enumerate(FIFTEEN, start=2):
        value = getattr(torch, op.split(".")[0])(value, (x, y)[i % 2])
    return value


def _layer_norm_gradients(grad: Any, x: Any, mean: Any, rstd: Any, weight: Any, bias: Any) -> Any:
    dx, dw, db = aten.native_layer_norm_backward(grad, x, [1024], mean, rstd, weight, bias, [True] * 3)
    return dx + (dw + db)


def _moved(name: str, source: str, dims: str, to: str, eager: Callable[..., Any]) -> Case:
    lines = f"%1: f32[{to}] = aten.permute.default(%0, {dims})", f"%2: f32[{to}] = aten.clone.default(%1)"
    return Case(name, (source,), lines, eager)


_LAYER = "aten.native_layer_norm.default(%0, [1024], %1, %2, 1e-05)"
_LAYER_BACKWARD = "aten.native_layer_norm_backward.default(%0, %1, [1024], %2, %3, %4, %5, [True, True, True])"
CASES = (
    _unary("exp", torch.exp),
    _unary("tanh", torch.tanh),
    _unary("sigmoid", torch.sigmoid),
    _unary("erf", torch.erf),
    _unary("relu", torch.relu),
    _unary("silu", F.silu),
    _unary("gelu", F.gelu, ", approximate='none'"),
    _unary("gelu", lambda x: F.gelu(x, approximate="tanh"), ", approximate='tanh'"),
    Case("gelu backward 1M", (M, M), _chain("gelu_backward.default(%0, %1, approximate='none')"), aten.gelu_backward),
    Case(
        "tanh((x + y) * x) + 2 y", (M, M),
        _chain("add.Tensor(%0, %1, alpha=1)", "mul.Tensor(%2, %0)", "tanh.default(%3)", "add.Tensor(%4, %1, alpha=2)"),
        lambda x, y: torch.tanh((x + y) * x) + 2 * y,
    ),
    Case(
        "chain of 15", (M, M),
        _chain("add.Tensor(%0, %1, alpha=1)", *(f"{op}(%{i}, %{i % 2})" for i, op in enumerate(FIFTEEN, start=2))),
        _fifteen,
    ),
    Case("softmax", (ROWS,), (f"%1: f32[{ROWS}] = aten._softmax.default(%0, 1, False)",), lambda x: x.softmax(1)),
    Case(
        "log_softmax", (ROWS,), (f"%1: f32[{ROWS}] = aten._log_softmax.default(%0, 1, False)",),
        lambda x: x.log_softmax(1),
    ),
    Case(
        "softmax backward", (ROWS, ROWS), (f"%2: f32[{ROWS}] = aten._softmax_backward_data.default(%0, %1, 1, f32)",),
        lambda g, y: aten._softmax_backward_data(g, y, 1, torch.float32),
    ),
    Case(
        "layer norm", (ROWS, "1024", "1024"), (f"%3: f32[{ROWS}], %4: f32[512,1], %5: f32[512,1] = {_LAYER}",),
        lambda x, w, b: F.layer_norm(x, (1024,), w, b),
    ),
    Case(
        "layer norm backward", (ROWS, ROWS, "512,1", "512,1", "1024", "1024"),
        (f"%6: f32[{ROWS}], %7: f32[1024], %8: f32[1024] = {_LAYER_BACKWARD}",
         "%9: f32[1024] = aten.add.Tensor(%7, %8, alpha=1)", f"%10: f32[{ROWS}] = aten.add.Tensor(%6, %9, alpha=1)"),
        _layer_norm_gradients,
    ),
    Case("sum 1M", (M,), ("%1: f32[] = aten.sum.default(%0, dtype=None)",), torch.sum, 1.5),
    Case(
        "sum of columns", ("1024,1024",), ("%1: f32[1024] = aten.sum.dim_IntList(%0, [0], False, dtype=None)",),
        lambda x: x.sum(0),
    ),
    Case("amax", (ROWS,), ("%1: f32[512] = aten.amax.default(%0, [1], False)",), lambda x: x.amax(1), 2.0),
    _moved("transpose 1024x1024", "1024,1024", "[1, 0]", "1024,1024", lambda x: x.t().contiguous()),
    _moved("heads 8x128x8x128", "8,128,8,128", "[0, 2, 1, 3]", "8,8,128,128", lambda x: x.transpose(1, 2).contiguous()),
    Case("matmul 512^3", ("512,512",) * 2, ("%2: f32[512,512] = aten.mm.default(%0, %1)",), torch.mm, 1.3),
    Case("bmm", ("16,128,64", "16,64,128"), ("%2: f32[16,128,128] = aten.bmm.default(%0, %1)",), torch.bmm, 1.3),
)  # fmt: skip


def layers(ops: int) -> Segment:
    """A linear layer, activation, norms and a residual sum, again and again, with numbers of their own."""
    full, lines, last, ids = "f32[64,128]", ["segment(%0: f32[64,128], %1: f32[128,128], %2: f32[128]) {"], 0, count(3)
    for layer in range(ops // 8):
        a, b, c, mean, rstd, d, e, f, g = (next(ids) for _ in range(9))
        lines += [
            f"%{a}: {full} = aten.mm.default(%{last}, %1)",
            f"%{b}: {full} = aten.gelu.default(%{a}, approximate='none')",
            f"%{c}: {full}, %{mean}: f32[64,1], %{rstd}: f32[64,1] = "
            f"aten.native_layer_norm.default(%{b}, [128], %2, %2, 1e-05)",
            f"%{d}: {full} = aten._softmax.default(%{c}, 1, False)",
            f"%{e}: {full} = aten.mul.Scalar(%{d}, {1 + layer / 1024})",
            f"%{f}: {full} = aten.add.Tensor(%{e}, %{last}, alpha=1)",
            f"%{g}: f32[128] = aten.sum.dim_IntList(%{f}, [0], False, dtype=None)",
        ]
        last = next(ids)
        lines.append(f"%{last}: {full} = aten.sub.Tensor(%{f}, %{g}, alpha=1)")
    return _segment([*lines, f"return %{last}", "}"])


def _compiled(segment: Segment, context: CompileContext) -> Executable:
    (result,) = plugin.lazycore_compile([segment], context)
    if isinstance(result, CompileFailure):
        raise SystemExit(result.reason)
    return result


def measure(case: Case, context: CompileContext, rounds: int) -> tuple[float, float]:
    """Seconds on TVM and by PyTorch. Raises AssertionError where the results differ."""
    executable = _compiled(case.segment(), context)
    # Both read the same memory: NumPy's own is in huge pages, which TVM would copy out of as it is not aligned.
    tensors = [torch.from_numpy(a).clone() for a in case.arrays()]
    buffers = [context.session.upload(t.numpy()) for t in tensors]
    assert all(b.to_host().ctypes.data == t.data_ptr() for b, t in zip(buffers, tensors, strict=True))
    expected = case.eager(*tensors).numpy()
    np.testing.assert_allclose(executable.run(buffers)[0].to_host(), expected, 1e-4, 1e-4, err_msg=case.name)
    best = [float("inf")] * 2
    for _ in range(rounds):
        for way, run in enumerate((lambda: executable.run(buffers), lambda: case.eager(*tensors))):
            time.sleep(_PAUSE)
            for _ in range(_TURN):
                start = time.perf_counter()
                run()
                best[way] = min(best[way], time.perf_counter() - start)
    return best[0], best[1]


def kernels(context: CompileContext, options: argparse.Namespace) -> bool:
    """Print a table; whether all keep to their limits."""
    table, good = Table(title=f"ms on {torch.get_num_threads()} threads"), True
    for heading in ("kernel", "TVM", "PyTorch", "ratio", "allowed"):
        table.add_column(heading, justify="left" if heading == "kernel" else "right")
    for case in CASES:
        if options.only in case.name:
            own, eager = measure(case, context, options.rounds)
            late = own > eager * case.limit
            good &= not late
            figures = f"{own * 1e3:.3f}", f"{eager * 1e3:.3f}", f"{own / eager:.2f}{' !' if late else ''}"
            table.add_row(case.name, *figures, str(case.limit))
    Console().print(table)
    return good


def compiles(context: CompileContext) -> bool:
    """Print seconds by length; whether all keep to their limits."""
    _compiled(layers(8), context)
    good = True
    for ops, limit in COMPILE_LIMITS.items():
        segment, start = layers(ops), time.perf_counter()
        executable = _compiled(segment, context)
        seconds, stored = time.perf_counter() - start, time.perf_counter()
        executable.serialize()
        good &= seconds <= limit
        print(f"{ops} ops: compiled in {seconds:.2f} s of {limit}, stored in {time.perf_counter() - stored:.2f} s")
    return good


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--only", default="", help="kernels with this in their name")
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    context = CompileContext(plugin.lazycore_open(OpenContext(TARGET)), TARGET)
    return 0 if (compiles(context) if options.compile else kernels(context, options)) else 1


if __name__ == "__main__":
    sys.exit(main())
