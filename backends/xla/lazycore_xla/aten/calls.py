"""Convolutions as calls of ATen from XLA's programs; a lowering of XLA's own stands by for what is not worth a call."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from lazycore_xla.aten.library import BACKWARD, FORWARD
from lazycore_xla.lowerings.convolution import Window, window_of
from lazycore_xla.lowerings.operands import Array, Out

__all__ = ["CALLS"]

Own: TypeAlias = Callable[..., Any]
"""XLA's own lowering; it takes what the op takes."""

# Fewer multiplications are done before a call has begun.
_WORTH_IT = 1 << 20
_SPATIAL = (1, 2, 3)


def _convolution(own: Own, last: bool, x: Array, weight: Array, bias: Array | None, *window: Any) -> Array:
    result = jax.eval_shape(lambda: own(x, weight, None, *window))
    if not _is_worth_it(x, weight, result):
        return own(x, weight, bias, *window)  # type: ignore[no-any-return]
    call = jax.ffi.ffi_call(FORWARD, result)
    product: Array = call(x, weight, window=_numbers(window_of(x.ndim - 2, *window, last)))
    return product if bias is None else product + (bias if last else bias.reshape(-1, *[1] * (x.ndim - 2)))


def _convolution_backward(
    own: Own,
    last: bool,
    gradient: Array,
    x: Array,
    weight: Array,
    bias_sizes: Sequence[int] | None,
    *window: Any,
    out: Out,
) -> tuple[Array, ...]:
    *window, (of_x, of_weight, of_bias) = window
    if not (of_x or of_weight) or not _is_worth_it(x, weight, gradient):
        return own(gradient, x, weight, bias_sizes, *window, (of_x, of_weight, of_bias), out=out)  # type: ignore[no-any-return]
    # The bias's gradient, a sum, and the gradients that nobody wants.
    rest = own(gradient, x, weight, bias_sizes, *window, (False, False, of_bias), out=out)
    specs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a, wanted in ((x, of_x), (weight, of_weight)) if wanted]
    numbers = _numbers(window_of(x.ndim - 2, *window, last), of_x, of_weight)
    results = iter(jax.ffi.ffi_call(BACKWARD, specs)(gradient, x, weight, window=numbers))
    return (next(results) if of_x else rest[0], next(results) if of_weight else rest[1], rest[2])


def _is_worth_it(x: Array, weight: Array, result: Any) -> bool:
    """Whether the call pays: oneDNN is fast for float32, and a single image would be computed by one thread."""
    if any(a.dtype != jnp.float32 for a in (x, weight, result)) or x.ndim - 2 not in _SPATIAL or x.shape[0] < 2:
        return False
    small, large = sorted((math.prod(x.shape), math.prod(result.shape)))
    return min(small, weight.size) > 0 and large * weight.size // max(weight.shape[:2]) >= _WORTH_IT


def _numbers(window: Window, of_x: bool = False, of_weight: bool = False) -> Any:
    """The window, and which gradients are wanted, as the handlers read them."""
    flags = (len(window.stride), window.transposed, window.groups, window.last, of_x, of_weight)
    sizes = (*window.stride, *window.padding, *window.dilation, *window.output_padding)
    return np.asarray((*map(int, flags), *sizes), np.int64)


CALLS: dict[str, Callable[..., Any]] = {
    "aten.convolution.default": _convolution,
    "aten.convolution_backward.default": _convolution_backward,
}
"""By op: called with XLA's own function, whether images have their channels last, and the op's arguments."""
