"""The opened device: buffers are jax arrays, shared with the host's memory where device and array allow it."""

from __future__ import annotations

from collections.abc import Mapping

import jax
import numpy as np
from lazycore_plugin_api import BackendError, Buffer, DType, HostArray, Session, TensorSpec

from lazycore_xla.configuration import wide_types
from lazycore_xla.devices import NO_FORKS, device_of
from lazycore_xla.memory import raise_if_full

__all__ = ["JaxBuffer", "JaxSession"]


class JaxBuffer(Buffer):
    """A jax array as a buffer. It may still be being computed."""

    __slots__ = ("array", "spec")

    def __init__(self, array: jax.Array, spec: TensorSpec) -> None:
        self.array = array
        self.spec = spec

    def to_host(self) -> HostArray:
        """The content as a read-only array: a copy, but on CPU a view, whose memory XLA then gives to nobody else."""
        try:
            host: HostArray = np.asarray(self.array)
        except jax.errors.JaxRuntimeError as error:
            raise_if_full(error)
            raise
        return host

    def wait(self) -> None:
        try:
            self.array.block_until_ready()
        except jax.errors.JaxRuntimeError as error:
            raise_if_full(error)
            raise

    @property
    def deleted(self) -> bool:
        return bool(self.array.is_deleted())

    def __dlpack__(self, **options: object) -> object:
        """A capsule that shares the memory; waits until the content exists."""
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[object, int]:
        kind, index = self.array.__dlpack_device__()  # type: ignore[attr-defined]
        return kind, index


class JaxSession(Session):
    """One jax device. Raises BackendError on opening where jax has no such device."""

    def __init__(self, device: str) -> None:
        self.device = device_of(device)

    def upload(self, array: HostArray) -> JaxBuffer:
        """A copy in the device's memory; on CPU the array itself where it is dense and aligned to 64 bytes."""
        spec = TensorSpec(tuple(array.shape), DType.of(array.dtype))
        with wide_types():
            return JaxBuffer(jax.device_put(array, self.device), spec)

    def copy(self, buffer: Buffer) -> JaxBuffer:
        if not isinstance(buffer, JaxBuffer):
            return self.upload(np.array(buffer.to_host(), copy=True))
        with wide_types():
            return JaxBuffer(jax.device_put(buffer.array, self.device, may_alias=False), buffer.spec)

    def synchronize(self) -> None:
        """Wait for all that the device has been given; raises what the first computation that failed raised."""
        for array in self.device.client.live_arrays():
            if not array.is_deleted():
                array.block_until_ready()

    def memory_stats(self) -> Mapping[str, int]:
        return self.device.memory_stats() or {}

    def after_fork(self) -> None:
        """XLA's threads do not survive a fork, and a call would wait for them for ever: raises BackendError."""
        raise BackendError(NO_FORKS)
