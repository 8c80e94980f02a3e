"""Activations, their gradients, softmax."""

from __future__ import annotations

from lazycore_plugin_api.opset.result_dtypes import given, inexact, same, softmaxed
from lazycore_plugin_api.opset.row import Promotion
from lazycore_plugin_api.opset.shapes.elementwise import broadcast, same_as
from lazycore_plugin_api.opset.table.make import promoted, row

__all__ = ["ACTIVATION"]

_COMMON = Promotion.common
_SAME = same_as("self")
_GRAD = broadcast("grad_output", "self")

ACTIVATION = [
    row("relu(Tensor self) -> Tensor", same(), _SAME, "NaN stays"),
    row("silu(Tensor self) -> Tensor", same(), _SAME),
    row("mish(Tensor self) -> Tensor", same(), _SAME),
    row('gelu(Tensor self, *, str approximate="none") -> Tensor', same(), _SAME, "approximate is 'none' or 'tanh'"),
    row("hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", same(), _SAME, "NaN stays"),
    row("hardswish(Tensor self) -> Tensor", same(), _SAME),
    row("hardsigmoid(Tensor self) -> Tensor", same(), _SAME),
    row("leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", same(), _SAME),
    row(
        "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
        same(),
        _SAME,
        "scale * (x > 0 ? x : alpha * expm1(input_scale * x))",
    ),
    row(
        "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
        same(),
        _SAME,
        "the operand itself where beta times it exceeds the threshold",
    ),
    row(
        "log_sigmoid_forward(Tensor self) -> (Tensor, Tensor)",
        same(),
        same_as("self", "self"),
        "the buffer is for the gradient alone",
    ),
    promoted("threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", _COMMON, "NaN stays"),
    promoted(
        "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
        _COMMON,
        "0 where self is not above the threshold; passes where it is NaN",
    ),
    promoted("sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor", _COMMON),
    promoted("tanh_backward(Tensor grad_output, Tensor output) -> Tensor", _COMMON),
    promoted('gelu_backward(Tensor grad_output, Tensor self, *, str approximate="none") -> Tensor', _COMMON),
    promoted("silu_backward(Tensor grad_output, Tensor self) -> Tensor", _COMMON),
    promoted("mish_backward(Tensor grad_output, Tensor self) -> Tensor", _COMMON),
    promoted(
        "hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
        _COMMON,
        "0 at the bounds",
    ),
    promoted("hardswish_backward(Tensor grad_output, Tensor self) -> Tensor", _COMMON),
    promoted("hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor", _COMMON, "0 at the bounds"),
    promoted(
        "elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, "
        "Tensor self_or_result) -> Tensor",
        _COMMON,
    ),
    promoted("softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor", _COMMON),
    promoted(
        "leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) -> Tensor",
        _COMMON,
    ),
    promoted(
        "log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor",
        _COMMON,
        "buffer may be empty",
        shape=_GRAD,
    ),
    row(
        "hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor",
        same(),
        broadcast("grad_out", "self"),
        "0 within the bounds, these included",
    ),
    row(
        "softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
        same(),
        _GRAD,
        "0 within the bounds, these included",
    ),
    row(
        "rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, "
        "bool training, bool self_is_result) -> Tensor",
        same("grad_output"),
        _GRAD,
    ),
    row(
        "native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
        inexact("grad_output"),
        broadcast("grad_output", "mask"),
    ),
    row(
        "_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
        softmaxed(),
        _SAME,
        "half_to_float computes float32 of float16",
    ),
    row(
        "_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
        softmaxed(),
        _SAME,
        "half_to_float computes float32 of float16",
    ),
    row(
        "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
        given("input_dtype"),
        same_as("grad_output"),
    ),
    row(
        "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
        given("input_dtype"),
        same_as("grad_output"),
    ),
]
