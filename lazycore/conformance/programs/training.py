"""Levels 2 and 4: optimizers, and small models trained for a few steps."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = ["MODELS", "OPTIMIZERS", "losses"]

STEPS = 8

Optimizer = Callable[[list[nn.Parameter]], torch.optim.Optimizer]

OPTIMIZERS: dict[str, Optimizer] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-3),
    "adam": lambda p: torch.optim.Adam(p, lr=1e-2),
    "amsgrad": lambda p: torch.optim.Adam(p, lr=1e-2, amsgrad=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-2),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=1e-3, centered=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=1e-2),
    "adadelta": lambda p: torch.optim.Adadelta(p),
    "adamax": lambda p: torch.optim.Adamax(p, lr=1e-2),
    "nadam": lambda p: torch.optim.NAdam(p, lr=1e-2),
    "radam": lambda p: torch.optim.RAdam(p, lr=1e-2),
}


class Mlp(nn.Module):
    """Rows of 12 numbers into 4 classes."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.LayerNorm(24), nn.Linear(24, 4))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)  # type: ignore[no-any-return]


class Cnn(nn.Module):
    """Images of 3 x 8 x 8 into 4 classes."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3),
            nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)  # type: ignore[no-any-return]


class Lstm(nn.Module):
    """Sequences of 6 x 5 numbers into 4 classes."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.head = nn.LSTM(5, 10, batch_first=True), nn.Linear(10, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.cell(x)[0][:, -1])  # type: ignore[no-any-return]


class Gpt(nn.Module):
    """Sequences of 8 tokens of 16 into the next one's scores, by two causal blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(16, 16), nn.Embedding(8, 16)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(16, 2, 32, 0.0, "gelu", batch_first=True, norm_first=True) for _ in range(2)
        )
        self.head = nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        length = x.shape[1]
        mask = torch.full((length, length), float("-inf"), device=x.device).triu(1)
        hidden = self.tokens(x) + self.places(torch.arange(length, device=x.device))
        for block in self.blocks:
            hidden = block(hidden, src_mask=mask, is_causal=True)
        return self.head(hidden).flatten(0, 1)  # type: ignore[no-any-return]


def _numbers(*shape: int) -> Callable[[], tuple[Tensor, Tensor]]:
    return lambda: (torch.randn(16, *shape), torch.randint(4, (16,)))


def _text() -> tuple[Tensor, Tensor]:
    tokens = torch.randint(16, (6, 9))
    return tokens[:, :-1], tokens[:, 1:].flatten()


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], tuple[Tensor, Tensor]]]] = {
    "mlp": (Mlp, _numbers(12)),
    "cnn": (Cnn, _numbers(3, 8, 8)),
    "lstm": (Lstm, _numbers(6, 5)),
    "gpt": (Gpt, _text),
}


def losses(model: str, optimizer: str, device: str, steps: int = STEPS) -> list[float]:
    """The loss before each step, and after the last one. Model and data are made on the CPU, the same everywhere."""
    torch.manual_seed(0)
    make, data = MODELS[model]
    net, (x, y) = make().to(device), data()
    x, y = x.to(device), y.to(device)
    rule = OPTIMIZERS[optimizer](list(net.parameters()))
    found = []
    for _ in range(steps):
        rule.zero_grad()
        loss = F.cross_entropy(net(x), y)
        found.append(loss.detach())
        loss.backward()  # type: ignore[no-untyped-call]
        rule.step()
    with torch.no_grad():
        found.append(F.cross_entropy(net(x), y))
    return [float(loss) for loss in found]
