"""The backend under test, opened without selecting it."""

from __future__ import annotations

from lazycore_plugin_api import UnknownBackend

from lazycore.plugins.backend import LoadedBackend
from lazycore.plugins.discovery import installed
from lazycore.plugins.grammar import parse
from lazycore.plugins.loading import FailedPlugin, load
from lazycore.plugins.targets import make_target

__all__ = ["open_backend"]


def open_backend(selection: str) -> LoadedBackend:
    """The backend that ``name[:device][?option=value]`` names. Raises UnknownBackend, PluginError for one that is
    broken or incompatible, LazycoreError for a bad device or option."""
    (request,) = parse(selection)
    found = installed()
    if request.name not in found:
        raise UnknownBackend(f"no backend named {request.name!r} is installed; installed: {', '.join(found) or 'none'}")
    plugin = load(found[request.name])
    if isinstance(plugin, FailedPlugin):
        raise plugin.failure() from plugin.error
    return LoadedBackend(plugin, make_target(request, plugin.info))
