"""A stored artifact as bytes: a checksum over a header in JSON and the backend's own payload.

The layout is ``MAGIC``, a BLAKE2b digest of all that follows, the header's length as 8 bytes, the header, the payload.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from lazycore_plugin_api import Artifact, ArtifactMeta, LazycoreError, meta_from_record, meta_to_record

__all__ = ["Damaged", "pack", "peek", "unpack"]

MAGIC = b"lazycore artifact 1\n"
_DIGEST, _LENGTH = 32, 8
_HEAD = len(MAGIC) + _DIGEST + _LENGTH
_LONGEST = 2**20
"""More than any header takes: a damaged length must not make a reader allocate it."""


class Damaged(LazycoreError):
    """Bytes that are no stored artifact, or no longer the one that was written."""


def pack(artifact: Artifact) -> bytes:
    """The artifact in one piece."""
    header = json.dumps(meta_to_record(artifact.meta), separators=(",", ":")).encode()
    length = len(header).to_bytes(_LENGTH, "little")
    return b"".join((MAGIC, _digest(length, header, artifact.payload), length, header, artifact.payload))


def unpack(data: bytes) -> Artifact:
    """What ``pack`` was given. Raises Damaged for anything but exactly its bytes."""
    if not data.startswith(MAGIC):
        raise Damaged("it does not begin as a stored program of this version does")
    digest, length = data[len(MAGIC) : _HEAD - _LENGTH], data[_HEAD - _LENGTH : _HEAD]
    end = _HEAD + int.from_bytes(length, "little")
    header, payload = data[_HEAD:end], data[end:]
    if digest != _digest(length, header, payload):
        raise Damaged("its checksum does not fit its content")
    return Artifact(_meta(header), payload)


def peek(path: Path) -> ArtifactMeta:
    """What a stored artifact says of itself, without its payload and unchecked. Raises Damaged, or OSError."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
        if not head.startswith(MAGIC):
            raise Damaged("it does not begin as a stored program of this version does")
        return _meta(file.read(min(int.from_bytes(head[-_LENGTH:], "little"), _LONGEST)))


def _meta(header: bytes) -> ArtifactMeta:
    try:
        return meta_from_record(json.loads(header))
    except (KeyError, TypeError, ValueError) as error:
        raise Damaged(f"its header is another version's: {type(error).__name__}: {error}") from error


def _digest(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=_DIGEST)
    for part in parts:
        digest.update(part)
    return digest.digest()
