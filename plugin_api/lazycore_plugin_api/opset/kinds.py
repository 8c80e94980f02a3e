"""Kinds of arguments, in the notation of ATen's schemas."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from types import NoneType

from lazycore_plugin_api.dims import Dim
from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.ir import Argument, Value

__all__ = ["Kind", "kind_of"]

_TYPES: dict[str, tuple[type, ...]] = {
    "Tensor": (Value,),
    "Scalar": (bool, int, float, complex, Dim, Value),
    "Index": (int, Dim, Value),
    "int": (int, Dim),
    "float": (float, int),
    "bool": (bool, int),
    "str": (str,),
    "ScalarType": (DType,),
}
_ZERO_D = ("Scalar", "Index")
_NOTATION = re.compile(r"([A-Za-z]+)(\?(?=\[))?(\[(\d*)\])?(\?)?$")


@dataclass(frozen=True)
class Kind:
    """What an argument may be; a Dim may stand for an integer.

    ``types``: its Python types; ``items``: those of a list's items, None where it is none;
    ``zero_d``: values are 0-d."""

    text: str
    types: tuple[type, ...]
    items: tuple[type, ...] | None
    zero_d: bool

    def takes(self, argument: Argument) -> bool:
        """Whether the argument is of this kind."""
        if not isinstance(argument, self.types):
            return False
        if isinstance(argument, tuple):
            items = self.items or ()
            return all(isinstance(item, items) and self._fits(item) for item in argument)
        return not self.zero_d or self._fits(argument)

    def _fits(self, argument: Argument) -> bool:
        return not self.zero_d or not isinstance(argument, Value) or not argument.spec.shape


@cache
def kind_of(text: str) -> Kind:
    """``Tensor``, ``Scalar`` (a number, or a 0-d value), ``Index`` (an integer, or a 0-d int64 value), ``int``,
    ``float``, ``bool``, ``str``, ``ScalarType``; each may have ``[]`` for a list, ``[2]`` for a list that one item may
    stand for, and ``?`` where None is allowed. Raises ValueError for anything else."""
    match = _NOTATION.match(text)
    if match is None or match[1] not in _TYPES:
        raise ValueError(f"{text!r} is no kind of argument")
    name, hole, brackets, size, optional = match.groups()
    single = _TYPES[name]
    none = (NoneType,)
    types = ((tuple, *single) if size else (tuple,)) if brackets else single
    items = (*single, *none) if hole else single
    return Kind(text, (*types, *none) if optional else types, items if brackets else None, name in _ZERO_D)
