"""Which backends are in use: by ``use_backend``, else by ``LAZYCORE_BACKEND``, else the default."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Hashable, Mapping
from types import TracebackType

from lazycore_plugin_api import LazycoreError, UnknownBackend

from lazycore.plugins.backend import LoadedBackend
from lazycore.plugins.discovery import Candidate, installed
from lazycore.plugins.grammar import Request, parse
from lazycore.plugins.loading import FailedPlugin, LoadResult, load
from lazycore.plugins.targets import make_target
from lazycore.plugins.warning import PluginWarning

__all__ = ["DEFAULTS", "ENVIRONMENT", "Selection", "current", "on_change", "on_selected", "use_backend"]

ENVIRONMENT = "LAZYCORE_BACKEND"
DEFAULTS = ("xla", "reference")
"""The backends taken when nobody chose any: the first one that is installed and works."""

Backends = tuple[LoadedBackend, ...]

_lock = threading.RLock()
_selected: Backends | None = None
_backends: dict[Hashable, LoadedBackend] = {}
_listeners: list[Callable[[], None]] = []
_followers: list[Callable[[Backends], None]] = []


class Selection:
    """What ``use_backend`` returns. As a context manager it puts the earlier selection back at its end."""

    def __init__(self, backends: Backends, previous: Backends | None) -> None:
        self.backends = backends
        self._previous = previous

    def __enter__(self) -> Backends:
        return self.backends

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _change(self._previous)


def use_backend(text: str | None) -> Selection:
    """Use the backends that ``text`` names, ``name[:device][?option=value[&option=value]],name2…``, in this order, for
    the whole process; None means whatever the environment or the default says.

    Raises UnknownBackend for a name that is not installed, PluginError for a plugin that is broken or incompatible,
    LazycoreError for a bad device, option or text. The selection is then as it was.
    """
    backends = _from_environment() if text is None else _resolve(text)
    previous = _selected
    _change(backends)
    return Selection(backends, previous)


def current() -> Backends:
    """The backends in use, in order; equal for equal selections, as there is one object per target. The environment and
    the default are looked at on the first call."""
    if _selected is None:
        with _lock:
            if _selected is None:
                _change(_from_environment())
    assert _selected is not None
    return _selected


def on_change(listener: Callable[[], None]) -> None:
    """Have ``listener`` called before each change of an existing selection, e.g. to end the trace that uses it."""
    _listeners.append(listener)


def on_selected(listener: Callable[[Backends], None]) -> None:
    """Have ``listener`` called with the backends after each selection, the first one included."""
    _followers.append(listener)


def _change(backends: Backends | None) -> None:
    global _selected
    if _selected is not None and backends != _selected:
        for listener in _listeners:
            listener()
    _selected = backends
    for follower in _followers:
        follower(backends or ())


def _from_environment() -> Backends:
    text = os.environ.get(ENVIRONMENT, "").strip()
    return _resolve(text) if text else _default()


def _default() -> Backends:
    found = installed()
    for name in DEFAULTS:
        candidate = found.get(name)
        if candidate is None:
            continue
        plugin = load(candidate)
        if not isinstance(plugin, FailedPlugin):
            return (_backend(Request(name), plugin),)
        warnings.warn(f"{plugin.failure()}; the next default is tried", PluginWarning, stacklevel=2)
    raise UnknownBackend(f"none of the default backends ({', '.join(DEFAULTS)}) works; {_listing(found)}")


def _resolve(text: str) -> Backends:
    requests = parse(text)
    found = installed()
    for request in requests:
        if request.name not in found:
            raise UnknownBackend(f"no backend named {request.name!r} is installed; {_listing(found)}")
    backends = tuple(_backend(request, load(found[request.name])) for request in requests)
    if len(set(backends)) != len(backends):
        raise LazycoreError(f"backend selection {text!r} names the same target twice")
    return backends


def _listing(found: Mapping[str, Candidate]) -> str:
    return f"installed: {', '.join(found) or 'none'}"


def _backend(request: Request, plugin: LoadResult) -> LoadedBackend:
    if isinstance(plugin, FailedPlugin):
        raise plugin.failure() from plugin.error
    target = make_target(request, plugin.info)
    # Plugins live for ever in the loader's cache, so that an id stands for one for ever.
    key = (id(plugin), target.device, tuple(sorted(target.options.items())))
    with _lock:
        return _backends.setdefault(key, LoadedBackend(plugin, target))
