"""Rules: named functions from an op's arguments to what is known of its outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, ParamSpec, TypeAlias, TypeVar

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.ir import Value, argument_values

__all__ = ["Call", "Rule", "Sizes", "Unfit", "rule"]

T = TypeVar("T")
P = ParamSpec("P")
Sizes: TypeAlias = tuple[int, ...]


class Unfit(ValueError):
    """Arguments that are of the right kinds, but that the op cannot be called with."""


class Call:
    """A node's arguments by the schema's names. Rules read them once their kinds are known to be right; shapes are
    static where a shape rule runs."""

    __slots__ = ("given",)

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given

    def __getitem__(self, name: str) -> Any:
        return self.given[name]

    def shape(self, name: str) -> Sizes:
        """The shape of a Tensor argument."""
        return self.given[name].spec.shape  # type: ignore[no-any-return]

    def dtype(self, name: str) -> DType:
        """The dtype of a Tensor argument."""
        return self.given[name].spec.dtype  # type: ignore[no-any-return]

    def values(self, *names: str) -> Iterator[Value]:
        """The values among the arguments named; lists are walked, None and numbers left out."""
        for name in names:
            argument = self.given[name]
            if type(argument) is Value:
                yield argument
            elif argument is not None:
                yield from argument_values(argument)


@dataclass(frozen=True)
class Rule(Generic[T]):
    """``apply`` yields one item per output, None for one that is left open; raises Unfit. ``text`` names the rule."""

    text: str
    apply: Callable[[Call], tuple[T | None, ...]]


def rule(function: Callable[Concatenate[Call, P], tuple[T | None, ...]]) -> Callable[P, Rule[T]]:
    """Decorator: the function, which takes a call and how to read it, becomes a maker of rules that bear its name."""

    def make(*columns: P.args, **options: P.kwargs) -> Rule[T]:
        def apply(call: Call) -> tuple[T | None, ...]:
            return function(call, *columns, **options)

        words = [*map(_word, columns), *(f"{key}={_word(x)}" for key, x in options.items())]
        return Rule(f"{function.__name__}({', '.join(words)})" if words else function.__name__, apply)

    make.__name__, make.__doc__ = function.__name__, function.__doc__
    return make


def _word(column: object) -> str:
    if isinstance(column, Rule):
        return column.text
    return column.short if isinstance(column, DType) else str(column)
