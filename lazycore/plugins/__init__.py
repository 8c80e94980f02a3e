"""Backends as plugins: found by entry point, loaded each on its own, selected by text, called in isolation."""

from lazycore.plugins.backend import LoadedBackend
from lazycore.plugins.selection import Selection, current, on_change, use_backend
from lazycore.plugins.warning import PluginWarning

__all__ = ["LoadedBackend", "PluginWarning", "Selection", "current", "on_change", "use_backend"]
