"""One compiled XLA program per segment, launched without waiting for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import jax
from lazycore_plugin_api import Buffer, Executable, HostArray, Segment, TensorSpec

from lazycore_xla.artifact import load, save
from lazycore_xla.configuration import own_configuration, wide_types
from lazycore_xla.devices import options_of
from lazycore_xla.emit import emit
from lazycore_xla.memory import raise_if_full
from lazycore_xla.provenance import hits
from lazycore_xla.session import JaxBuffer, JaxSession

__all__ = ["JaxExecutable", "compile_segment", "load_executable"]


class JaxExecutable(Executable):
    """A loaded executable. Outputs are buffers of their own: XLA copies what would alias an input or one another.
    ``fresh``: compiled by this process, and so one that XLA can serialize."""

    def __init__(
        self, compiled: jax.stages.Compiled, specs: Sequence[TensorSpec], has_scalars: bool, fresh: bool = False
    ) -> None:
        self._compiled = compiled
        self._specs = specs
        self._has_scalars = has_scalars
        self._fresh = fresh

    def run(self, inputs: Sequence[Buffer | HostArray]) -> list[JaxBuffer]:
        arrays = [i.array if type(i) is JaxBuffer else i for i in inputs]
        try:
            if self._has_scalars:
                # jax would read a NumPy float64 or int64 as 32 bits outside of this context.
                with wide_types():
                    results = self._compiled(*arrays)
            else:
                results = self._compiled(*arrays)
        except jax.errors.JaxRuntimeError as error:
            raise_if_full(error)
            raise
        return list(map(JaxBuffer, results, self._specs))

    def serialize(self) -> bytes | None:
        return save(self._compiled, self._specs, self._has_scalars) if self._fresh else None


def load_executable(payload: bytes, session: JaxSession) -> JaxExecutable:
    """The executable that ``serialize`` wrote. Raises BackendError for bytes that are damaged, or of another jax
    version or machine."""
    return JaxExecutable(*load(payload, session.device))


def compile_segment(segment: Segment, session: JaxSession) -> JaxExecutable:
    """Compile for the session's device. Raises BackendError from a lowering, or what XLA raises."""
    with own_configuration(), jax.default_device(session.device):
        arguments = [jax.ShapeDtypeStruct(v.spec.static_shape, v.spec.dtype.numpy) for v in segment.arguments]
        function = jax.jit(_named(segment, session.device), donate_argnums=_donated(segment))
        before = hits()
        compiled = function.lower(*arguments).compile(compiler_options=options_of(session.device))
    outputs = [value.spec for value in segment.outputs]
    return JaxExecutable(compiled, outputs, bool(segment.scalars), fresh=hits() == before)


def _named(segment: Segment, device: jax.Device) -> Callable[..., tuple[jax.Array, ...]]:
    # A GPU's or TPU's compiler chooses the layout of images itself, and has another cost model of fusion.
    function = emit(segment, on_cpu=device.platform == "cpu")
    function.__name__ = segment.name
    return function


def _donated(segment: Segment) -> tuple[int, ...]:
    """The donatable inputs for which there is an output of the same spec; XLA could not use the others' memory."""
    room = Counter(value.spec for value in segment.outputs)
    chosen = []
    for position in sorted(segment.donatable):
        spec = segment.inputs[position].spec
        if room[spec] > 0:
            room[spec] -= 1
            chosen.append(position)
    return tuple(chosen)
