"""One compiled program per segment, with a virtual machine for each thread that runs it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from lazycore_plugin_api import BackendError, Buffer, Executable, HostArray, Segment, TensorSpec

import lazycore_tvm.lowerings  # noqa: F401  (fills the table)
from lazycore_tvm.emit import Emitter
from lazycore_tvm.host_calls import HostCall, take_failure
from lazycore_tvm.session import TvmBuffer, to_tensor
from lazycore_tvm.tvm_runtime import COMPILE_LOCK, compile_module, tvm

__all__ = ["TvmExecutable", "compile_segment"]


class TvmExecutable(Executable):
    """A loaded program. The segment's outputs are buffers of their own: the emitter copies what would alias."""

    def __init__(self, compiled: Any, segment: Segment, calls: Sequence[HostCall]) -> None:
        self._compiled = compiled
        self._calls = calls
        self._inputs = [v.spec for v in segment.arguments]
        self._outputs = [v.spec for v in segment.outputs]
        self._machines = threading.local()
        self._machines.main = self._machine()

    def run(self, inputs: Sequence[Buffer | HostArray]) -> Sequence[Buffer]:
        """Returns when everything is computed. Raises BackendError where a function on the host fails."""
        tensors = [_tensor(i, spec) for i, spec in zip(inputs, self._inputs, strict=True) if spec.numel]
        main = self._main()
        try:
            results = iter(main(*tensors))
        except RuntimeError as error:
            raise take_failure() or BackendError(f"tvm: {error}") from error
        return [TvmBuffer(next(results) if spec.numel else None, spec) for spec in self._outputs]

    def _main(self) -> Any:
        main = getattr(self._machines, "main", None)
        if main is None:
            with COMPILE_LOCK:
                main = self._machines.main = self._machine()
        return main

    def _machine(self) -> Any:
        # Its other allocator keeps whatever was ever allocated.
        return tvm.relax.VirtualMachine(self._compiled, tvm.cpu(), memory_cfg="naive")["main"]


def _tensor(value: Buffer | HostArray, spec: TensorSpec) -> Any:
    if type(value) is TvmBuffer:
        return value.tensor
    if isinstance(value, Buffer):
        raise BackendError(f"tvm: {spec} is a {type(value).__name__}, not a buffer of this session")
    return to_tensor(value, spec.dtype, share=False)


def compile_segment(segment: Segment) -> TvmExecutable:
    """Compile for this machine. Raises BackendError from a lowering, or what TVM raises."""
    with COMPILE_LOCK:
        emitter = Emitter(segment)
        return TvmExecutable(compile_module(emitter.module()), segment, emitter.calls)
