"""The table: operator -> C expression of one element. What is listed is claimed.

Operands are C expressions of type float. NaN goes through comparisons as in PyTorch: ``x <= 0`` is false for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["EXPRESSIONS", "literal"]

Expression = Callable[..., str]


def literal(number: float) -> str:
    """A number as C spells it, to the last bit."""
    if math.isnan(number):
        return "NAN"
    if math.isinf(number):
        return "INFINITY" if number > 0 else "-INFINITY"
    return f"((float){float(number).hex()})"


def _call(function: str) -> Expression:
    return lambda x: f"{function}({x})"


def _scaled(operator: str) -> Expression:
    def expression(x: str, y: str, alpha: str = "1.0f") -> str:
        return f"{x} {operator} {y}" if alpha == literal(1) else f"{x} {operator} {alpha} * {y}"

    return expression


def _extremum(comparison: str) -> Expression:
    return lambda x, y: f"(isnan({x}) || {x} {comparison} {y}) ? {x} : {y}"


EXPRESSIONS: dict[str, Expression] = {
    "aten.add.Tensor": _scaled("+"),
    "aten.sub.Tensor": _scaled("-"),
    "aten.mul.Tensor": lambda x, y: f"{x} * {y}",
    "aten.div.Tensor": lambda x, y: f"{x} / {y}",
    "aten.maximum.default": _extremum(">"),
    "aten.minimum.default": _extremum("<"),
    "aten.neg.default": lambda x: f"-{x}",
    "aten.reciprocal.default": lambda x: f"1.0f / {x}",
    "aten.relu.default": lambda x: f"{x} <= 0.0f ? 0.0f : {x}",
    "aten.sigmoid.default": lambda x: f"1.0f / (1.0f + expf(-{x}))",
    "aten.abs.default": _call("fabsf"),
    "aten.sqrt.default": _call("sqrtf"),
    "aten.exp.default": _call("expf"),
    "aten.expm1.default": _call("expm1f"),
    "aten.log.default": _call("logf"),
    "aten.log1p.default": _call("log1pf"),
    "aten.sin.default": _call("sinf"),
    "aten.cos.default": _call("cosf"),
    "aten.tanh.default": _call("tanhf"),
    "aten.erf.default": _call("erff"),
    "aten.scalar_tensor.default": lambda number: number,
}
