"""One tensor's content, wherever it lives: in host memory, or in the buffers of one or more backends' sessions."""

from __future__ import annotations

import numpy as np
from lazycore_plugin_api import BackendError, Buffer, DType, HostArray, LazycoreError, Session, TensorSpec

from lazycore.runtime.failures import run_failed

__all__ = ["DeviceValue"]

# A value's mapping is replaced, never changed, so that all that were donated share one.
_NOWHERE: dict[Session, Buffer] = {}


class DeviceValue:
    """An immutable tensor. It lives in ``host`` or in ``buffers`` (by session), never in both: an upload may share the
    host array, which another backend could then overwrite when the buffer is donated to it. For the same reason what
    moves from one session to another is a copy.
    """

    __slots__ = ("__weakref__", "_ranges", "buffers", "host", "origin", "spec")

    def __init__(
        self, spec: TensorSpec, buffers: dict[Session, Buffer], host: HostArray | None = None, origin: str = ""
    ) -> None:
        self.spec = spec
        self.buffers = buffers
        self.host = host
        self.origin = origin
        self._ranges: dict[int | None, tuple[int, int] | None] | None = None

    @classmethod
    def from_host(cls, array: HostArray, origin: str = "") -> DeviceValue:
        """A value with a host array's content. The value owns the array: nobody writes it afterwards.

        ``origin`` says in messages where the value comes from. Raises KeyError for a dtype without counterpart.
        """
        dense = array if array.flags.c_contiguous else array.copy()
        return cls(TensorSpec(tuple(array.shape), DType.of(array.dtype)), {}, dense, origin)

    def on(self, session: Session) -> Buffer:
        """The content as a buffer of the opened device, brought there if need be and kept for the next time."""
        buffer = self.buffers.get(session)
        return buffer if buffer is not None else self._bring(session)

    def to_host(self) -> HostArray:
        """The content as a host array, after waiting for it. Read only: it may be the value's own memory.

        Raises BackendError where the computation of the value failed.
        """
        if self.host is not None:
            return self.host
        try:
            return self._any_buffer().to_host()
        except LazycoreError:
            raise
        except Exception as error:
            raise self._failed(error) from error

    def wait(self) -> None:
        """Return when the content exists. Raises BackendError where its computation failed."""
        try:
            for buffer in self.buffers.values():
                buffer.wait()
        except Exception as error:
            raise self._failed(error) from error

    def witness(self) -> DeviceValue:
        """Another value with the same content, to wait for: who holds it is no owner, so that the content may be
        donated nevertheless."""
        return DeviceValue(self.spec, self.buffers, self.host, self.origin)

    @property
    def deleted(self) -> bool:
        """True once the content was donated."""
        return self.host is None and all(buffer.deleted for buffer in self.buffers.values())

    def forget(self) -> None:
        """Let go of the content: its buffer is being donated."""
        self.host = None
        self.buffers = _NOWHERE

    def int_range(self, ignore: int | None = None) -> tuple[int, int] | None:
        """Smallest and largest element of an integer tensor, but for those equal to ``ignore``, None where there are no
        others; worked out once."""
        if self._ranges is None:
            self._ranges = {}
        if ignore not in self._ranges:
            array = self.to_host()
            counted = array if ignore is None else array[array != ignore]
            self._ranges[ignore] = (int(counted.min()), int(counted.max())) if counted.size else None
        return self._ranges[ignore]

    def _bring(self, session: Session) -> Buffer:
        array = np.array(self.to_host(), copy=True) if self.host is None else self.host
        buffer = session.upload(array)
        self.buffers = {**self.buffers, session: buffer}
        self.host = None
        return buffer

    def _any_buffer(self) -> Buffer:
        for buffer in self.buffers.values():
            return buffer
        raise LazycoreError(
            f"a value {self.spec} of {self.origin or 'unknown origin'} was read after its buffer was donated. "
            "This is an error in lazycore itself: please report it with the program"
        )

    def _failed(self, error: Exception) -> BackendError:
        return run_failed(f"computing {self.spec} by {self.origin or 'an unknown step'}", error)

    def __repr__(self) -> str:
        place = "donated" if self.deleted else "host" if self.host is not None else "device"
        return f"DeviceValue({self.spec}, {place})"
