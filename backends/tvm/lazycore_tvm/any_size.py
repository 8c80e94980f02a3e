"""Which lowerings take sizes that vary. Functions on the host are not listed: they get each launch's own numbers."""

from __future__ import annotations

from lazycore_plugin_api import Argument, Dim, Node

__all__ = ["ANY_SIZE", "SIZE_ARGUMENTS", "varies", "varies_in"]

_ACTIVATION = """
silu mish hardswish hardsigmoid gelu leaky_relu elu softplus log_sigmoid_forward gelu_backward sigmoid_backward
tanh_backward silu_backward mish_backward hardswish_backward hardsigmoid_backward threshold_backward hardtanh_backward
leaky_relu_backward elu_backward softplus_backward log_sigmoid_backward
"""
_BINARY = """
add.Tensor add.Scalar sub.Tensor sub.Scalar rsub.Tensor rsub.Scalar mul.Tensor mul.Scalar div.Tensor div.Scalar
floor_divide fmod.Tensor fmod.Scalar remainder.Tensor remainder.Scalar maximum minimum fmax fmin atan2 hypot
copysign.Tensor xlogy.Tensor pow.Tensor_Tensor pow.Tensor_Scalar pow.Scalar div.Tensor_mode div.Scalar_mode
remainder.Scalar_Tensor bitwise_left_shift.Tensor bitwise_right_shift.Tensor
eq.Tensor eq.Scalar ne.Tensor ne.Scalar lt.Tensor lt.Scalar le.Tensor le.Scalar gt.Tensor gt.Scalar ge.Tensor ge.Scalar
logical_and logical_or logical_xor bitwise_and.Tensor bitwise_and.Scalar bitwise_or.Tensor bitwise_or.Scalar
bitwise_xor.Tensor bitwise_xor.Scalar
"""
_UNARY = """
exp exp2 expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc lgamma floor
ceil round trunc reciprocal rsqrt sqrt sigmoid frac abs neg relu sign sgn bitwise_not signbit isnan isinf logical_not
round.decimals _to_copy
"""
_CHOICE = """
where.self masked_fill.Scalar masked_fill.Tensor clamp clamp.Tensor hardtanh clamp_min clamp_min.Tensor clamp_max
clamp_max.Tensor addcmul addcdiv lerp.Scalar lerp.Tensor threshold
"""
_REDUCTION = """
sum sum.dim_IntList prod prod.dim_int mean mean.dim amax max amin min argmax argmin max.dim min.dim any any.dim any.dims
all all.dim all.dims count_nonzero.dim_IntList var_mean.correction var.correction std.correction logsumexp
linalg_vector_norm norm.Scalar norm.ScalarOpt_dim
_softmax _log_softmax _softmax_backward_data _log_softmax_backward_data native_layer_norm native_layer_norm_backward
_native_batch_norm_legit_functional _native_batch_norm_legit.no_stats native_batch_norm_backward
mse_loss mse_loss_backward smooth_l1_loss smooth_l1_loss_backward huber_loss huber_loss_backward binary_cross_entropy
binary_cross_entropy_backward binary_cross_entropy_with_logits nll_loss_forward nll_loss_backward nll_loss2d_forward
nll_loss2d_backward
"""
_MOVEMENT = """
clone alias lift_fresh_copy squeeze squeeze.dim squeeze.dims unsqueeze permute select.int flip roll diagonal cat stack
tril triu
embedding gather index_select take index.Tensor select_scatter
"""
_SIZED = """
view expand repeat slice.Tensor slice_scatter slice_backward select_backward constant_pad_nd full scalar_tensor
arange.start_step eye.m
add.Scalar sub.Scalar rsub.Scalar mul.Scalar div.Scalar native_layer_norm native_layer_norm_backward
"""


def _ops(*names: str) -> frozenset[str]:
    words = " ".join(names).split()
    return frozenset(f"aten.{word}" if "." in word else f"aten.{word}.default" for word in words)


SIZE_ARGUMENTS = _ops(_SIZED) | {
    "lazycore.dynamic_slice.default", "lazycore.dynamic_update_slice.default", "lazycore.philox.default",
}  # fmt: skip
"""Of these, arguments may vary with the sizes."""
ANY_SIZE = SIZE_ARGUMENTS | _ops(_ACTIVATION, _BINARY, _UNARY, _CHOICE, _REDUCTION, _MOVEMENT)


def varies(node: Node) -> bool:
    """Whether a size of the node's is symbolic."""
    values = (*node.inputs(), *node.outputs)
    return any(isinstance(size, Dim) for value in values for size in value.spec.shape)


def varies_in(argument: Argument) -> bool:
    """Whether a number in an argument is symbolic."""
    return isinstance(argument, Dim) or (isinstance(argument, tuple) and any(map(varies_in, argument)))
