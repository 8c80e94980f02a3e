"""The text that selects backends: ``name[:device][?option=value[&option=value]],name2…``."""

from __future__ import annotations

from dataclasses import dataclass

from lazycore_plugin_api import LazycoreError

__all__ = ["GRAMMAR", "Request", "parse"]

GRAMMAR = "name[:device][?option=value[&option=value]],name2…"


@dataclass(frozen=True)
class Request:
    """One backend as it was written: nothing about it is known to exist yet."""

    name: str
    device: str | None = None
    options: tuple[tuple[str, str], ...] = ()


def parse(text: str) -> tuple[Request, ...]:
    """The requests in ``text``, at least one, in order. Raises LazycoreError where it does not follow the grammar."""
    return tuple(_request(part.strip(), text) for part in text.split(","))


def _request(part: str, text: str) -> Request:
    head, question, tail = part.partition("?")
    name, colon, device = (piece.strip() for piece in head.partition(":"))
    if not name:
        raise _malformed(text, "a backend's name is missing")
    if colon and not device:
        raise _malformed(text, f"no device follows {name + ':'!r}")
    options = tuple(_option(item, text) for item in tail.split("&")) if question else ()
    twice = sorted({key for key, _ in options if [k for k, _ in options].count(key) > 1})
    if twice:
        raise _malformed(text, f"option {twice[0]!r} is given twice")
    return Request(name, device or None, options)


def _option(item: str, text: str) -> tuple[str, str]:
    key, equals, value = (piece.strip() for piece in item.partition("="))
    if not key or not equals:
        raise _malformed(text, f"{item!r} is no option=value")
    return key, value


def _malformed(text: str, what: str) -> LazycoreError:
    return LazycoreError(f"backend selection {text!r}: {what}; the form is {GRAMMAR}")
