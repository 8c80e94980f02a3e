"""Convolutions of all kinds: depthwise, grouped, dilated, transposed, in one and three dimensions."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from programkit.outcome import Log, Results
from programkit.training import train
from torch import nn

Shaped = tuple[Callable[[], nn.Module], tuple[int, ...]]


def depthwise() -> nn.Module:
    """Depthwise separable, as MobileNets stack them."""
    return nn.Sequential(
        nn.Conv2d(3, 8, 1), nn.ReLU6(), nn.Conv2d(8, 8, 3, 2, 1, groups=8, bias=False), nn.BatchNorm2d(8),
        nn.Hardswish(), nn.Conv2d(8, 16, 3, padding=1, groups=8), nn.ReLU6(), nn.Conv2d(16, 4, 1),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 5),
    )  # fmt: skip


def dilated() -> nn.Module:
    """Grouped and dilated, with unequal kernels, strides and paddings, and padding that is not zeros."""
    return nn.Sequential(
        nn.Conv2d(4, 8, (3, 5), padding=(2, 2), dilation=(2, 1), groups=2), nn.ELU(),
        nn.Conv2d(8, 6, 3, stride=(1, 2), padding="valid", dilation=2), nn.GELU(),
        nn.Conv2d(6, 6, 3, padding=1, padding_mode="reflect"), nn.Mish(),
        nn.Conv2d(6, 6, 3, padding="same", padding_mode="circular"), nn.AdaptiveMaxPool2d(1),
        nn.Flatten(), nn.Linear(6, 5),
    )  # fmt: skip


def one_dimensional() -> nn.Module:
    """A temporal network: (batch, channels, time)."""
    return nn.Sequential(
        nn.Conv1d(3, 8, 5, padding=4, dilation=2), nn.BatchNorm1d(8), nn.ReLU(), nn.MaxPool1d(2),
        nn.Conv1d(8, 8, 3, groups=4), nn.Tanh(), nn.AvgPool1d(2), nn.ConvTranspose1d(8, 4, 4, stride=2, padding=1),
        nn.Sigmoid(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(4, 5),
    )  # fmt: skip


def three_dimensional() -> nn.Module:
    """Volumes: (batch, channels, depth, height, width)."""
    return nn.Sequential(
        nn.Conv3d(2, 4, 3, padding=1), nn.BatchNorm3d(4), nn.ReLU(), nn.MaxPool3d(2),
        nn.Conv3d(4, 4, (1, 3, 3), padding=(0, 1, 1)), nn.Softplus(), nn.AvgPool3d((1, 2, 2)),
        nn.ConvTranspose3d(4, 2, 2, stride=2), nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(2, 5),
    )  # fmt: skip


def transposed() -> nn.Module:
    """Transposed with groups, dilation and output padding; instance norm and pixel shuffling."""
    return nn.Sequential(
        nn.ConvTranspose2d(4, 8, 3, stride=2, padding=1, output_padding=1, groups=2), nn.InstanceNorm2d(8, affine=True),
        nn.PReLU(8), nn.ConvTranspose2d(8, 8, 3, dilation=2), nn.PixelShuffle(2), nn.LocalResponseNorm(2),
        nn.PixelUnshuffle(2), nn.Dropout2d(0.25), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5),
    )  # fmt: skip


NETWORKS: dict[str, Shaped] = {
    "depthwise": (depthwise, (4, 3, 8, 8)),
    "dilated": (dilated, (4, 4, 9, 11)),
    "one_dimensional": (one_dimensional, (4, 3, 16)),
    "three_dimensional": (three_dimensional, (2, 2, 4, 8, 8)),
    "transposed": (transposed, (3, 4, 4, 5)),
}


@pytest.mark.parametrize("network", NETWORKS)
def test_convolutions(compare, network: str) -> None:
    make, shape = NETWORKS[network]

    def program(device: str, log: Log) -> Results:
        return train(make().to(device), shape, 5, device, log, lr=0.02)

    compare(program, atol=2.4e-4)
