"""How a result is put together from arrays: nested tuples, lists and dicts as JSON, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

__all__ = ["build", "describe", "positions"]


def describe(value: Any, place: Callable[[Any], int | None]) -> Any:
    """A result as JSON's types. ``place`` gives the position of what is a tensor, None for what is none. Raises
    TypeError for a kind that has no place in it."""
    position = place(value)
    if position is not None:
        return {"tensor": position}
    if isinstance(value, float):
        return {"float": repr(value)}  # JSON has no NaN and no infinity
    if value is None or isinstance(value, (bool, int, str)):
        return {"value": value}
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a dict whose keys are not all strings")
        return {"dict": [[key, describe(item, place)] for key, item in value.items()]}
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [describe(item, place) for item in value]}
    raise TypeError(f"a {type(value).__module__}.{type(value).__qualname__}")


def build(structure: Any, arrays: Sequence[Any]) -> Any:
    """The result that was described, of these arrays."""
    ((kind, content),) = structure.items()
    if kind == "tensor":
        return arrays[content]
    if kind == "dict":
        return {key: build(item, arrays) for key, item in content}
    if kind in ("tuple", "list"):
        items = [build(item, arrays) for item in content]
        return tuple(items) if kind == "tuple" else items
    if kind in ("value", "float"):
        return float(content) if kind == "float" else content
    raise ValueError(f"a result of the unknown kind {kind!r}")


def positions(structure: Any) -> Iterator[int]:
    """The positions of the tensors in it, in order."""
    ((kind, content),) = structure.items()
    if kind == "tensor":
        yield int(content)
    elif kind in ("tuple", "list", "dict"):
        for item in content:
            yield from positions(item[1] if kind == "dict" else item)
