"""From a request and what its plugin offers to a target: the device checked, the options parsed, defaults filled in."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lazycore_plugin_api import BackendInfo, LazycoreError, Option, Target

from lazycore.plugins.grammar import Request

__all__ = ["make_target"]

OptionValue = bool | int | float | str

_BOOLEANS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}


def make_target(request: Request, info: BackendInfo) -> Target:
    """The target that ``request`` means. Raises LazycoreError naming the valid devices, options or values."""
    options: dict[str, OptionValue] = {name: option.default for name, option in info.options.items()}
    for name, text in request.options:
        if name not in options:
            raise LazycoreError(f"backend {info.name!r} has no option {name!r}; {_offer('options', options)}")
        options[name] = _value(info, name, info.options[name], text)
    return Target(info.name, _device(request, info), options)


def _device(request: Request, info: BackendInfo) -> str:
    if request.device is None:
        return info.devices[0]
    if request.device not in info.devices:
        offer = _offer("devices", info.devices)
        raise LazycoreError(f"backend {info.name!r} has no device {request.device!r}; {offer}")
    return request.device


def _offer(what: str, names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"its {what} are: {listed}" if listed else f"it has no {what}"


def _boolean(text: str) -> bool:
    return _BOOLEANS[text.lower()]


_PARSERS: dict[type, tuple[Callable[[str], OptionValue], str]] = {
    bool: (_boolean, "one of " + ", ".join(_BOOLEANS)),
    int: (int, "an integer"),
    float: (float, "a number"),
    str: (str, "a text"),
}


def _value(info: BackendInfo, name: str, option: Option, text: str) -> OptionValue:
    parser, wanted = _PARSERS[type(option.default)]
    try:
        return parser(text)
    except (KeyError, ValueError) as error:
        message = f"backend {info.name!r}: option {name} is {text!r}; it must be {wanted}"
        raise LazycoreError(f"{message} (default {option.default!r})") from error
