"""Functions on NumPy arrays that a compiled program calls: what needs a tuned library, or loops that TE cannot say."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from lazycore_plugin_api import Argument, BackendError, HostArray, Node, OutOfMemory, TensorSpec, Value

from lazycore_tvm.registry import Lowering
from lazycore_tvm.scalars import HALVES
from lazycore_tvm.tvm_runtime import tvm

__all__ = ["HostCall", "as_array", "take_failure"]

_keys = itertools.count()
# A program knows its functions by number; each belongs to the executable that keeps it, and goes with it.
_calls: weakref.WeakValueDictionary[int, HostCall] = weakref.WeakValueDictionary()


def as_array(tensor: Any, spec: TensorSpec) -> HostArray:
    """TVM's flat tensor as the array it holds, without copying."""
    array: HostArray = np.from_dlpack(tensor)
    return array.view(spec.dtype.numpy).reshape(spec.static_shape)


class HostCall:
    """One node as a call out of the compiled program. 16-bit floats are widened, unless the row is raw."""

    NAME = "lazycore_tvm.host"

    def __init__(self, node: Node, row: Lowering) -> None:
        self.key = next(_keys)
        self._node = node
        self._row = row
        self._inputs = [v.spec for v in node.inputs()]
        self._outputs = [v.spec for v in node.outputs]
        _calls[self.key] = self

    def __call__(self, tensors: Sequence[Any]) -> None:
        """Read the operands among the tensors and write the results into the others; empty ones are not among them.

        Raises BackendError, naming op and line, where the function fails."""
        waiting = iter(tensors)
        arrays = [
            as_array(next(waiting), s) if s.numel else np.empty(s.static_shape, s.dtype.numpy) for s in self._inputs
        ]
        try:
            results = self._results(iter(arrays))
            for result, spec in zip(results, self._outputs, strict=True):
                if spec.numel:
                    _write(as_array(next(waiting), spec), result, spec)
        except Exception as error:
            where = f" ({self._node.source})" if self._node.source else ""
            kind = OutOfMemory if isinstance(error, MemoryError) else BackendError
            raise kind(f"tvm: {self._node.op}{where}: {type(error).__name__}: {error}") from error

    def _results(self, arrays: Iterator[HostArray]) -> tuple[Any, ...]:
        args = [self._argument(a, arrays) for a in self._node.args]
        kwargs = {name: self._argument(a, arrays) for name, a in self._node.kwargs.items()}
        if self._row.needs_out:
            kwargs["out"] = self._outputs
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


class _Failure(threading.local):
    error: BackendError | None = None


_failure = _Failure()


def take_failure() -> BackendError | None:
    """What the last function raised that a program called in this thread; once."""
    error, _failure.error = _failure.error, None
    return error


def _dispatch(key: int, *tensors: Any) -> None:
    try:
        _calls[key](tensors)
    except BackendError as error:
        _failure.error = error  # all that comes out of TVM is a RuntimeError with its text
        raise


tvm.register_global_func(HostCall.NAME, _dispatch, override=True)
