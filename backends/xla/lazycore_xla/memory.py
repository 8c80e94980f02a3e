"""XLA's word for a full memory, as the contract's error."""

from __future__ import annotations

from lazycore_plugin_api import OutOfMemory

__all__ = ["raise_if_full"]

# How XLA begins what it says of an allocation that failed; jax has one exception for all that goes wrong at run time.
_FULL = "RESOURCE_EXHAUSTED"


def raise_if_full(error: Exception) -> None:
    """Raise OutOfMemory where XLA had no room; returns where the error is another one."""
    if str(error).startswith(_FULL):
        raise OutOfMemory(str(error)) from error
