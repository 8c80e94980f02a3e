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
_OPS = frozenset((
    "aten.mul.Tensor", "aten.mul.Scalar", "aten.div.Tensor", "aten.div.Scalar", "aten.addcmul.default",
    "aten.addcdiv.default", "aten.lerp.Scalar",
))  # fmt: skip


def keep_numbers(call: Call, spec_of: Callable[[Operand], TensorSpec]) -> Call:
    """The call in float32, where it is one of 16-bit floats with a number that these do not hold; else the call."""
    if call.compute not in _HALVES or call.op not in _OPS:
        return call
    templates = (*call.args, *call.kwargs.values())
    if not _is_wider(call.args[1], spec_of) and not any(_is_rounded(t, call.compute) for t in templates):
        return call
    results = tuple(None if r is None else TensorSpec(r.shape, DType.float32) for r in call.results)
    return replace(call, compute=DType.float32, results=results)


def _is_wider(second: Template, spec_of: Callable[[Operand], TensorSpec]) -> bool:
    """Whether the second operand is a 0-d tensor of more bits: a number, to PyTorch."""
    if not isinstance(second, Operand):
        return False
    spec = spec_of(second)
    return spec.shape == () and spec.dtype in _WIDER


def _is_rounded(template: Template, dtype: DType) -> bool:
    if isinstance(template, Number):
        return _is_rounded(template.number, dtype)
    if isinstance(template, Lifted):
        return True
    if not isinstance(template, (int, float)):
        return False
    with np.errstate(over="ignore"):
        return float(np.asarray(template, np.float64).astype(dtype.numpy)) != template
