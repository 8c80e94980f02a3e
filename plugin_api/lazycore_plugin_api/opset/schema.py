"""Schemas: what arguments an operator takes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.ir import Argument, Value
from lazycore_plugin_api.opset.kinds import Kind, kind_of

__all__ = ["Parameter", "Schema", "parse"]

_PARAMETER = re.compile(r"(\S+) (\w+)(?:=(.+))?$")
_NAMED = {"None": None, "True": True, "False": False, "[]": ()}


@dataclass(frozen=True)
class Parameter:
    """One argument; ``default`` counts unless it is ``required``."""

    name: str
    kind: Kind
    keyword: bool
    required: bool
    default: Any


@dataclass(frozen=True)
class Schema:
    """Parameters in the schema's order, and how many results there are (None: a list of them)."""

    parameters: tuple[Parameter, ...]
    results: int | None

    @cached_property
    def positional(self) -> tuple[tuple[str, Kind], ...]:
        """What ``args`` holds."""
        return tuple((p.name, p.kind) for p in self.parameters if not p.keyword)

    @cached_property
    def keywords(self) -> dict[str, Kind]:
        """What ``kwargs`` holds."""
        return {p.name: p.kind for p in self.parameters if p.keyword}

    def bind(self, args: tuple[Argument, ...], kwargs: Mapping[str, Argument]) -> dict[str, Argument]:
        """The arguments by name. Raises ValueError unless all are there and of their kinds."""
        positional, keywords = self.positional, self.keywords
        if len(args) != len(positional):
            raise ValueError(f"has {len(args)} positional arguments where the schema has {len(positional)}")
        if kwargs.keys() != keywords.keys():
            raise ValueError(f"has the keywords {sorted(kwargs)} where the schema has {sorted(keywords)}")
        given = dict(kwargs)
        for (name, kind), argument in zip(positional, args, strict=True):
            if not kind.takes(argument):
                raise _misfit(name, kind, argument)
            given[name] = argument
        for name, argument in kwargs.items():
            if not keywords[name].takes(argument):
                raise _misfit(name, keywords[name], argument)
        return given


def _misfit(name: str, kind: Kind, argument: Argument) -> ValueError:
    given = f"{argument}: {argument.spec}" if isinstance(argument, Value) else repr(argument)
    return ValueError(f"has {given} for {name} where the schema has {kind.text}")


def parse(text: str) -> Schema:
    """Read ``name(Tensor self, int[1] dim=[], *, ScalarType? dtype=None) -> (Tensor, Tensor)``.

    Raises ValueError where the text is no schema.
    """
    head, arrow, results = text.partition(" -> ")
    inside = head.partition("(")[2].removesuffix(")")
    if not arrow or not head.endswith(")"):
        raise ValueError(f"{text!r} is no schema")
    positional, _, keyword = f", {inside}".partition(", *, ")
    parameters = [_parameter(part, False) for part in positional.split(", ") if part]
    parameters += [_parameter(part, True) for part in keyword.split(", ") if part]
    return Schema(tuple(parameters), None if results == "Tensor[]" else results.count("Tensor"))


def _parameter(text: str, keyword: bool) -> Parameter:
    match = _PARAMETER.match(text)
    if match is None:
        raise ValueError(f"{text!r} is no parameter")
    kind, name, default = match.groups()
    return Parameter(name, kind_of(kind), keyword, default is None, None if default is None else _read(default))


def _read(text: str) -> Any:
    """A default: a number, a name, a dtype, a quoted word, an empty list."""
    if text in _NAMED:
        return _NAMED[text]
    if text in DType.__members__:
        return DType[text]
    if text.startswith('"'):
        return text.strip('"')
    return float(text) if "." in text or "e" in text else int(text)
