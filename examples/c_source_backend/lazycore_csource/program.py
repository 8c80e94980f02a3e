"""A compiled segment."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Sequence

import numpy as np
from lazycore_plugin_api import Buffer, DType, Executable, HostArray, HostBuffer, Segment

from lazycore_csource.compiler import compiled
from lazycore_csource.source import generate

__all__ = ["Program"]


class Program(Executable):
    """``shapes``: of the outputs. Raises BackendError where the source does not compile."""

    def __init__(self, source: str, shapes: Sequence[Sequence[int]]) -> None:
        self.source = source
        self._shapes = [tuple(shape) for shape in shapes]
        self._function = compiled(source)

    @classmethod
    def of(cls, segment: Segment) -> Program:
        """Generate and compile."""
        return cls(generate(segment), [value.spec.static_shape for value in segment.outputs])

    @classmethod
    def load(cls, payload: bytes) -> Program:
        """What ``serialize`` wrote: the source, so that it runs on any machine that has a compiler."""
        record = json.loads(payload)
        return cls(record["source"], record["shapes"])

    def serialize(self) -> bytes:
        return json.dumps({"source": self.source, "shapes": self._shapes}).encode()

    def run(self, inputs: Sequence[Buffer | HostArray]) -> Sequence[Buffer]:
        arrays = [np.ascontiguousarray(x.to_host() if isinstance(x, Buffer) else x) for x in inputs]
        results = [np.empty(shape, DType.float32.numpy) for shape in self._shapes]
        self._function(_pointers(arrays), _pointers(results))
        return [HostBuffer(array) for array in results]


def _pointers(arrays: Sequence[HostArray]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * max(len(arrays), 1))(*(array.ctypes.data for array in arrays))
