"""Compiled programs as bytes and back: a shared library behind a header in JSON.

The layout is ``MAGIC``, a CRC-32 of everything after it as 4 bytes, the header's length as 8 bytes, the header, the
library. The header's segment says what the library does not: the tensors' specs and the calls of functions on the host.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

from lazycore_plugin_api import BackendError, Segment, from_json, to_json

from lazycore_tvm.host import fingerprint
from lazycore_tvm.tvm_runtime import COMPILE_LOCK, linker, load_library, target

__all__ = ["Header", "load", "pack", "save", "unpack"]

MAGIC = b"lazycore-tvm program 1\n"
_SUM, _LENGTH = 4, 8
_LIBRARY = "program.so"


@dataclass(frozen=True)
class Header:
    """What surrounds the library. ``host`` and ``target``: where it runs; ``segment``: its JSON, without lines."""

    host: str
    target: str
    segment: str


def save(compiled: Any, segment: Segment) -> bytes | None:
    """The program as bytes; None without a compiler that links the library."""
    compiler = linker()
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory(prefix="lazycore-") as directory, COMPILE_LOCK:
        path = Path(directory, _LIBRARY)
        compiled.export_library(str(path), workspace_dir=directory, cc=compiler)
        return pack(Header(fingerprint(), str(target()), to_json(_without_lines(segment))), path.read_bytes())


def load(payload: bytes) -> tuple[Any, Segment]:
    """The library's module, for a virtual machine, and the segment that it computes.

    Raises BackendError for bytes that are damaged, or of another version or machine."""
    header, library = unpack(payload)
    there, here = f"{header.host}, {header.target}", f"{fingerprint()}, {target()}"
    if there != here:
        raise BackendError(f"tvm: the stored program is for {there} and this is {here}; it must be compiled anew")
    segment = from_json(header.segment)
    if not isinstance(segment, Segment):
        raise BackendError("tvm: the stored program is a graph's, not a segment's")
    try:
        # Once it is loaded, the system keeps the file for as long as that is needed; its name may go.
        with tempfile.TemporaryDirectory(prefix="lazycore-") as directory:
            path = Path(directory, _LIBRARY)
            path.write_bytes(library)
            return load_library(str(path)), segment
    except Exception as error:
        raise BackendError(f"tvm: the stored program does not load: {type(error).__name__}: {error}") from error


def pack(header: Header, library: bytes) -> bytes:
    """Header and library in one."""
    text = json.dumps(asdict(header), separators=(",", ":")).encode()
    rest = b"".join((len(text).to_bytes(_LENGTH, "little"), text, library))
    return b"".join((MAGIC, crc32(rest).to_bytes(_SUM, "little"), rest))


def unpack(payload: bytes) -> tuple[Header, bytes]:
    """The two parts. Raises BackendError for bytes that ``pack`` did not write, or that changed since."""
    start = len(MAGIC) + _SUM
    expected, rest = int.from_bytes(payload[len(MAGIC) : start], "little"), payload[start:]
    end = _LENGTH + int.from_bytes(rest[:_LENGTH], "little")
    try:
        if not payload.startswith(MAGIC) or end > len(rest):
            raise ValueError("the beginning is not that of a stored program")
        if crc32(rest) != expected:
            raise ValueError("the program is damaged")
        return Header(**json.loads(rest[_LENGTH:end])), rest[end:]
    except (TypeError, ValueError) as error:
        raise BackendError(f"tvm: not a stored program of this version: {error}") from error


def _without_lines(segment: Segment) -> Segment:
    """Another script may load it, and its errors must not name this one's lines."""
    return replace(segment, nodes=[replace(node, source=None) for node in segment.nodes])
