"""A directory of files by key, bounded in size, that many processes use at once.

Nothing is ever changed in place: a file is written under a name of its own and then renamed, so that a reader sees all
of it or none, and a process that is killed leaves at most a part file, which a later one sweeps away. Whoever loses a
race against another process's deletion finds the file gone, and that is as good as having deleted it.
"""

from __future__ import annotations

import os
import random
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["DiskStore", "Kept"]

SUFFIX, PART = ".artifact", ".part"
ABANDONED = 3600.0
"""Seconds after which nobody can still be writing a part file."""
SPARED = 0.9
"""The part of the capacity that an eviction leaves, so that not every write is one."""
UNSEEN = 1 / 64
"""The part of the capacity that is written before the directory is looked through again, which takes a moment where
there are many files. So much, for each process at work, may the files take beyond the capacity."""
_KEY = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Kept:
    """One stored file. ``used``: when it was last written or read, in seconds since the epoch."""

    key: str
    path: Path
    size: int
    used: float


class DiskStore:
    """``capacity``: about how many bytes the files may take together. The directory is made by the first write. All
    methods raise OSError where the system refuses."""

    def __init__(self, root: Path, capacity: int) -> None:
        self.root = root
        self.capacity = capacity
        # Not from 0: most processes write less than what is due, and together they must look as often.
        self._unseen = random.random() * capacity * UNSEEN

    def path(self, key: str) -> Path:
        """Where the file of a key is, or would be."""
        return self.root / key[:2] / (key + SUFFIX)

    def read(self, key: str) -> bytes | None:
        """The file's content, None where there is none. Counts as a use."""
        path = self.path(key)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        # A file of another user, or on a read-only disk, is read all the same.
        with suppress(OSError):
            os.utime(path)
        return data

    def write(self, key: str, data: bytes) -> bool:
        """Store, in the place of what was there; now and then make room. False where it is larger than the capacity."""
        if len(data) > self.capacity:
            return False
        path = self.path(key)
        # What is stored here is run later: nobody else may write into it.
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        handle, name = tempfile.mkstemp(suffix=PART, prefix=key[:8], dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        self._unseen += len(data)
        if self._unseen > self.capacity * UNSEEN:
            self._unseen = 0.0
            self.evict(spared=key)
        return True

    def drop(self, key: str) -> None:
        """Delete the file of a key, if there is one."""
        self.path(key).unlink(missing_ok=True)

    def kept(self) -> list[Kept]:
        """All files, the one used longest ago first."""
        return sorted(self._scan(), key=lambda kept: (kept.used, kept.key))

    def evict(self, spared: str = "") -> None:
        """Where the files take more than the capacity, delete those used longest ago, but not ``spared``."""
        files = self.kept()
        total = sum(file.size for file in files)
        if total <= self.capacity:
            return
        for file in files:
            if total <= self.capacity * SPARED:
                return
            if file.key != spared:
                file.path.unlink(missing_ok=True)
                total -= file.size

    def _scan(self) -> Iterator[Kept]:
        for folder in _listed(self.root):
            if len(folder.name) == 2 and folder.is_dir(follow_symlinks=False):
                for entry in _listed(Path(folder.path)):
                    yield from _known(entry)


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []


def _known(entry: os.DirEntry[str]) -> Iterator[Kept]:
    path = Path(entry.path)
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return
    if path.suffix == PART and time.time() - status.st_mtime > ABANDONED:
        path.unlink(missing_ok=True)
    elif path.suffix == SUFFIX and _KEY.fullmatch(path.stem):
        yield Kept(path.stem, path, status.st_size, status.st_mtime)
