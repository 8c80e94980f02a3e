"""Gradients: the ops whose names end in ``backward``, and the like."""

from __future__ import annotations

from collections.abc import Iterator

from lazycore_plugin_api import DType

from lazycore.conformance.graph.draw import B, G, I, P, R, T, X
from lazycore.conformance.graph.row import FULL, Row, row, rows

__all__ = ["GRADIENTS"]

_I64 = DType.int64


def _activations() -> Iterator[Row]:
    both = (X(3, 4), X(3, 4))
    names = "silu_backward mish_backward hardswish_backward hardsigmoid_backward gelu_backward"
    yield from rows(f"sigmoid_backward tanh_backward {names}", *both)
    yield row("gelu_backward", *both, approximate="tanh")
    yield row("threshold_backward", *both, 0.5)
    yield row("threshold_backward", *both, 0)
    yield row("hardtanh_backward", *both, -1.0, 1.0)
    yield row("elu_backward", X(3, 4), 1.0, 1.0, 1.0, False, X(3, 4))
    yield row("softplus_backward", *both, 1.0, 20.0)
    yield row("leaky_relu_backward", *both, 0.1, False)
    # The buffer belongs to the operand: exp(-abs(0)).
    yield row("log_sigmoid_backward", X(3, 4), X(3, 4, low=0, high=0), P(3, 4, low=1, high=1), dtypes=FULL)
    yield from rows("hardshrink_backward softshrink_backward", *both, 0.5)
    yield row("rrelu_with_noise_backward", *both, P(3, 4), 0.1, 0.3, True, False, dtypes=FULL)
    yield row("native_dropout_backward", X(3, 4), B(3, 4), 2.0)
    share = X(3, 5, low=0.05, high=0.4)
    yield from rows("_softmax_backward_data _log_softmax_backward_data", X(3, 5), share, 1, T)


def _shapes() -> Iterator[Row]:
    yield row("select_backward", X(4), [3, 4], 0, 1)
    yield row("slice_backward", X(2, 3), [5, 3], 0, 1, 5, 2)
    yield row("diagonal_backward", X(3), [3, 4], 1, 0, 1)
    yield row("unfold_backward", X(3, 3, 3), [5, 3], 0, 3, 1)
    yield row("select_backward", X(), [3], 0, 1)
    for name in ("reflection", "replication"):
        yield row(f"{name}_pad1d_backward", X(2, 8), X(2, 5), [1, 2])
        yield row(f"{name}_pad2d_backward", X(2, 7, 8), X(2, 4, 5), [1, 2, 2, 1])
        yield row(f"{name}_pad3d_backward", X(2, 5, 7, 8), X(2, 3, 4, 5), [1, 2, 2, 1, 1, 1])
    yield row("embedding_dense_backward", X(2, 4, 3), I(2, 4, below=5), 5, 1, False)


def _networks() -> Iterator[Row]:
    one, none = [1, 1], [0, 0]
    yield row(
        "convolution_backward", X(2, 4, 4, 6), X(2, 3, 6, 7), X(4, 3, 3, 2), [4], one, none, one, False, none, 1,
        [True, True, True], dtypes=FULL,
    )  # fmt: skip
    yield row(
        "convolution_backward", X(2, 4, 3, 7), X(2, 4, 6, 7), X(4, 2, 3, 3), [4], [2, 1], one, one, False, none, 2,
        [True, True, True], dtypes=FULL,
    )  # fmt: skip
    yield row("avg_pool2d_backward", X(2, 3, 3, 3), X(2, 3, 6, 7), [2, 2], [2, 2], none, False, True, None)
    yield row("avg_pool3d_backward", X(1, 2, 2, 2, 3), X(1, 2, 4, 5, 6), [2] * 3, [2] * 3, [0] * 3, False, True, None)
    yield row("_adaptive_avg_pool2d_backward", X(2, 3, 3, 2), X(2, 3, 6, 7))
    yield row("_adaptive_avg_pool3d_backward", X(1, 2, 3, 2, 2), X(1, 2, 4, 5, 6))
    spots = G(0, 3, 9, 16, shape=(1, 1, 2, 2), dtype=_I64)
    square = (X(1, 1, 2, 2), X(1, 1, 5, 5))
    yield row("max_pool2d_with_indices_backward", *square, [2, 2], [2, 2], none, one, False, spots)
    none_there = (X(0, 1, 2, 2), X(0, 1, 5, 5)), I(0, 1, 2, 2, below=1)
    yield row(
        "max_pool2d_with_indices_backward", *none_there[0], [2, 2], [2, 2], none, one, False, none_there[1], odd=True
    )
    yield row("adaptive_max_pool2d_backward", *square, spots)
    yield row("fractional_max_pool2d_backward", *square, [2, 2], [2, 2], spots)


def _volumes() -> Iterator[Row]:
    spots = G(0, 7, 20, 26, 9, 12, 30, 40, shape=(1, 1, 2, 2, 2), dtype=_I64)
    cube = (X(1, 1, 2, 2, 2), X(1, 1, 4, 4, 4))
    two, zero, one = [2] * 3, [0] * 3, [1] * 3
    yield row("max_pool3d_with_indices_backward", *cube, two, two, zero, one, False, spots)
    yield row("adaptive_max_pool3d_backward", *cube, spots)
    yield row("fractional_max_pool3d_backward", *cube, two, two, spots, dtypes=FULL)
    volume = X(1, 2, 3, 2, 3, low=-1.3, high=1.3)
    images = (X(1, 2, 2, 3, 2), X(1, 2, 4, 5, 3))
    yield row("grid_sampler_3d_backward", *images, volume, 0, 0, False, [True, True], dtypes=FULL)


def _resizing() -> Iterator[Row]:
    for name in ("upsample_nearest", "_upsample_nearest_exact"):
        yield row(f"{name}1d_backward", X(2, 3, 8), [8], [2, 3, 5], dtypes=FULL)
        yield row(f"{name}2d_backward", X(2, 3, 7, 3), [7, 3], [2, 3, 4, 5], dtypes=FULL)
        yield row(f"{name}3d_backward", X(1, 2, 4, 5, 7), [4, 5, 7], [1, 2, 3, 4, 5], dtypes=FULL)
    yield row("upsample_linear1d_backward", X(2, 3, 8), [8], [2, 3, 5], False, dtypes=FULL)
    names = ("upsample_bilinear2d", "upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa")
    for name in names:
        yield row(f"{name}_backward", X(2, 3, 7, 3), [7, 3], [2, 3, 4, 5], False, dtypes=FULL)
    yield row("upsample_trilinear3d_backward", X(1, 2, 4, 5, 7), [4, 5, 7], [1, 2, 3, 4, 5], False, dtypes=FULL)
    grid = X(2, 3, 4, 2, low=-1.3, high=1.3)
    yield row("grid_sampler_2d_backward", X(2, 3, 3, 4), X(2, 3, 5, 6), grid, 0, 0, False, [True, True], dtypes=FULL)


def _normalizing() -> Iterator[Row]:
    masks = [True, True, True]
    x = X(4, 3, 5)
    yield row("native_batch_norm_backward", x, x, R(3), None, None, R(3), R(3), True, 1e-5, masks, dtypes=FULL)
    yield row("native_layer_norm_backward", X(4, 5), X(4, 5), [5], R(4, 1), R(4, 1), P(5), X(5), masks, dtypes=FULL)
    yield row(
        "native_group_norm_backward", X(2, 6, 5), X(2, 6, 5), R(2, 3), R(2, 3), P(6), 2, 6, 5, 3, masks, dtypes=FULL
    )


def _losses() -> Iterator[Row]:
    for reduction in (1, 2):
        yield row("nll_loss_backward", X(), X(5, 4), I(5, below=4), None, reduction, -100, G(5, shape=()), dtypes=FULL)
        yield row("mse_loss_backward", X(), X(3, 4), X(3, 4), reduction)
        yield from rows("smooth_l1_loss_backward huber_loss_backward", X(), X(3, 4), X(3, 4), reduction, 0.7)
        share = X(3, 4, low=0.1, high=0.9)
        yield row("binary_cross_entropy_backward", X(), share, X(3, 4, low=0, high=1), None, reduction)
    yield row("multi_margin_loss_backward", X(), X(5, 4), I(5, below=4), 1, 1.0, None, 1, dtypes=FULL)
    chosen = G(2, -1, 0, 0, 1, -1, shape=(2, 3), dtype=_I64)
    marked = G(1, 0, 1, 1, 1, 0, shape=(2, 3))
    yield row("multilabel_margin_loss_backward", X(), X(2, 3), chosen, 1, marked, dtypes=FULL)
    yield row("mse_loss_backward", X(3, 4), X(3, 4), X(3, 4), 0)
    alphas = X(2, 6, 7, low=-9, high=-1)
    paths = (X(6, 2, 4, low=-3, high=-0.5), I(2, 3, below=3), [6, 5], [3, 2], P(2), alphas, 3)
    yield row("_ctc_loss_backward", X(2), *paths, dtypes=FULL)
    image = (X(2, 4, 2, 3), I(2, 2, 3, below=4), None, 1, -100, G(12, shape=()))
    yield row("nll_loss2d_backward", X(), *image, dtypes=FULL)


GRADIENTS = [*_activations(), *_shapes(), *_networks(), *_volumes(), *_resizing(), *_normalizing(), *_losses()]
