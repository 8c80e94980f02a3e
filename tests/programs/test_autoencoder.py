"""Autoencoders: in-place activations, writes through views inside the network, drawn latents."""

from __future__ import annotations

import torch
from programkit.outcome import Log, Results
from programkit.training import steps
from torch import nn


class Autoencoder(nn.Module):
    """(batch, 16) -> (batch, 16); parts of the hidden layers are masked, scaled and clipped in place, through views."""

    def __init__(self) -> None:
        super().__init__()
        self.enter, self.squeeze = nn.Linear(16, 24), nn.Linear(24, 6)
        self.widen, self.leave = nn.Linear(6, 24), nn.Linear(24, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.enter(x).relu_() * 1.1
        hidden[:, ::4].mul_(0.5)
        hidden.view(-1, 4, 6)[:, 1, 2:4] += 0.1
        code = nn.functional.elu_(self.squeeze(hidden)) + 0.1
        code[:, -1] = code[:, 0].tanh()
        wide = nn.functional.leaky_relu_(self.widen(code), 0.1) * 1.5
        wide.t()[3:5].clamp_(-0.5, 0.5)
        return self.leave(wide).sigmoid_()


def in_place(device: str, log: Log) -> Results:
    model = Autoencoder().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    corrupted = torch.empty(8, 16, device=device)

    def loss_of(step: int) -> torch.Tensor:
        x = torch.rand(8, 16).to(device)
        corrupted.copy_(x)
        corrupted[:, step : step + 3] = 0
        return nn.functional.binary_cross_entropy(model(corrupted), x)

    steps(loss_of, optimizer, log)
    return {**model.state_dict(), "corrupted": corrupted}


def variational(device: str, log: Log) -> Results:
    encoder = nn.Sequential(nn.Linear(16, 24), nn.Softplus(), nn.Linear(24, 8)).to(device)
    decoder = nn.Sequential(nn.Linear(4, 24), nn.SELU(), nn.Linear(24, 16)).to(device)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)

    def loss_of(_: int) -> torch.Tensor:
        x = torch.rand(8, 16).to(device)
        mean, deviation = encoder(x).chunk(2, 1)
        posterior = torch.distributions.Normal(mean, deviation.exp())
        prior = torch.distributions.Normal(torch.zeros_like(mean), torch.ones_like(mean))
        drawn = decoder(mean + deviation.exp() * torch.randn_like(mean))
        rebuilt = nn.functional.binary_cross_entropy_with_logits(drawn, x, reduction="sum") / 8
        return rebuilt + torch.distributions.kl_divergence(posterior, prior).sum(1).mean()

    steps(loss_of, optimizer, log)
    return {**encoder.state_dict(), **{f"decoder.{k}": v for k, v in decoder.state_dict().items()}}


def test_in_place(compare) -> None:
    compare(in_place, atol=6e-4)


def test_variational(compare) -> None:
    compare(variational, atol=1.2e-2)
