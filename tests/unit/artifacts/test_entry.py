"""A stored artifact reads back exactly or not at all."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from lazycore_plugin_api import Artifact, ArtifactMeta, Target, meta_from_record, meta_to_record

from lazycore.artifacts.entry import MAGIC, Damaged, pack, peek, unpack

META = ArtifactMeta("acme", "1.0", (1, 0), Target("acme", "cpu", {"level": 2, "rate": 0.1, "x": "ü"}), "ab" * 32, "z80")
ENTRY = pack(Artifact(META, b"payload" * 9))


@pytest.mark.parametrize("payload", [b"", b"\0", b"payload" * 1000])
def test_reads_back(payload: bytes) -> None:
    assert unpack(pack(Artifact(META, payload))) == Artifact(META, payload)


def test_every_changed_byte_is_noticed() -> None:
    for position in range(len(ENTRY)):
        damaged = bytearray(ENTRY)
        damaged[position] ^= 0x20
        with pytest.raises(Damaged):
            unpack(bytes(damaged))


def test_every_truncation_is_noticed() -> None:
    for length in range(len(ENTRY)):
        with pytest.raises(Damaged):
            unpack(ENTRY[:length])
    with pytest.raises(Damaged):
        unpack(ENTRY + b"\0")


def test_another_version_and_a_pickle_are_refused() -> None:
    for data in (ENTRY.replace(b"artifact 1", b"artifact 2"), pickle.dumps(META)):
        with pytest.raises(Damaged, match="does not begin as"):
            unpack(data)


def test_the_header_can_be_read_alone(tmp_path: Path) -> None:
    (tmp_path / "whole").write_bytes(ENTRY)
    assert peek(tmp_path / "whole") == META
    for data in (b"", ENTRY[:50], ENTRY[:70], MAGIC + b"\xff" * 60):
        (tmp_path / "part").write_bytes(data)
        with pytest.raises(Damaged):
            peek(tmp_path / "part")


@pytest.mark.parametrize(
    "change",
    [{"target": None}, {"api_version": 1}, {"backend": 3}, {"more": 1}, {"target": {"backend": 1, "device": "cpu"}}],
)
def test_records_of_another_kind_are_refused(change: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        meta_from_record(meta_to_record(META) | change)
