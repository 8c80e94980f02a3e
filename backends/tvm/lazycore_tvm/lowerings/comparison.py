"""Comparisons and logic. Comparisons of floats are written so that NaN is unequal to all, itself included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lazycore_plugin_api import DType

from lazycore_tvm.arrays import Array, elementwise
from lazycore_tvm.operands import number
from lazycore_tvm.registry import ANY, FLOATS, lowering
from lazycore_tvm.scalars import Expr, at_most, differs, equal, like, type_of
from lazycore_tvm.tvm_runtime import tvm

tir = tvm.tirx
Binary = Callable[[Expr, Expr], Expr]


def _less(x: Expr, y: Expr) -> Expr:
    return tir.all(tir.Not(x), y) if type_of(x) == "bool" else x < y


_COMPARISONS: dict[str, Binary] = {
    "eq": equal,
    "ne": differs,
    "lt": _less,
    "le": at_most,
    "gt": lambda x, y: _less(y, x),
    "ge": lambda x, y: at_most(y, x),
}


def _truth(x: Expr) -> Expr:
    return x if type_of(x) == "bool" else differs(x, like(0, x))


_LOGIC: dict[str, Binary] = {
    "logical_and": lambda x, y: tir.all(_truth(x), _truth(y)),
    "logical_or": lambda x, y: tir.any(_truth(x), _truth(y)),
    "logical_xor": lambda x, y: differs(_truth(x), _truth(y)),
}


def _bitwise(on_bool: Binary, on_whole: Binary) -> Binary:
    return lambda x, y: on_bool(x, y) if type_of(x) == "bool" else on_whole(x, y)


_BITWISE: dict[str, Binary] = {
    "bitwise_and": _bitwise(tir.all, tir.bitwise_and),
    "bitwise_or": _bitwise(tir.any, tir.bitwise_or),
    "bitwise_xor": _bitwise(differs, tir.bitwise_xor),
}


def _tensors(function: Binary, dtype: DType | None) -> Callable[[Array, Array], Array]:
    return lambda x, other: elementwise(function, x, other, dtype=dtype or x.dtype)


def _numbers(function: Binary, dtype: DType | None) -> Callable[[Array, Any], Array]:
    return lambda x, other: elementwise(function, x, number(other, x), dtype=dtype or x.dtype)


for _name, _function in _COMPARISONS.items():
    lowering(f"{_name}.Tensor", dtypes=ANY)(_tensors(_function, DType.bool))
    lowering(f"{_name}.Scalar", dtypes=ANY)(_numbers(_function, DType.bool))
for _name, _function in _LOGIC.items():
    lowering(_name)(_tensors(_function, DType.bool))
for _name, _function in _BITWISE.items():
    lowering(f"{_name}.Tensor", dtypes=ANY - FLOATS)(_tensors(_function, None))
    lowering(f"{_name}.Scalar", dtypes=ANY - FLOATS)(_numbers(_function, None))
