"""Which store is in use, by the settings of now."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import platformdirs

from lazycore.artifacts.store import DiskStore
from lazycore.config import config

__all__ = ["directory", "store"]

_MIB = 2**20


def directory() -> Path:
    """Where compiled programs are kept: ``config.cache_dir``, else the user's directory for caches."""
    return Path(config.cache_dir) if config.cache_dir else platformdirs.user_cache_path("lazycore") / "artifacts"


def store() -> DiskStore:
    """The store, whether or not ``config.cache`` lets programs use it."""
    return _store(directory().expanduser().absolute(), config.cache_mib * _MIB)


@cache
def _store(root: Path, capacity: int) -> DiskStore:
    # One for all: it remembers how much was written since it last looked for files to delete.
    return DiskStore(root, capacity)
