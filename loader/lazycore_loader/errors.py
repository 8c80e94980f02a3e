"""What goes wrong with exported programs."""

from __future__ import annotations

from lazycore_plugin_api import LazycoreError

__all__ = ["InvalidInput", "ProgramError"]


class ProgramError(LazycoreError):
    """A file is damaged, of another format, or cannot run here; the message names the file."""


class InvalidInput(LazycoreError, ValueError):
    """An argument of a program has another shape or dtype than the program was exported for, or is missing."""
