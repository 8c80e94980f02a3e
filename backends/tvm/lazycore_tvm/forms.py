"""What a kernel computes, as a key: layers that repeat are lowered once.

An array's form is the ops that it comes from, down to memory. Two kernels are the same where their results' forms
differ in nothing but which memory they read.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from lazycore_plugin_api import Node

from lazycore_tvm.arrays import Array

__all__ = ["Forms"]


class _Memory:
    """A variable of the program, as it is seen by an array."""

    __slots__ = ("variable", "view")

    def __init__(self, array: Array) -> None:
        self.variable = array.memory
        self.view = (tuple(map(str, array.shape)), array.dtype)


class Forms:
    """The forms of one program's arrays."""

    def __init__(self) -> None:
        self._forms: dict[int, Any] = {}
        self._kept: list[Array] = []

    def add(self, node: Node, args: Sequence[Any], kwargs: Mapping[str, Any], results: Mapping[int, Array]) -> None:
        """Note that the arrays are a node's outputs, by their number, for these operands and attributes."""
        outputs = tuple((tuple(map(str, v.spec.shape)), v.spec.dtype) for v in node.outputs)
        call = (node.op, outputs, self._of(tuple(args)), *((name, self._of(kwargs[name])) for name in sorted(kwargs)))
        for number, array in results.items():
            self._kept.append(array)  # so that no other array gets its id
            self._forms.setdefault(id(array), (number, call))

    def _of(self, argument: Any) -> Any:
        if isinstance(argument, tuple):
            return tuple(self._of(a) for a in argument)
        if not isinstance(argument, Array):
            return type(argument).__name__, repr(argument)
        return _Memory(argument) if argument.memory is not None else self._forms.get(id(argument), object())

    def key(self, arrays: Sequence[Array]) -> tuple[Hashable, list[Any]]:
        """The arrays' forms with memory numbered, and the variables that the numbers stand for."""
        variables: list[Any] = []

        def numbered(form: Any) -> Any:
            if isinstance(form, tuple):
                return tuple(map(numbered, form))
            if not isinstance(form, _Memory):
                return form
            known = next((n for n, v in enumerate(variables) if v is form.variable), len(variables))
            if known == len(variables):
                variables.append(form.variable)
            return known, form.view

        return numbered(self._of(tuple(arrays))), variables
