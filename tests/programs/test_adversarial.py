"""Two networks against each other: two optimizers, detached halves, gradients of gradients."""

from __future__ import annotations

import torch
from programkit.outcome import Log, Results
from torch import nn

BATCH, NOISE = 6, 5


def generator() -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(NOISE, 32), nn.Unflatten(1, (8, 2, 2)), nn.BatchNorm2d(8), nn.ReLU(True),
        nn.ConvTranspose2d(8, 4, 4, 2, 1), nn.BatchNorm2d(4), nn.ReLU(True),
        nn.ConvTranspose2d(4, 1, 4, 2, 1), nn.Tanh(),
    )  # fmt: skip


def critic(norm: bool) -> nn.Sequential:
    middle = nn.BatchNorm2d(8) if norm else nn.GroupNorm(2, 8)
    return nn.Sequential(
        nn.Conv2d(1, 4, 4, 2, 1), nn.LeakyReLU(0.2, True), nn.Conv2d(4, 8, 4, 2, 1), middle, nn.LeakyReLU(0.2),
        nn.Flatten(), nn.Linear(32, 1),
    )  # fmt: skip


def gan(device: str, log: Log) -> Results:
    make, judge = generator().to(device), critic(True).to(device)
    making = torch.optim.Adam(make.parameters(), lr=1e-3, betas=(0.5, 0.999))
    judging = torch.optim.Adam(judge.parameters(), lr=1e-3, betas=(0.5, 0.999))
    loss_of = nn.BCEWithLogitsLoss()
    real, fake = torch.ones(BATCH, 1, device=device), torch.zeros(BATCH, 1, device=device)
    for _ in range(6):
        images = make(torch.randn(BATCH, NOISE).to(device))
        judging.zero_grad()
        judged = loss_of(judge(torch.randn(BATCH, 1, 8, 8).to(device)), real) + loss_of(judge(images.detach()), fake)
        judged.backward()
        judging.step()
        making.zero_grad()
        made = loss_of(judge(images), real)
        made.backward()
        making.step()
        log(judged + made)
    return {f"{name}.{k}": v for name, m in (("make", make), ("judge", judge)) for k, v in m.state_dict().items()}


def wasserstein(device: str, log: Log) -> Results:
    """The critic's gradient towards its input is pushed to norm 1, three critic steps for one of the generator."""
    make, judge = generator().to(device), critic(False).to(device)
    making, judging = torch.optim.RMSprop(make.parameters(), lr=1e-4), torch.optim.RMSprop(judge.parameters(), lr=1e-4)
    for _ in range(5):
        for _ in range(3):
            real = torch.randn(BATCH, 1, 8, 8).to(device)
            with torch.no_grad():
                fake = make(torch.randn(BATCH, NOISE).to(device))
            share = torch.rand(BATCH, 1, 1, 1).to(device)
            between = (share * real + (1 - share) * fake).requires_grad_()
            (slope,) = torch.autograd.grad(judge(between).sum(), between, create_graph=True)
            penalty = (slope.flatten(1).norm(2, 1) - 1).square().mean()
            loss = judge(fake).mean() - judge(real).mean() + 10 * penalty
            judging.zero_grad()
            loss.backward()
            judging.step()
        making.zero_grad()
        (-judge(make(torch.randn(BATCH, NOISE).to(device))).mean()).backward()
        making.step()
        log(loss)
    return {f"{name}.{k}": v for name, m in (("make", make), ("judge", judge)) for k, v in m.state_dict().items()}


def test_gan(compare) -> None:
    compare(gan, atol=1.2e-2)


def test_gradient_penalty(compare) -> None:
    compare(wasserstein, atol=5e-3)
