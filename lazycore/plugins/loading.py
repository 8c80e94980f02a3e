"""Load one plugin into a manager of its own, so that whatever is wrong with it stays with it."""

from __future__ import annotations

import threading
import traceback
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import TypeAlias

import pluggy
from lazycore_plugin_api import API_VERSION, PROJECT, BackendInfo, PluginError, hooks

from lazycore.plugins.discovery import Candidate
from lazycore.plugins.validation import Incompatible, check_hooks, check_info, check_version

__all__ = ["FailedPlugin", "LoadResult", "Plugin", "State", "load"]


class State(Enum):
    """What became of loading a plugin."""

    READY = "ready"
    BROKEN = "broken"
    INCOMPATIBLE = "incompatible"


@dataclass(frozen=True)
class Plugin:
    """A plugin that passed every check. ``manager`` holds it and nothing else."""

    candidate: Candidate
    info: BackendInfo
    manager: pluggy.PluginManager
    state = State.READY


@dataclass(frozen=True)
class FailedPlugin:
    """A plugin that cannot be used: why, and the traceback as text."""

    candidate: Candidate
    state: State
    error: BaseException
    traceback: str

    @property
    def reason(self) -> str:
        """One line: our own message as it is, a foreign exception with its type."""
        message = str(self.error)
        return message if isinstance(self.error, PluginError) else f"{type(self.error).__name__}: {message}"

    def failure(self) -> PluginError:
        """The error to raise where somebody asked for this backend by name."""
        hint = "`lazycore backends --verbose` shows the traceback"
        return PluginError(f"{self.candidate} is {self.state.value}: {self.reason}; {hint}")


LoadResult: TypeAlias = Plugin | FailedPlugin

_lock = threading.RLock()
_loaded: dict[tuple[str, ...], LoadResult] = {}


def load(candidate: Candidate) -> LoadResult:
    """The plugin, imported and checked once per process; failures are results too and are not tried again."""
    key = (candidate.name, candidate.entry.value, candidate.distribution, candidate.version, *candidate.rivals)
    with _lock:
        if key not in _loaded:
            _loaded[key] = _load(candidate)
        return _loaded[key]


def _load(candidate: Candidate) -> LoadResult:
    # SystemExit too: a module that calls sys.exit() while it is imported must not end the user's program.
    try:
        return _checked(candidate)
    except Incompatible as error:
        return FailedPlugin(candidate, State.INCOMPATIBLE, error, traceback.format_exc())
    except (Exception, SystemExit) as error:
        return FailedPlugin(candidate, State.BROKEN, error, traceback.format_exc())


def _checked(candidate: Candidate) -> Plugin:
    if candidate.rivals:
        raise PluginError(f"the distributions {', '.join(candidate.rivals)} all claim this name; uninstall all but one")
    plugin = candidate.entry.load()
    info = _info(plugin, candidate.name)
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hooks)
    manager.register(plugin, name=candidate.name)
    check_hooks(plugin, manager, newer=info.api_version > API_VERSION)
    return Plugin(candidate, info, manager)


def _info(plugin: object, name: str) -> BackendInfo:
    # Asked before the plugin is registered: the hooks of another major version need not fit this one's specifications.
    ask = getattr(plugin, "lazycore_backend_info", None)
    if ask is None:
        where = plugin.__name__ if isinstance(plugin, ModuleType) else repr(plugin)
        raise PluginError(f"the required hook lazycore_backend_info is not implemented in {where}")
    info = ask()
    if isinstance(info, BackendInfo):
        check_version(info)
    return check_info(info, name)
