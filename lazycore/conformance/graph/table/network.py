"""Convolutions, pooling, normalizations, resizing, sampling, losses: forward."""

from __future__ import annotations

from collections.abc import Iterator

from lazycore_plugin_api import DType

from lazycore.conformance.graph.draw import G, I, P, R, X
from lazycore.conformance.graph.row import FULL, Row, row, rows

__all__ = ["NETWORK"]

_I64 = DType.int64


def _convolutions() -> Iterator[Row]:
    one, none = [1, 1], [0, 0]
    yield row("convolution", X(2, 3, 7), X(4, 3, 3), X(4), [1], [1], [1], False, [0], 1)
    yield row("convolution", X(2, 3, 6, 7), X(4, 3, 3, 2), None, one, none, one, False, none, 1)
    yield row("convolution", X(2, 4, 6, 7), X(4, 2, 3, 3), X(4), [2, 1], one, [1, 2], False, none, 2)
    yield row("convolution", X(2, 4, 5, 5), X(4, 1, 3, 3), None, one, one, one, False, none, 4)
    yield row("convolution", X(2, 3, 4, 5), X(3, 2, 3, 3), X(2), [2, 2], one, one, True, one, 1, dtypes=FULL)
    yield row("convolution", X(1, 2, 3, 4, 5), X(2, 2, 2, 2, 2), None, [1] * 3, [0] * 3, [1] * 3, False, [0] * 3, 1)


def _pooling() -> Iterator[Row]:
    yield row("max_pool2d_with_indices", X(2, 3, 6, 7), [2, 2])
    yield row("max_pool2d_with_indices", X(2, 3, 6, 7), [3, 2], [2, 1], [1, 0], [1, 2], True)
    yield row("max_pool3d_with_indices", X(1, 2, 4, 5, 6), [2, 2, 2])
    yield row("avg_pool2d", X(2, 3, 6, 7), [2, 2])
    yield row("avg_pool2d", X(2, 3, 6, 7), [3, 3], [2, 2], [1, 1], True, False)
    yield row("avg_pool2d", X(2, 3, 6, 7), [3, 3], [2, 2], [1, 1], False, True, 5)
    yield row("avg_pool3d", X(1, 2, 4, 5, 6), [2, 2, 2])
    yield row("_adaptive_avg_pool2d", X(2, 3, 6, 7), [3, 2])
    yield row("_adaptive_avg_pool3d", X(1, 2, 4, 5, 6), [3, 2, 2])
    yield row("adaptive_max_pool2d", X(2, 3, 6, 7), [3, 2])
    yield row("adaptive_max_pool3d", X(1, 2, 4, 5, 6), [3, 2, 2])
    yield row("fractional_max_pool2d", X(2, 3, 6, 7), [2, 2], [3, 4], X(2, 3, 2, low=0, high=1), dtypes=FULL)
    yield row("fractional_max_pool3d", X(1, 2, 5, 6, 7), [2] * 3, [3, 3, 4], X(1, 2, 3, low=0, high=1), dtypes=FULL)
    yield row("im2col", X(2, 3, 6, 7), [2, 3], [1, 1], [1, 0], [2, 1])
    yield row("col2im", X(2, 12, 20), [5, 6], [2, 2], [1, 1], [0, 0], [1, 1])


def _resizing() -> Iterator[Row]:
    for name in ("upsample_nearest", "_upsample_nearest_exact"):
        yield row(f"{name}1d", X(2, 3, 5), [8], dtypes=FULL)
        yield row(f"{name}2d", X(2, 3, 4, 5), [7, 3], dtypes=FULL)
        yield row(f"{name}3d", X(1, 2, 3, 4, 5), [4, 5, 7], dtypes=FULL)
    for corners in (False, True):
        yield row("upsample_linear1d", X(2, 3, 5), [8], corners, dtypes=FULL)
        yield from rows(
            "upsample_bilinear2d upsample_bicubic2d _upsample_bilinear2d_aa _upsample_bicubic2d_aa",
            X(2, 3, 4, 5), [7, 3], corners, dtypes=FULL,
        )  # fmt: skip
        yield row("upsample_trilinear3d", X(1, 2, 3, 4, 5), [4, 5, 7], corners, dtypes=FULL)
    for mode in (0, 1):
        for padding in (0, 1, 2):
            grid = X(2, 3, 4, 2, low=-1.3, high=1.3)
            yield row("grid_sampler_2d", X(2, 3, 5, 6), grid, mode, padding, False, dtypes=FULL)
    yield row("grid_sampler_2d", X(2, 3, 5, 6), X(2, 3, 4, 2, low=-1.3, high=1.3), 2, 0, True, dtypes=FULL)
    volume = X(1, 2, 3, 2, 3, low=-1.3, high=1.3)
    yield row("grid_sampler_3d", X(1, 2, 4, 5, 3), volume, 0, 0, False, dtypes=FULL)


def _normalizing() -> Iterator[Row]:
    x, w = X(4, 3, 5), R(3)
    yield row("_native_batch_norm_legit.no_stats", x, w, R(3), True, 0.1, 1e-5, dtypes=FULL)
    for training in (True, False):
        yield row(
            "_native_batch_norm_legit_functional", x, w, R(3), R(3), R(3), training, 0.1, 1e-5,
            vague=() if training else (1, 2), dtypes=FULL,
        )  # fmt: skip
    yield row("_native_batch_norm_legit_no_training", x, w, R(3), R(3), R(3), 0.1, 1e-5, vague=(1, 2), dtypes=FULL)
    yield row("native_layer_norm", X(4, 3, 5), [3, 5], P(3, 5), X(3, 5), 1e-5)
    yield row("native_layer_norm", X(4, 5), [5], None, None, 1e-5)
    yield row("native_group_norm", X(2, 6, 5), P(6), X(6), 2, 6, 5, 3, 1e-5, dtypes=FULL)


def _losses() -> Iterator[Row]:
    for reduction in (0, 1, 2):
        yield row("nll_loss_forward", X(5, 4), I(5, below=4), P(4), reduction, -100, dtypes=FULL)
        yield row("nll_loss_forward", X(5, 4), G(0, 1, 2, 1, 3, dtype=_I64), None, reduction, 1, dtypes=FULL)
        yield row("nll_loss2d_forward", X(2, 4, 2, 3), I(2, 2, 3, below=4), None, reduction, -100, dtypes=FULL)
        yield from rows("mse_loss smooth_l1_loss huber_loss", X(3, 4), X(3, 4), reduction)
        yield row("binary_cross_entropy_with_logits", X(3, 4), X(3, 4, low=0, high=1), None, P(4), reduction)
        share = X(3, 4, low=0.1, high=0.9)
        yield row("binary_cross_entropy", share, X(3, 4, low=0, high=1), None, reduction)
    yield row("_ctc_loss", X(6, 2, 4, low=-3, high=-0.5), I(2, 3, below=3), [6, 5], [3, 2], 3, dtypes=FULL, vague=(1,))


def _no_examples() -> Iterator[Row]:
    """A batch of nothing, as the last of a data set may be."""
    one, none = [1, 1], [0, 0]
    yield row("convolution", X(0, 3, 6, 7), X(4, 3, 3, 2), X(4), one, none, one, False, none, 1, dtypes=FULL, odd=True)
    yield row("max_pool2d_with_indices", X(0, 3, 6, 7), [2, 2], odd=True)
    yield row("avg_pool2d", X(0, 3, 6, 7), [2, 2], odd=True)
    places = X(0, 2, 2, low=0, high=1)
    yield row("fractional_max_pool2d", X(0, 2, 6, 7), [2, 2], [3, 4], places, dtypes=FULL, odd=True)
    yield row("grid_sampler_2d", X(0, 2, 5, 6), X(0, 3, 4, 2), 0, 0, False, dtypes=FULL, odd=True)
    yield row("upsample_bilinear2d", X(0, 3, 4, 5), [7, 3], False, dtypes=FULL, odd=True)
    yield row("native_layer_norm", X(0, 5), [5], P(5), X(5), 1e-5, odd=True)


NETWORK = [*_no_examples(), *_convolutions(), *_pooling(), *_resizing(), *_normalizing(), *_losses()]
