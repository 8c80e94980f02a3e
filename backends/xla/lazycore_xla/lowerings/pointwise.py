"""The elementwise ops that stand between convolutions; their functions do not care where an image's channels are."""

from __future__ import annotations

from lazycore_xla.registry import CHANNELS_LAST, ChannelsLast

__all__: list[str] = []

_OPS = (
    "_to_copy.default", "abs.default", "add.Scalar", "add.Tensor", "clamp.default", "div.Scalar", "div.Tensor",
    "elu.default", "elu_backward.default", "exp.default", "gelu.default", "gelu_backward.default",
    "hardsigmoid.default", "hardsigmoid_backward.default", "hardswish.default", "hardswish_backward.default",
    "hardtanh.default",
    "hardtanh_backward.default", "leaky_relu.default", "leaky_relu_backward.default", "maximum.default",
    "minimum.default", "mish.default", "mish_backward.default", "mul.Scalar", "mul.Tensor", "neg.default",
    "relu.default", "sigmoid.default", "sigmoid_backward.default", "silu.default", "silu_backward.default",
    "softplus.default", "softplus_backward.default", "sub.Scalar", "sub.Tensor", "tanh.default",
    "tanh_backward.default", "threshold_backward.default",
)  # fmt: skip

CHANNELS_LAST.update({f"aten.{op}": ChannelsLast() for op in _OPS})
