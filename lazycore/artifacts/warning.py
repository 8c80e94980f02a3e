"""The warning category of everything that goes wrong with stored programs: the program is compiled and goes on."""

from __future__ import annotations

__all__ = ["CacheWarning"]


class CacheWarning(UserWarning):
    """A stored program could not be read or written."""
