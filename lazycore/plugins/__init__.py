"""Backends as plugins: found by entry point, loaded each on its own, selected by text, called in isolation."""

from lazycore.plugins.backend import LoadedBackend
from lazycore.plugins.selection import Selection, current, on_change, selection_key, use_backend

__all__ = ["LoadedBackend", "Selection", "current", "on_change", "selection_key", "use_backend"]
