"""One compiled XLA program per segment, launched without waiting for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import jax
from lazycore_plugin_api import Buffer, Executable, HostArray, Segment, TensorSpec

from lazycore_xla.artifact import load, save
from lazycore_xla.configuration import own_configuration, wide_types
from lazycore_xla.devices import options_of
from lazycore_xla.emit import emit
from lazycore_xla.forgetting import compiled_one
from lazycore_xla.memory import raise_if_full
from lazycore_xla.numbers import Packing
from lazycore_xla.provenance import hits
from lazycore_xla.session import JaxBuffer, JaxSession

__all__ = ["JaxExecutable", "compile_segment", "load_executable"]


class JaxExecutable(Executable):
    """A loaded executable. Outputs are buffers of their own: XLA copies what would alias an input or one another.
    ``fresh``: compiled by this process, and so one that XLA can serialize."""

    def __init__(
        self, compiled: jax.stages.Compiled, specs: Sequence[TensorSpec], packing: Packing, fresh: bool = False
    ) -> None:
        self._compiled = compiled
        self._specs = specs
        self._packing = packing
        self._buffers = packing.buffers
        # jax would read a NumPy float64 or int64 as 32 bits outside of the context.
        self._context = wide_types if packing.wide else nullcontext
        self._fresh = fresh

    def run(self, inputs: Sequence[Buffer | HostArray]) -> list[JaxBuffer]:
        arrays = self.arrays_of(inputs)
        try:
            with self._context():
                results = self._compiled(*arrays)
        except jax.errors.JaxRuntimeError as error:
            raise_if_full(error)
            raise
        return list(map(JaxBuffer, results, self._specs))

    def arrays_of(self, inputs: Sequence[Buffer | HostArray]) -> list[jax.Array | HostArray]:
        """What the compiled program is called with: the arrays of the buffers, then the vectors of numbers."""
        given = map(inputs.__getitem__, self._buffers)
        return [i.array if type(i) is JaxBuffer else i for i in given] + self._packing.vectors(inputs)

    def serialize(self) -> bytes | None:
        return save(self._compiled, self._specs, self._packing) if self._fresh else None


def load_executable(payload: bytes, session: JaxSession) -> JaxExecutable:
    """The executable that ``serialize`` wrote. Raises BackendError for bytes that are damaged, or of another jax
    version or machine."""
    return JaxExecutable(*load(payload, session.device))


def compile_segment(
    segment: Segment, session: JaxSession, calls: Mapping[str, Callable[..., Any]] | None = None
) -> JaxExecutable:
    """Compile for the session's device. ``calls``: what another library may compute on a CPU, by op. Raises
    BackendError from a lowering, or what XLA raises."""
    packing = Packing.of(segment)
    with own_configuration(), jax.default_device(session.device):
        function = jax.jit(
            _named(segment, packing, session.device, calls or {}), donate_argnums=_donated(segment, packing)
        )
        before = hits()
        compiled = function.lower(*packing.specs(segment)).compile(compiler_options=options_of(session.device))
    compiled_one()
    outputs = [value.spec for value in segment.outputs]
    return JaxExecutable(compiled, outputs, packing, fresh=hits() == before)


def _named(
    segment: Segment, packing: Packing, device: jax.Device, calls: Mapping[str, Callable[..., Any]]
) -> Callable[..., tuple[jax.Array, ...]]:
    # A GPU's or TPU's compiler chooses the layout of images itself, and has another cost model of fusion.
    function = packing.unpacking(emit(segment, on_cpu=device.platform == "cpu", calls=calls))
    function.__name__ = segment.name
    return function


def _donated(segment: Segment, packing: Packing) -> tuple[int, ...]:
    """Where the program takes the donatable inputs. jax pairs those of a type with the outputs of that type in order,
    as the segment has them; XLA could not use the memory of one whose output is of another type."""
    place = {position: i for i, position in enumerate(packing.buffers)}
    pairs = zip(sorted(segment.donatable), segment.outputs, strict=False)
    return tuple(place[position] for position, output in pairs if segment.inputs[position].spec == output.spec)
