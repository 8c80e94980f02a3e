"""``lazycore cache``: what is kept, and how to be rid of it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from lazycore_plugin_api import Artifact, ArtifactMeta, Target

from lazycore.artifacts.entry import pack
from lazycore.artifacts.store import DiskStore

KEYS = ["ab" * 32, "cd" * 32, "ef" * 32]


@pytest.fixture
def kept(tmp_path: Path) -> DiskStore:
    """A program of acme, used two hours ago, one of zeta, and a damaged file."""
    store = DiskStore(tmp_path / "cache", 10**6)
    for key, backend, size in zip(KEYS, ("acme", "zeta"), (100, 3000), strict=False):
        meta = ArtifactMeta(backend, "2.5", (1, 0), Target(backend, "npu:0", {"level": 2}), key, "fp [7]")
        store.write(key, pack(Artifact(meta, b"x" * size)))
    store.write(KEYS[2], b"garbage")
    os.utime(store.path(KEYS[0]), (time.time() - 7300,) * 2)
    return store


def test_lists_size_age_and_backend(cli: Any, kept: DiskStore) -> None:
    done = cli("cache", "ls", LAZYCORE_CACHE_DIR=str(kept.root), LAZYCORE_CACHE_MIB="7", LAZYCORE_CACHE="1")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in lines[1:]}
    assert lines[0].split() == ["program", "backend", "version", "size", "last", "used", "for"]
    assert list(rows)[2] == "ab" * 6, "the one used last comes first"
    assert rows["ab" * 6].startswith("acme 2.5 ")
    assert rows["ab" * 6].endswith(" B 2 h ago npu:0, level=2; fp [7]")
    assert rows["cd" * 6].startswith("zeta 2.5 3.2 KiB")
    assert rows["ef" * 6].startswith("damaged 7 B")
    assert lines[-1].startswith("3 programs, 3.")
    assert lines[-1].endswith(f" in {kept.root}, of at most 7.0 MiB")


def test_clears_one_backend_or_all(cli: Any, kept: DiskStore) -> None:
    done = cli("cache", "clear", "--backend", "zeta", LAZYCORE_CACHE_DIR=str(kept.root))
    assert done.stdout.startswith("deleted 1 program, 3.")
    assert {file.key for file in kept.kept()} == {KEYS[0], KEYS[2]}
    done = cli("cache", "clear", LAZYCORE_CACHE_DIR=str(kept.root))
    assert done.stdout.startswith("deleted 2 programs, ")
    assert kept.kept() == []


def test_says_where_nothing_is_and_that_it_is_off(cli: Any, tmp_path: Path) -> None:
    done = cli("cache", "ls", LAZYCORE_CACHE_DIR=str(tmp_path / "none"))
    assert (
        done.stdout == f"0 programs, 0 B in {tmp_path / 'none'}, of at most 2.0 GiB; not in use, as LAZYCORE_CACHE=0\n"
    )
    assert not (tmp_path / "none").exists()


def test_a_size_that_is_none_is_told(cli: Any) -> None:
    done = cli("cache", "ls", LAZYCORE_CACHE_MIB="lots")
    assert done.returncode == 1
    assert "LAZYCORE_CACHE_MIB) is a number of MiB, not 'lots'" in done.stderr
