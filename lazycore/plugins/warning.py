"""The warning category of everything that goes wrong with a plugin without stopping the program."""

from __future__ import annotations

__all__ = ["PluginWarning"]


class PluginWarning(UserWarning):
    """A plugin failed where the program can go on without it."""
