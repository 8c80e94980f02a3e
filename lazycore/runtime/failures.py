"""The error for what a backend raises while it runs or hands over a result."""

from __future__ import annotations

from lazycore_plugin_api import BackendError, OutOfMemory

__all__ = ["full", "run_failed"]

_FULL: list[type[OutOfMemory]] = [OutOfMemory]


def full(error: type[OutOfMemory]) -> None:
    """Let a full device be reported by this class: the program expects the one of its own framework."""
    _FULL[0] = error


def run_failed(what: str, error: Exception) -> BackendError:
    """``what`` names the step and the user's line; the caller raises the result from ``error``."""
    if isinstance(error, OutOfMemory | MemoryError):
        return _FULL[0](f"{what} found no memory: {error}")
    return BackendError(
        f"{what} failed: {type(error).__name__}: {error}. "
        "Select another backend to compare, or report it to the plugin's author"
    )
