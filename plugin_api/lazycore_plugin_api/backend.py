"""What a backend says of itself and hands to the core: info, decisions, sessions, buffers, executables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

import numpy as np

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.specs import TensorSpec

__all__ = [
    "API_VERSION", "Artifact", "ArtifactMeta", "BackendInfo", "Buffer", "Capabilities", "Compat", "CompileContext",
    "CompileFailure", "Constants", "Decision", "Estimate", "Executable", "HostArray", "HostBuffer", "HostSession",
    "OpenContext", "Option", "Rejected", "Session", "Supported", "Target", "Threads",
]  # fmt: skip

API_VERSION = (1, 0)
"""(major, minor) of this contract. Another major is refused; a newer minor than the core's is accepted."""

HostArray: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"


class Threads(Enum):
    """From which threads the core may call: any, several at a time; or any, but one at a time."""

    concurrent = "concurrent"
    serial = "serial"


class Constants(Enum):
    """What becomes of a segment's frozen inputs: values that were the same in several runs, such as weights in
    inference.

    ``passed``: nothing, they are inputs like all others. ``bind``: they are in ``Segment.constants``, and ``run``
    does not get them. ``own``: the same, after ``lazycore_prepare_constants`` gave them the form that the
    executable wants.
    """

    passed = "pass"
    bind = "bind"
    own = "own"


@dataclass(frozen=True)
class Capabilities:
    """What a backend can do beyond compiling and running.

    ``asynchronous``: ``run`` returns before results exist. ``donation``: ``Segment.donatable`` is used.
    ``dynamic_dims``: symbolic ``Dim`` sizes are understood. ``aliases``: executables may declare ``aliases``.
    """

    asynchronous: bool = False
    donation: bool = False
    dynamic_dims: bool = False
    aliases: bool = False
    compile_threads: Threads = Threads.serial
    run_threads: Threads = Threads.serial


@dataclass(frozen=True)
class Option:
    """An option of ``--backend name?option=value``: its default, whose type parses the text, and its help."""

    default: bool | int | float | str
    help: str = ""


@dataclass(frozen=True)
class BackendInfo:
    """Who a backend is. ``name`` consists of letters, digits, ``_`` and ``-``. ``devices`` are the names after
    ``--backend name:``, the first one the default. ``dtypes`` are the ones it computes: a node with another never
    reaches it. ``constants`` says how frozen inputs reach it."""

    name: str
    version: str
    api_version: tuple[int, int] = API_VERSION
    devices: tuple[str, ...] = ("cpu",)
    dtypes: frozenset[DType] = frozenset(DType) - {DType.complex32}  # which next to nothing computes
    options: Mapping[str, Option] = field(default_factory=dict)
    capabilities: Capabilities = Capabilities()
    constants: Constants = Constants.passed
    fingerprint: str = ""


@dataclass(frozen=True)
class Target:
    """One selected backend: its device and the options' values, defaults filled in."""

    backend: str
    device: str
    options: Mapping[str, bool | int | float | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Supported:
    """The backend takes the node."""


@dataclass(frozen=True)
class Rejected:
    """The backend does not take the node. ``code`` is for programs (``op``, ``dtype``, ``shape``, ``attribute`` or the
    vendor's own), ``reason`` for people."""

    code: str
    reason: str


Decision: TypeAlias = Supported | Rejected


class Buffer(ABC):
    """A tensor in a backend's memory, dense and row-major. The core never assumes that it is host memory."""

    spec: TensorSpec

    @abstractmethod
    def to_host(self) -> HostArray:
        """The content, after waiting for it. It may share the buffer's memory: the core only reads it, and copies
        before it hands it to a user."""

    def wait(self) -> None:  # noqa: B027 - a default, not a duty
        """Return when the content exists; raise what its computation raised."""

    @property
    def deleted(self) -> bool:
        """True once the buffer was donated and its memory is another's."""
        return False


class Session(ABC):
    """An opened backend: it owns the device's memory."""

    @abstractmethod
    def upload(self, array: HostArray) -> Buffer:
        """A buffer with the array's content. It may keep and share the array: the core never writes it again."""

    def copy(self, buffer: Buffer) -> Buffer:
        """A buffer of its own with the same content."""
        return self.upload(np.array(buffer.to_host(), copy=True))

    def synchronize(self) -> None:  # noqa: B027 - a default, not a duty
        """Return when everything launched has ended; raise what it raised."""

    def memory_stats(self) -> Mapping[str, int]:
        """Whatever is known, in bytes, under names such as ``bytes_in_use``."""
        return {}

    def after_fork(self) -> None:  # noqa: B027 - a default, not a duty
        """Called in a forked child before its first use."""

    def close(self) -> None:  # noqa: B027 - a default, not a duty
        """Give everything back."""


class HostBuffer(Buffer):
    """A NumPy array as a buffer, for backends that compute in host memory."""

    __slots__ = ("array", "spec")

    def __init__(self, array: HostArray) -> None:
        self.array = array
        self.spec = TensorSpec(tuple(array.shape), DType.of(array.dtype))

    def to_host(self) -> HostArray:
        return self.array


class HostSession(Session):
    """The session of a backend that computes on NumPy arrays; used where a plugin has no ``lazycore_open``."""

    def upload(self, array: HostArray) -> Buffer:
        return HostBuffer(np.ascontiguousarray(array).reshape(array.shape))


class Executable(ABC):
    """A compiled segment."""

    aliases: Mapping[int, int] = {}
    """Output position -> input position whose memory it shares. Undeclared, no output is an input or another output."""

    @abstractmethod
    def run(self, inputs: Sequence[Buffer | HostArray]) -> Sequence[Buffer]:
        """Compute the segment's outputs, in order. ``inputs`` has one entry for each of ``Segment.arguments``: scalar
        inputs as 0-d arrays, all others as buffers of the opened device; bound constants are not among them.
        Inputs are not written, except donatable ones of a backend with ``Capabilities.donation``."""

    def serialize(self) -> bytes | None:
        """The executable as bytes for ``lazycore_load``, or None where that is not possible."""
        return None


@dataclass(frozen=True)
class CompileFailure:
    """A segment that could not be compiled: it goes to the next backend, then to eager."""

    reason: str
    error: BaseException | None = None


@dataclass(frozen=True)
class OpenContext:
    """What ``lazycore_open`` gets."""

    target: Target


@dataclass(frozen=True)
class CompileContext:
    """What the compile-time hooks get. ``progress(done, total)`` may be called to show how far a compile is.
    ``portable``: what is compiled will be stored and run where there is no PyTorch, so it may not call it."""

    session: Session
    target: Target
    progress: Callable[[int, int], None] | None = None
    portable: bool = False


@dataclass(frozen=True)
class Estimate:
    """The core's guess of a segment's cost, for ``lazycore_accept_segment``.

    ``bytes_in`` and ``bytes_out`` count inputs and outputs. ``crossings`` is the number of them that come from, or
    go to, another step of the plan rather than the program, and ``crossing_bytes`` their size.
    """

    flops: int
    bytes_in: int
    bytes_out: int
    crossings: int
    crossing_bytes: int = 0


@dataclass(frozen=True)
class ArtifactMeta:
    """What is known of a stored artifact before it is read; ``fingerprint`` is the ``BackendInfo``'s."""

    backend: str
    backend_version: str
    api_version: tuple[int, int]
    target: Target
    graph_key: str
    fingerprint: str = ""


@dataclass(frozen=True)
class Artifact:
    """A stored executable."""

    meta: ArtifactMeta
    payload: bytes


class Compat(Enum):
    """Whether a stored artifact runs here: as well as a fresh one, only after compiling anew, or not at all."""

    optimal = "optimal"
    recompile = "recompile"
    unsupported = "unsupported"
