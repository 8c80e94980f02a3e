"""One compiled program per segment, with a virtual machine for each thread that runs it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import count
from typing import Any

from lazycore_plugin_api import (
    BackendError,
    Buffer,
    Executable,
    HostArray,
    Segment,
    TensorSpec,
    sizes_of,
    specialized,
    symbol_places,
)

import lazycore_tvm.lowerings  # noqa: F401  (fills the table)
from lazycore_tvm.artifact import load, save
from lazycore_tvm.emit import Emitter
from lazycore_tvm.host_calls import host_calls, run_with
from lazycore_tvm.pool import POOL
from lazycore_tvm.session import TvmBuffer, to_tensor
from lazycore_tvm.tvm_runtime import COMPILE_LOCK, compile_module, tvm

__all__ = ["TvmExecutable", "compile_segment", "load_executable"]

# By its own function, which takes a fifth of the time of an array's subscript.
_item = tvm.get_global_func("ffi.ArrayGetItem")
# Sizes of one program that are remembered.
_BINDINGS = 64


class _Binding:
    """What a launch of a segment takes whose sizes are numbers. ``inputs``: the specs, None of empty tensors, which the
    program does not take; ``outputs``: the specs and which of its results each is, None of empty ones. ``sizes``: the
    symbols' values, for the program."""

    def __init__(self, segment: Segment, sizes: tuple[int, ...]) -> None:
        self.calls = host_calls(segment)
        self.inputs = [v.spec if v.spec.numel else None for v in segment.arguments]
        places = count()
        self.outputs = [(v.spec, next(places) if v.spec.numel else None) for v in segment.outputs]
        self.sizes = (tvm.runtime.ShapeTuple(sizes),) if sizes else ()


class TvmExecutable(Executable):
    """A loaded program. The segment's outputs are buffers of their own: the emitter copies what would alias.
    ``fresh``: compiled by this process, and so one that can be stored."""

    def __init__(self, compiled: Any, segment: Segment, fresh: bool) -> None:
        self._compiled = compiled
        self._segment = segment
        self._fresh = fresh
        self._places = symbol_places(segment)
        self._bound: dict[tuple[int, ...], _Binding] = {}
        self._static = None if self._places else self._bind(())
        self._machines = threading.local()
        self._machines.main = self._machine()

    def run(self, inputs: Sequence[Buffer | HostArray]) -> Sequence[Buffer]:
        """Returns when everything is computed. Raises BackendError where a function on the host fails."""
        bound = self._static or self._binding(tuple(sizes_of(self._places, inputs).values()))
        tensors = [_tensor(i, spec) for i, spec in zip(inputs, bound.inputs, strict=True) if spec is not None]
        POOL.start()
        results = run_with(bound.calls, self._main(), [*tensors, *bound.sizes])
        return [TvmBuffer(None if n is None else _item(results, n), spec) for spec, n in bound.outputs]

    def serialize(self) -> bytes | None:
        """The program as a shared library. None for one that was loaded, and where nothing can link one."""
        return save(self._compiled, self._segment) if self._fresh else None

    def _binding(self, sizes: tuple[int, ...]) -> _Binding:
        bound = self._bound.get(sizes)
        if bound is None:
            if len(self._bound) >= _BINDINGS:
                self._bound.clear()
            bound = self._bound[sizes] = self._bind(sizes)
        return bound

    def _bind(self, sizes: tuple[int, ...]) -> _Binding:
        values = dict(zip(self._places, sizes, strict=True))
        return _Binding(specialized(self._segment, values) if values else self._segment, sizes)

    def _main(self) -> Any:
        main = getattr(self._machines, "main", None)
        if main is None:
            with COMPILE_LOCK, POOL.takes_loops():
                main = self._machines.main = self._machine()
        return main

    def _machine(self) -> Any:
        # Its other allocator keeps whatever was ever allocated.
        return tvm.relax.VirtualMachine(self._compiled, tvm.cpu(), memory_cfg="naive")["main"]


def _tensor(value: Buffer | HostArray, spec: TensorSpec) -> Any:
    if type(value) is TvmBuffer:
        return value.tensor
    if isinstance(value, Buffer):
        raise BackendError(f"tvm: {spec} is a {type(value).__name__}, not a buffer of this device")
    return to_tensor(value, spec.dtype, share=False)


def compile_segment(segment: Segment) -> TvmExecutable:
    """Compile for this machine. Raises BackendError from a lowering, or what TVM raises."""
    with COMPILE_LOCK, POOL.takes_loops():
        return TvmExecutable(compile_module(Emitter(segment).module()), segment, fresh=True)


def load_executable(payload: bytes) -> TvmExecutable:
    """The executable that ``serialize`` wrote. Raises BackendError for bytes that are damaged, or of another version
    or machine."""
    with COMPILE_LOCK, POOL.takes_loops():
        return TvmExecutable(*load(payload), fresh=False)
