"""One tensor while a program runs: in host memory, or in the buffers of backends."""

from __future__ import annotations

from lazycore_plugin_api import Buffer, HostArray, Session

__all__ = ["Value"]


class Value:
    """An array of the host's, or a buffer of ``session``; what it is brought to is kept."""

    __slots__ = ("_buffers", "_host")

    def __init__(self, content: HostArray | Buffer, session: Session | None = None) -> None:
        self._host: HostArray | None = None
        self._buffers: dict[Session, Buffer] = {}
        if isinstance(content, Buffer):
            assert session is not None
            self._buffers[session] = content
        else:
            self._host = content

    def host(self) -> HostArray:
        """The content, to be read only."""
        if self._host is None:
            self._host = next(iter(self._buffers.values())).to_host()
        return self._host

    def on(self, session: Session) -> Buffer:
        """The content as a buffer of the session."""
        buffer = self._buffers.get(session)
        if buffer is None:
            buffer = self._buffers[session] = session.upload(self.host())
        return buffer
