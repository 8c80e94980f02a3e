"""Activations and their gradients."""

from __future__ import annotations

import torch

from lowering.case import case, each
from lowering.samples import floats, special, unary_samples

_X = unary_samples()
_PLAIN = "silu mish hardswish hardsigmoid hardtanh leaky_relu elu softplus"
_GELU = [x[~x.isinf()] for x in _X if x.ndim]
"""PyTorch's vectorized gelu(inf) is NaN, its scalar one inf: neither is asked for."""

FORWARD = [c for name in _PLAIN.split() for c in each(f"aten.{name}.default", *((x,) for x in _X))]
FORWARD += [
    *(case("aten.gelu.default", x, approximate=how) for x in (*_GELU, floats()) for how in ("none", "tanh")),
    *each("aten.hardtanh.default", (floats(9), -0.5, 2.0)),
    *each("aten.leaky_relu.default", (special(), 0.3), (floats(9), -0.2)),
    *each("aten.elu.default", (special(), 0.7), (floats(9), 1.5, 1.1, 0.4)),
    *each("aten.softplus.default", (floats(9), 2.0, 1.5), (special(), 0.5)),
    *(case("aten.log_sigmoid_forward.default", x, shape_only=(1,)) for x in _X),
]


def _pairs() -> list[tuple[torch.Tensor, torch.Tensor]]:
    """A gradient and the input or result it belongs to."""
    x = [floats(3, 5), floats(seed=7), floats(0, 3), special(), floats(9, dtype=torch.bfloat16), floats(9).double()]
    return [(floats(*v.shape, dtype=v.dtype, seed=5), v) for v in x]


_TWO = (
    "silu_backward mish_backward hardswish_backward hardsigmoid_backward sigmoid_backward tanh_backward gelu_backward"
)
BACKWARD = [c for name in _TWO.split() for c in each(f"aten.{name}.default", *_pairs())]
BACKWARD += [
    *(case("aten.gelu_backward.default", g, x, approximate="tanh") for g, x in _pairs()),
    *each("aten.threshold_backward.default", *((g, x, 0) for g, x in _pairs()), *((g, x, 0.5) for g, x in _pairs())),
    *each("aten.hardtanh_backward.default", *((g, x, -1.0, 1.0) for g, x in _pairs())),
    *each("aten.hardtanh_backward.default", *((g, x, -0.5, 2.0) for g, x in _pairs())),
    *each("aten.leaky_relu_backward.default", *((g, x, 0.1, False) for g, x in _pairs())),
    *each("aten.leaky_relu_backward.default", *((g, x, 0.1, True) for g, x in _pairs())),
    *each("aten.elu_backward.default", *((g, 0.7, 1.1, 0.9, False, x) for g, x in _pairs())),
    *each("aten.elu_backward.default", *((g, 0.7, 1.1, 0.9, True, x) for g, x in _pairs())),
    *each("aten.softplus_backward.default", *((g, x, 1.0, 20.0) for g, x in _pairs())),
    *each("aten.softplus_backward.default", *((g, x, 2.0, 1.5) for g, x in _pairs())),
    *each("aten.log_sigmoid_backward.default", *((g, x, x.abs().neg().exp()) for g, x in _pairs())),
]

CASES = [*FORWARD, *BACKWARD]
