"""Functions on NumPy arrays that a compiled program calls: what needs a tuned library, or loops that TE cannot say."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from lazycore_plugin_api import Argument, BackendError, HostArray, Node, OutOfMemory, Segment, TensorSpec, Value

from lazycore_tvm.registry import TABLE, Kind, Lowering
from lazycore_tvm.scalars import HALVES
from lazycore_tvm.tvm_runtime import tvm

__all__ = ["HostCall", "as_array", "host_calls", "run_with"]


def as_array(tensor: Any, spec: TensorSpec) -> HostArray:
    """TVM's flat tensor as the array it holds, without copying."""
    array: HostArray = np.from_dlpack(tensor)
    return array.view(spec.dtype.numpy).reshape(spec.static_shape)


class HostCall:
    """One node as a call out of the compiled program. 16-bit floats are widened, unless the row is raw."""

    NAME = "lazycore_tvm.host"

    def __init__(self, node: Node, row: Lowering) -> None:
        self._node = node
        self._row = row
        self._inputs = [v.spec for v in node.inputs()]
        self._outputs = [v.spec for v in node.outputs]

    def __call__(self, tensors: Sequence[Any]) -> None:
        """Read the operands among the tensors and write the results into the others; empty ones are not among them.

        Raises BackendError, naming op and line, where the function fails."""
        waiting = iter(tensors)
        arrays, targets = (
            [as_array(next(waiting), s) if s.numel else np.empty(s.static_shape, s.dtype.numpy) for s in specs]
            for specs in (self._inputs, self._outputs)
        )
        try:
            results = self._results(iter(arrays), targets)
            for result, target, spec in zip(results, targets, self._outputs, strict=True):
                if spec.numel and result is not target:
                    _write(target, result, spec)
        except Exception as error:
            where = f" ({self._node.source})" if self._node.source else ""
            kind = OutOfMemory if isinstance(error, MemoryError) else BackendError
            raise kind(f"tvm: {self._node.op}{where}: {type(error).__name__}: {error}") from error

    def _results(self, arrays: Iterator[HostArray], targets: Sequence[HostArray]) -> tuple[Any, ...]:
        args = [self._argument(a, arrays) for a in self._node.args]
        kwargs = {name: self._argument(a, arrays) for name, a in self._node.kwargs.items()}
        if self._row.needs_out:
            kwargs["out"] = self._outputs
        if self._row.fills and self._outputs[0].dtype not in HALVES:
            kwargs["out"] = targets[0]
        with np.errstate(all="ignore"):
            results = self._row.function(*args, **kwargs)
        return results if isinstance(results, tuple) else (results,)

    def _argument(self, argument: Argument, arrays: Iterator[HostArray]) -> Any:
        if isinstance(argument, Value):
            array = next(arrays)
            return array.astype(np.float32) if argument.spec.dtype in HALVES and not self._row.raw else array
        if isinstance(argument, tuple):
            return tuple(self._argument(a, arrays) for a in argument)
        return argument


def _write(target: HostArray, result: Any, spec: TensorSpec) -> None:
    if result is None:  # not asked for
        target.fill(0)
        return
    array = np.asarray(result)
    if array.shape != spec.shape:
        raise TypeError(f"the function gives {list(array.shape)} where the IR says {spec}")
    with np.errstate(all="ignore"):
        np.copyto(target, array.astype(target.dtype, copy=False), casting="no")


def host_calls(segment: Segment) -> list[HostCall]:
    """The calls that the segment's program makes, which knows each by its position here.

    Only of nodes with a result that has elements. Raises KeyError for an op that the table lacks."""
    rows = ((node, TABLE[node.op]) for node in segment.nodes if any(v.spec.numel for v in node.outputs))
    return [HostCall(node, row) for node, row in rows if row.kind is Kind.host]


class _Run(threading.local):
    """What this thread runs: the program's functions, and what one of them raised."""

    calls: Sequence[HostCall] = ()
    error: BackendError | None = None


_run = _Run()


def run_with(calls: Sequence[HostCall], main: Callable[..., Any], tensors: Sequence[Any]) -> Any:
    """What the program returns. Raises BackendError where it or one of its functions fails."""
    if calls:
        _run.calls = calls
    try:
        return main(*tensors)
    except RuntimeError as error:
        raise _run.error or BackendError(f"tvm: {error}") from error
    finally:
        if calls:
            _run.calls, _run.error = (), None


def _dispatch(position: int, *tensors: Any) -> None:
    try:
        _run.calls[position](tensors)
    except BackendError as error:
        _run.error = error  # all that comes out of TVM is a RuntimeError with its text
        raise


tvm.register_global_func(HostCall.NAME, _dispatch, override=True)
