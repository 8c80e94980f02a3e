"""The opened device: buffers are jax arrays, shared with the host's memory where XLA can."""

from __future__ import annotations

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
from lazycore_plugin_api import BackendError, Buffer, DType, HostArray, Session, TensorSpec

from lazycore_xla.configuration import wide_types
from lazycore_xla.memory import raise_if_full

__all__ = ["JaxBuffer", "JaxSession"]


class JaxBuffer(Buffer):
    """A jax array as a buffer. It may still be being computed."""

    __slots__ = ("array", "spec")

    def __init__(self, array: jax.Array, spec: TensorSpec) -> None:
        self.array = array
        self.spec = spec

    def to_host(self) -> HostArray:
        """The content as a read-only array; on CPU a view, whose memory XLA then no longer gives to others."""
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
        try:
            self.device = jax.local_devices(backend=device)[0]
        except RuntimeError as error:
            raise BackendError(f"xla: jax has no device {device!r}: {error}") from error

    def upload(self, array: HostArray) -> JaxBuffer:
        """Zero-copy on CPU where the array is dense and aligned to 64 bytes, else a copy."""
        spec = TensorSpec(tuple(array.shape), DType.of(array.dtype))
        with wide_types():
            return JaxBuffer(jax.device_put(array, self.device), spec)

    def copy(self, buffer: Buffer) -> JaxBuffer:
        if not isinstance(buffer, JaxBuffer):
            return self.upload(np.array(buffer.to_host(), copy=True))
        with wide_types():
            return JaxBuffer(jnp.copy(buffer.array), buffer.spec)

    def synchronize(self) -> None:
        """Wait for all that the device has been given; on CPU every array's own ``wait`` raises its own failure."""
        for array in self.device.client.live_arrays():
            if not array.is_deleted():
                array.block_until_ready()

    def memory_stats(self) -> Mapping[str, int]:
        return self.device.memory_stats() or {}

    def after_fork(self) -> None:
        """XLA's threads do not survive a fork, and a call would wait for them for ever: raises BackendError."""
        raise BackendError("xla: jax cannot be used in a forked child; start workers with the 'spawn' method")
