"""A compiled model and its request: arrays in, arrays out."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import openvino
from lazycore_plugin_api import Buffer, DType, Executable, HostArray, HostBuffer, Segment, Target, TensorSpec

_WIDE = {DType.bfloat16: np.dtype(np.float32)}
"""Every model computes in float32; 16-bit floats are rounded where they leave it."""


@cache
def core() -> Any:
    """The process's OpenVINO runtime."""
    return openvino.Core()


def carrier(dtype: DType) -> np.dtype[Any]:
    """The dtype in which a value enters and leaves a model."""
    return _WIDE.get(dtype, dtype.numpy)


def _settings(target: Target) -> dict[str, Any]:
    threads = int(target.options["threads"])
    settings: dict[str, Any] = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    return settings | ({"INFERENCE_NUM_THREADS": threads} if threads else {})


class Program(Executable):
    """``inputs`` and ``outputs``: the segment's specs, of arguments and results."""

    def __init__(self, compiled: Any, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> None:
        self._compiled = compiled
        self._request = compiled.create_infer_request()
        self._inputs = list(inputs)
        self._outputs = list(outputs)

    @classmethod
    def compile(cls, segment: Segment, model: Any, target: Target) -> Program:
        """Have OpenVINO compile a model."""
        compiled = core().compile_model(model, "CPU", _settings(target))
        return cls(compiled, [v.spec for v in segment.arguments], [v.spec for v in segment.outputs])

    @classmethod
    def load(cls, payload: bytes, target: Target) -> Program:
        """What ``serialize`` wrote."""
        head, _, blob = payload.partition(b"\n")
        specs = [[TensorSpec(tuple(shape), DType(dtype)) for shape, dtype in side] for side in json.loads(head)]
        return cls(core().import_model(io.BytesIO(blob), "CPU", _settings(target)), *specs)

    def run(self, inputs: Sequence[Buffer | HostArray]) -> Sequence[Buffer]:
        """Launch; the results are copied out of the request's own memory, which the next launch overwrites."""
        # The request borrows the arrays' memory and does not keep them alive.
        arrays = [_host(value, spec) for value, spec in zip(inputs, self._inputs, strict=True)]
        for position, array in enumerate(arrays):
            self._request.set_input_tensor(position, openvino.Tensor(array, shared_memory=True))
        self._request.infer()
        results = (self._request.get_output_tensor(p).data for p in range(len(self._outputs)))
        return [HostBuffer(np.array(r, spec.dtype.numpy)) for r, spec in zip(results, self._outputs, strict=True)]

    def serialize(self) -> bytes:
        """Specs as a line of JSON, then OpenVINO's own format."""
        sides = [[(s.static_shape, s.dtype.value) for s in side] for side in (self._inputs, self._outputs)]
        return json.dumps(sides).encode() + b"\n" + self._compiled.export_model().getvalue()


def _host(value: Buffer | HostArray, spec: TensorSpec) -> HostArray:
    array = value.to_host() if isinstance(value, Buffer) else value
    return np.ascontiguousarray(array, carrier(spec.dtype)).reshape(array.shape)
