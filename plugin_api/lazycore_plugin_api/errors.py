"""The error classes that cross the contract."""

from __future__ import annotations

__all__ = ["BackendError", "InvalidGraph", "LazycoreError", "OutOfMemory", "PluginError", "UnknownBackend"]


class LazycoreError(RuntimeError):
    """Base of lazycore's own errors."""


class InvalidGraph(LazycoreError):
    """A graph breaks a rule of the IR; the message names the node and the rule."""


class UnknownBackend(LazycoreError):
    """A selection names a backend that is not installed; the message lists those that are."""


class PluginError(LazycoreError):
    """A plugin broke the contract: it failed to import, misspelt a hook, or returned a wrong type."""


class BackendError(LazycoreError):
    """A backend failed while compiling or running; the message names backend, op and the user's line."""


class OutOfMemory(BackendError):
    """A device has no room for what it was asked to hold. Executables and buffers raise it, or Python's MemoryError."""
