"""Convolutions, pooling, normalizations, resizing, sampling, losses, and their gradients."""

from __future__ import annotations

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.opset.result_dtypes import each, fixed, open_dtype, same, statistic
from lazycore_plugin_api.opset.row import OpRow, Promotion
from lazycore_plugin_api.opset.shapes.convolution import convolved, convolved_backward
from lazycore_plugin_api.opset.shapes.elementwise import as_listed, masked, same_as
from lazycore_plugin_api.opset.shapes.normalization import (
    batch_normalized,
    batch_normalized_backward,
    group_normalized,
    group_normalized_backward,
    layer_normalized,
    layer_normalized_backward,
    nll,
    reduced_loss,
)
from lazycore_plugin_api.opset.shapes.pooling import columns_of, images_of, pooled, resized, sampled
from lazycore_plugin_api.opset.shapes.spectral import ctc
from lazycore_plugin_api.opset.table.make import promoted, row

__all__ = ["NETWORK"]

_SAME = same_as("self")
_GRAD = same("grad_output")
_PAIR = each(same(), fixed(DType.int64))
_MOMENTS = each(same("input"), statistic("input"), statistic("input"))
_PADDED = "padding is never the maximum; indices are positions in the plane; NaN wins"
_AVERAGE = "count_include_pad counts padding, not what ceil_mode adds"
_REDUCTION = "reduction: 0 none, 1 mean, 2 sum"
_VARIANCE = "normalizes by the biased variance; running_var takes the unbiased one"

_ADAPTIVE = "windows from floor(i * in / out) to ceil((i + 1) * in / out)"
_SCALE = "a scale that is given wins over the ratio of the sizes"
_PADDING = "out of the input counts as padding_mode says: 0 zeros, 1 border, 2 reflection"


def _pooling(rank: int) -> list[OpRow]:
    window = f"int[{rank}] kernel_size, int[{rank}] stride"
    defaulted = f"{window}=[], int[{rank}] padding=0"
    average = "bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None"
    sized = f"int[{rank}] output_size"
    fractional = f"int[{rank}] kernel_size, {sized}"
    maximum = f"{defaulted}, int[{rank}] dilation=1, bool ceil_mode=False"
    return [
        row(
            f"max_pool{rank}d_with_indices(Tensor self, {maximum}) -> (Tensor, Tensor)", _PAIR, pooled(rank, 2), _PADDED
        ),
        row(f"avg_pool{rank}d(Tensor self, {defaulted}, {average}) -> Tensor", same(), pooled(rank), _AVERAGE),
        row(f"_adaptive_avg_pool{rank}d(Tensor self, {sized}) -> Tensor", same(), resized(rank), _ADAPTIVE),
        row(f"adaptive_max_pool{rank}d(Tensor self, {sized}) -> (Tensor, Tensor)", _PAIR, resized(rank, 2), _ADAPTIVE),
        row(
            f"fractional_max_pool{rank}d(Tensor self, {fractional}, Tensor random_samples) -> (Tensor, Tensor)",
            _PAIR,
            resized(rank, 2),
            "random_samples place the windows",
        ),
    ]


def _pooling_backward(rank: int) -> list[OpRow]:
    lists = ("kernel_size", "stride", "padding")
    window = ", ".join(f"int[{rank}] {name}" for name in lists)
    arguments = {
        f"max_pool{rank}d_with_indices": f"{window}, int[{rank}] dilation, bool ceil_mode, Tensor indices",
        f"avg_pool{rank}d": f"{window}, bool ceil_mode, bool count_include_pad, int? divisor_override",
        f"adaptive_max_pool{rank}d": "Tensor indices",
        f"fractional_max_pool{rank}d": f"int[{rank}] kernel_size, int[{rank}] output_size, Tensor indices",
    }
    signatures = [f"{n}_backward(Tensor grad_output, Tensor self, {a}) -> Tensor" for n, a in arguments.items()]
    signatures.append(f"_adaptive_avg_pool{rank}d_backward(Tensor grad_output, Tensor self) -> Tensor")
    return [row(signature, _GRAD, _SAME) for signature in signatures]


def _resizing(name: str, rank: int) -> list[OpRow]:
    scales = ["scales"] if rank == 1 else [f"scales_{axis}" for axis in "dhw"[3 - rank :]]
    rest = "".join(f", float? {scale}=None" for scale in scales)
    corners = "" if "nearest" in name else ", bool align_corners"
    sizes = f"int[{rank}] output_size, int[{rank + 2}] input_size"
    return [
        row(f"{name}(Tensor self, int[{rank}] output_size{corners}{rest}) -> Tensor", same(), resized(rank), _SCALE),
        row(f"{name}_backward(Tensor grad_output, {sizes}{corners}{rest}) -> Tensor", _GRAD, as_listed("input_size")),
    ]


def _sampling(rank: int) -> list[OpRow]:
    operands = "Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners"
    gradient = f"grid_sampler_{rank}d_backward(Tensor grad_output, {operands}, bool[2] output_mask) -> (Tensor, Tensor)"
    return [
        row(f"grid_sampler_{rank}d({operands}) -> Tensor", same("input"), sampled(), _PADDING),
        row(gradient, same("input"), masked("input", "grid")),
    ]


_RESIZED = [
    *((f"{kind}{n}d", n) for kind in ("upsample_nearest", "_upsample_nearest_exact") for n in (1, 2, 3)),
    ("upsample_linear1d", 1), ("upsample_bilinear2d", 2), ("upsample_trilinear3d", 3), ("upsample_bicubic2d", 2),
    ("_upsample_bilinear2d_aa", 2), ("_upsample_bicubic2d_aa", 2),
]  # fmt: skip


def _loss(signature: str, shape_of: str, note: str = "") -> OpRow:
    return promoted(signature, Promotion.common, f"{_REDUCTION}{note}", shape=reduced_loss(*shape_of.split()))


NETWORK = [
    row(
        "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, "
        "bool transposed, int[] output_padding, int groups) -> Tensor",
        same("input"),
        convolved(),
        "cross-correlation; transposed weights are (in, out / groups, ...)",
    ),
    row(
        "convolution_backward(Tensor grad_output, Tensor input, Tensor weight, int[]? bias_sizes, int[] stride, "
        "int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups, "
        "bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
        _GRAD,
        convolved_backward(),
    ),
    *(r for rank in (2, 3) for r in (*_pooling(rank), *_pooling_backward(rank))),
    *(r for name, rank in _RESIZED for r in _resizing(name, rank)),
    *(r for rank in (2, 3) for r in _sampling(rank)),
    row(
        "im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
        same(),
        columns_of(),
    ),
    row(
        "col2im(Tensor self, int[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, "
        "int[2] stride) -> Tensor",
        same(),
        images_of(),
        "windows that overlap add up",
    ),
    row(
        "_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, "
        "float momentum, float eps) -> (Tensor, Tensor, Tensor)",
        _MOMENTS,
        batch_normalized(),
        _VARIANCE,
    ),
    row(
        "_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
        "Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
        each(same("input"), statistic("input"), statistic("input"), same("running_mean"), same("running_var")),
        batch_normalized(running=True),
        _VARIANCE,
    ),
    row(
        "_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
        "Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
        _MOMENTS,
        batch_normalized(),
        "mean and deviation are the running ones",
    ),
    row(
        "native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, "
        "Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, "
        "bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
        each(same("input"), open_dtype(), open_dtype()),
        batch_normalized_backward(),
    ),
    row(
        "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, "
        "float eps) -> (Tensor, Tensor, Tensor)",
        _MOMENTS,
        layer_normalized(),
        "biased variance",
    ),
    row(
        "native_layer_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor mean, "
        "Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
        each(same("input"), open_dtype(), open_dtype()),
        layer_normalized_backward(),
    ),
    row(
        "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, "
        "float eps) -> (Tensor, Tensor, Tensor)",
        _MOMENTS,
        group_normalized(),
        "biased variance",
    ),
    row(
        "native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, "
        "int N, int C, int HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
        each(same("input"), open_dtype(), open_dtype()),
        group_normalized_backward(),
    ),
    row(
        "nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, "
        "int ignore_index) -> (Tensor, Tensor)",
        same(),
        nll(),
        f"{_REDUCTION}; targets that are ignore_index count nothing",
    ),
    row(
        "nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, "
        "int ignore_index, Tensor total_weight) -> Tensor",
        same(),
        _SAME,
    ),
    row(
        "nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, "
        "int ignore_index) -> (Tensor, Tensor)",
        same(),
        nll(),
        f"{_REDUCTION}; targets that are ignore_index count nothing",
    ),
    row(
        "nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, "
        "int ignore_index, Tensor total_weight) -> Tensor",
        same(),
        _SAME,
    ),
    _loss("mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", "self target"),
    promoted(
        "mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor", Promotion.common
    ),
    _loss(
        "smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor",
        "self target",
        "; squared below beta",
    ),
    promoted(
        "smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> Tensor",
        Promotion.common,
    ),
    _loss(
        "huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor",
        "self target",
        "; squared up to delta",
    ),
    promoted(
        "huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor",
        Promotion.common,
    ),
    _loss(
        "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, "
        "Tensor? pos_weight=None, int reduction=1) -> Tensor",
        "self target weight pos_weight",
    ),
    row(
        "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
        same(),
        reduced_loss("self"),
        f"{_REDUCTION}; logarithms are no less than -100",
    ),
    row(
        "binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, "
        "int reduction=1) -> Tensor",
        same(),
        _SAME,
    ),
    row(
        "multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar margin, "
        "Tensor? weight=None, int reduction=1) -> Tensor",
        same(),
        _SAME,
    ),
    row(
        "multilabel_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, "
        "Tensor is_target) -> Tensor",
        same(),
        _SAME,
    ),
    row(
        "_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, "
        "bool zero_infinity=False) -> (Tensor, Tensor)",
        same("log_probs"),
        ctc(),
    ),
    row(
        "_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, "
        "int[] target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, "
        "bool zero_infinity=False) -> Tensor",
        same("log_probs"),
        same_as("log_probs"),
    ),
]
