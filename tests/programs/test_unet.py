"""U-Nets: transposed convolutions, interpolations of all kinds, concatenated skips."""

from __future__ import annotations

import pytest
import torch
from networks.unet import UNet
from programkit.outcome import Log, Results
from programkit.training import steps


@pytest.mark.parametrize("mode", ["transposed", "nearest", "bilinear", pytest.param("bicubic", marks=pytest.mark.slow)])
def test_unet(compare, mode: str) -> None:
    def program(device: str, log: Log) -> Results:
        model = UNet(mode).to(device)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

        def loss_of(_: int) -> torch.Tensor:
            x, y = torch.randn(2, 2, 8, 12).to(device), torch.randint(0, 3, (2, 8, 12)).to(device)
            return torch.nn.functional.cross_entropy(model(x), y)

        steps(loss_of, optimizer, log)
        return model.state_dict()

    compare(program, atol=1.2e-2)
