"""What a plugin must fulfil before it may be selected: its hooks and its account of itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any

import pluggy
from lazycore_plugin_api import (
    API_VERSION,
    PROJECT,
    REQUIRED,
    BackendInfo,
    Capabilities,
    Constants,
    DType,
    Option,
    PluginError,
)

__all__ = ["Incompatible", "check_hooks", "check_info", "check_version"]

_MARK = f"{PROJECT}_impl"
# It is a part of selections, and the first part of composites' op names.
_NAME = re.compile(r"[\w-]+", re.ASCII)


class Incompatible(PluginError):
    """The plugin is written against another major version of the contract."""


def check_version(info: BackendInfo) -> None:
    """Raise Incompatible for another major version; a newer minor one is accepted."""
    version = info.api_version
    if not (isinstance(version, tuple) and len(version) == 2 and all(type(v) is int for v in version)):
        raise PluginError(f"api_version is {version!r}; it must be a pair of integers such as {API_VERSION}")
    if version[0] != API_VERSION[0]:
        raise Incompatible(
            f"it is written for version {version[0]}.{version[1]} of lazycore's plugin API and this is "
            f"{API_VERSION[0]}.{API_VERSION[1]}; install a release of it, or of lazycore, whose major versions agree"
        )


def check_hooks(plugin: object, manager: pluggy.PluginManager, newer: bool) -> None:
    """Raise PluginError for hooks that are missing, unmarked or misspelt. A plugin of a ``newer`` minor version may
    have hooks that this version has not heard of."""
    unmarked = [name for name in _functions(plugin) if not hasattr(getattr(plugin, name), _MARK)]
    if unmarked:
        raise PluginError(
            f"{', '.join(unmarked)}: not marked with @hookimpl (names that begin with lazycore_ are hooks)"
        )
    if not newer:
        _check_spelling(manager)
    missing = [name for name in REQUIRED if not getattr(manager.hook, name).get_hookimpls()]
    if missing:
        raise PluginError(f"the required hook{'s' * (len(missing) > 1)} {', '.join(missing)} not implemented")


def _check_spelling(manager: pluggy.PluginManager) -> None:
    try:
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        known = ", ".join(sorted(name for name in vars(manager.hook) if _is_specified(manager, name)))
        raise PluginError(f"{error}; the hooks are {known}") from error


def _is_specified(manager: pluggy.PluginManager, name: str) -> bool:
    caller = getattr(manager.hook, name)
    return isinstance(caller, pluggy.HookCaller) and caller.has_spec()


def _functions(plugin: object) -> Iterator[str]:
    home = getattr(plugin, "__name__", None)
    for name, item in getattr(plugin, "__dict__", {}).items():
        if name.startswith(f"{PROJECT}_") and isinstance(item, FunctionType) and item.__module__ == home:
            yield name


def check_info(info: object, name: str) -> BackendInfo:
    """``info`` if it is a sound BackendInfo for the entry point ``name``; raises PluginError naming the bad field."""
    if not isinstance(info, BackendInfo):
        raise PluginError(f"lazycore_backend_info returned {_kind(info)}; it must return a BackendInfo")
    if info.name != name:
        raise PluginError(f"the entry point is named {name!r} and lazycore_backend_info says {info.name!r}")
    for field, (sound, wanted) in _FIELDS.items():
        if not sound(getattr(info, field)):
            raise PluginError(f"BackendInfo.{field} is {getattr(info, field)!r}; it must be {wanted}")
    return info


def _kind(item: object) -> str:
    return "None" if item is None else f"{type(item).__name__} {item!r}"


def _sound_devices(devices: Any) -> bool:
    return isinstance(devices, tuple) and bool(devices) and all(isinstance(d, str) and d for d in devices)


def _sound_dtypes(dtypes: Any) -> bool:
    return isinstance(dtypes, frozenset | set) and all(isinstance(d, DType) for d in dtypes)


def _sound_options(options: Any) -> bool:
    return isinstance(options, Mapping) and all(
        isinstance(name, str) and isinstance(option, Option) and type(option.default) in (bool, int, float, str)
        for name, option in options.items()
    )


_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": (lambda v: _NAME.fullmatch(v) is not None, "letters, digits, _ and -"),
    "version": (lambda v: isinstance(v, str), "a string"),
    "devices": (_sound_devices, "a tuple of at least one device name"),
    "dtypes": (_sound_dtypes, "a set of DType"),
    "options": (_sound_options, "a mapping of names to Option, whose defaults are bool, int, float or str"),
    "capabilities": (lambda v: isinstance(v, Capabilities), "a Capabilities"),
    "constants": (lambda v: isinstance(v, Constants), "a Constants"),
    "fingerprint": (lambda v: isinstance(v, str), "a string"),
}
