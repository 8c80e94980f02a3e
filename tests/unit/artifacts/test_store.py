"""The directory: whole files or none, bounded, shared by processes that know nothing of each other."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from lazycore.artifacts import store as store_module
from lazycore.artifacts.store import ABANDONED, DiskStore

KEYS = [f"{i:02x}" * 32 for i in range(20)]


@pytest.fixture
def store(tmp_path: Path) -> DiskStore:
    return DiskStore(tmp_path / "deep" / "cache", 1000)


def age(store: DiskStore, key: str, seconds: float) -> None:
    os.utime(store.path(key), (time.time() - seconds,) * 2)


def test_an_empty_store_has_no_directory_and_nothing_in_it(store: DiskStore) -> None:
    assert store.read(KEYS[0]) is None
    assert store.kept() == []
    store.drop(KEYS[0])
    assert not store.root.exists()


def test_keeps_replaces_and_drops(store: DiskStore) -> None:
    for content in (b"one", b"two"):
        assert store.write(KEYS[0], content)
        assert store.read(KEYS[0]) == content
    assert [(kept.key, kept.size) for kept in store.kept()] == [(KEYS[0], 3)]
    store.drop(KEYS[0])
    assert store.read(KEYS[0]) is None


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_nobody_else_may_write_there(store: DiskStore) -> None:
    store.write(KEYS[0], b"one")
    for path in (store.root, store.path(KEYS[0]).parent, store.path(KEYS[0])):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


def test_what_was_used_longest_ago_makes_room(store: DiskStore) -> None:
    for position, key in enumerate(KEYS[:9]):
        store.write(key, b"x" * 100)
        age(store, key, 100 - position)
    store.read(KEYS[0])
    store.write(KEYS[9], b"x" * 100)
    assert len(store.kept()) == 10, "nothing is deleted at exactly the capacity"
    store.write(KEYS[10], b"x" * 100)
    assert {kept.key for kept in store.kept()} == {KEYS[0], *KEYS[3:11]}


def test_the_directory_is_not_looked_through_for_every_small_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, looks = DiskStore(tmp_path, 6400), []
    kept = store.kept
    monkeypatch.setattr(store, "kept", lambda: looks.append(1) or kept())
    for key in KEYS[:12]:
        store.write(key, b"x" * 10)
    assert len(looks) in (1, 2), "120 bytes, where 100 are a 64th of the capacity"


def test_one_file_may_take_the_whole_capacity_and_not_more(store: DiskStore) -> None:
    store.write(KEYS[0], b"x" * 10)
    assert not store.write(KEYS[1], b"x" * 1001)
    assert [kept.key for kept in store.kept()] == [KEYS[0]]
    assert store.write(KEYS[1], b"x" * 1000)
    assert [kept.key for kept in store.kept()] == [KEYS[1]]


def test_abandoned_parts_are_swept_and_strangers_left_alone(store: DiskStore) -> None:
    store.write(KEYS[0], b"x")
    folder = store.path(KEYS[0]).parent
    old, young, stranger = folder / "old.part", folder / "young.part", store.root / "notes.txt"
    for path in (old, young, stranger):
        path.write_text("?")
    os.utime(old, (time.time() - 2 * ABANDONED,) * 2)
    (folder / "zz.artifact").write_text("no key")
    assert [kept.key for kept in store.kept()] == [KEYS[0]]
    assert not old.exists()
    assert young.exists()
    assert stranger.exists()


def test_a_failed_write_leaves_what_was_there(store: DiskStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write(KEYS[0], b"sound")

    def full(_source: str, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        store.write(KEYS[0], b"broken")
    assert store.read(KEYS[0]) == b"sound"
    assert len(list(store.path(KEYS[0]).parent.iterdir())) == 1


# The module by its path: importing the package would import torch, which takes longer than all the rest.
ALONE = f"""
import importlib.util, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("store", {store_module.__file__!r})
sys.modules["store"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
DiskStore = module.DiskStore
"""

WRITER = """
store, size = DiskStore(Path(sys.argv[1]), 10**9), 3_000_000
print("ready", flush=True)
while True:
    for i in range(250):
        store.write("ab" * 32, bytes([i]) * size)
"""


def test_a_process_killed_while_it_writes_leaves_a_whole_file(tmp_path: Path) -> None:
    store, key = DiskStore(tmp_path, 10**9), "ab" * 32
    process = subprocess.Popen([sys.executable, "-c", ALONE + WRITER, str(tmp_path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process, process.stdout:
        process.stdout.readline()
        seen = 0
        until = time.monotonic() + 1
        while time.monotonic() < until:
            data = store.read(key)
            seen += data is not None
            assert data is None or (len(data) == 3_000_000 and len(Counter(data)) == 1)
        process.send_signal(signal.SIGKILL)
    assert seen > 0
    data = store.read(key)
    assert data is not None
    assert len(data) == 3_000_000
    assert len(Counter(data)) == 1
    store.write(key, b"sound")
    assert store.read(key) == b"sound"


CROWD = """
import random
store = DiskStore(Path(sys.argv[1]), 20_000)
draw = random.Random(sys.argv[2])
for _ in range(300):
    number = draw.randrange(30)
    key = f"{number:02x}" * 32
    data = store.read(key)
    assert data is None or set(data) == {number} and len(data) >= 500, (key, data)
    action = draw.random()
    if action < 0.6:
        store.write(key, bytes([number]) * draw.randrange(500, 1500))
    elif action < 0.7:
        store.drop(key)
"""


def test_processes_that_write_read_and_evict_at_once_see_whole_files(tmp_path: Path) -> None:
    command = [sys.executable, "-c", ALONE + CROWD, str(tmp_path)]
    crowd = [subprocess.Popen([*command, str(i)], stderr=subprocess.PIPE, text=True) for i in range(4)]
    for process in crowd:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    store = DiskStore(tmp_path, 20_000)
    assert sum(kept.size for kept in store.kept()) <= 20_000
    assert not list(tmp_path.rglob("*.part"))
