"""16-bit floats times a number: computed in float32 and rounded once, as by CPU kernels, which keep the factor in full.

Rounded to 16 bits first, 1e5 would be infinite among float16 and 0.999 would be 1 among bfloat16. What is added is
rounded by the CPU as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from lazycore_plugin_api import DType, TensorSpec

from lazycore.trace.call import Call, Lifted, Number, Operand, Template

__all__ = ["keep_numbers"]

_HALVES = frozenset((DType.float16, DType.bfloat16))
_WIDER = frozenset((DType.float32, DType.float64))
_OPS = frozenset(
    f"aten.{name}"
    for name in (
        "mul.Tensor",
        "mul.Scalar",
        "div.Tensor",
        "div.Scalar",
        "addcmul.default",
        "addcdiv.default",
        "lerp.Scalar",
    )
)  # fmt: skip


def keep_numbers(call: Call, spec_of: Callable[[Operand], TensorSpec]) -> Call:
    """The call in float32, where it is one of 16-bit floats with a number that these do not hold; else the call."""
    if call.compute not in _HALVES or call.op not in _OPS:
        return call
    second = call.args[1]
    if isinstance(second, Operand):
        spec = spec_of(second)
        kept = spec.shape == () and spec.dtype in _WIDER
    else:
        kept = False
    if not kept and not any(_is_rounded(t, call.compute) for t in (*call.args, *call.kwargs.values())):
        return call
    results = tuple(None if r is None else TensorSpec(r.shape, DType.float32) for r in call.results)
    return replace(call, compute=DType.float32, results=results)


def _is_rounded(template: Template, dtype: DType) -> bool:
    if isinstance(template, Number):
        return _is_rounded(template.number, dtype)
    if isinstance(template, Lifted):
        return True
    if not isinstance(template, (int, float)):
        return False
    with np.errstate(over="ignore"):
        return float(np.asarray(template, np.float64).astype(dtype.numpy)) != template
