"""Tell builds of a plugin apart that call themselves by one version, as they do while somebody works on it."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

__all__ = ["build_of"]


@cache
def build_of(module: str) -> str:
    """A digest of the Python files of the package that has the module ``module`` in it, or of a module in none, as they
    are on the first call. The module must be imported, and better not long ago."""
    content = hashlib.blake2b(digest_size=16)
    for path in _files(module.rpartition(".")[0] or module):
        content.update(f"{path.name}:".encode())
        content.update(path.read_bytes())
    return content.hexdigest()


def _files(package: str) -> Iterator[Path]:
    module = sys.modules[package]
    for folder in getattr(module, "__path__", ()):
        yield from sorted(Path(folder).rglob("*.py"))
    if not hasattr(module, "__path__") and getattr(module, "__file__", None):
        yield Path(str(module.__file__))
