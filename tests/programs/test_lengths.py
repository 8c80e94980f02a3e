"""A text classifier over sentences of twenty lengths: one program for all of them, and the CPU's values."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
import torch
from torch import nn

import lazycore
from lazycore.frontend.local import fresh_trace, tree

WORDS, WIDTH, HEADS, CLASSES = 50, 32, 4, 3


class Block(nn.Module):
    """Masked self-attention and a feed-forward layer."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.joint, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.forth = nn.Sequential(nn.Linear(WIDTH, 64), nn.GELU(), nn.Linear(64, WIDTH))

    def forward(self, x: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
        rows, length, _ = x.shape
        q, k, v = self.joint(self.before(x)).view(rows, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        mask = torch.where(known[:, None, None, :] > 0, 0.0, -1e9)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.out(mixed.transpose(1, 2).reshape(rows, length, WIDTH))
        return x + self.forth(self.between(x))


class Classifier(nn.Module):
    """Words and positions, two blocks, the mean of the known words, a class."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(64, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, words: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
        x = self.words(words) + self.places(torch.arange(words.shape[1], device=words.device))
        for block in self.blocks:
            x = block(x, known)
        return self.head((x * known[:, :, None]).sum(1) / known.sum(1, keepdim=True))


@pytest.fixture(params=("reference", "tvm"))
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """The selected backend; nothing is known of any program, and a recompilation that somebody is warned of fails."""
    with lazycore.use_backend(request.param), warnings.catch_warnings():
        warnings.simplefilter("error")
        lazycore.sync()
        tree.clear()
        fresh_trace()
        lazycore.reset_metrics()
        yield request.param
        lazycore.sync()


def sentences(rows: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    known = (torch.rand(rows, length) > 0.3).float()
    known[:, 0] = 1
    return torch.randint(WORDS, (rows, length)), known


def check(batches: list[tuple[int, int]]) -> None:
    model = Classifier().eval()
    device = Classifier().eval()
    device.load_state_dict(model.state_dict())
    device.to("lazycore")
    with torch.no_grad():
        for rows, length in batches:
            words, known = sentences(rows, length)
            result = device(words.to("lazycore"), known.to("lazycore")).cpu()
            torch.testing.assert_close(result, model(words, known), rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("backend")
def test_twenty_lengths_are_two_compilations() -> None:
    check([(4, length) for length in range(5, 25)])
    counts = lazycore.metrics()
    assert counts["compiles"] == 2
    assert counts["shared"] == 18
    assert not counts["fallbacks"]


@pytest.mark.usefixtures("backend")
def test_batches_vary_too() -> None:
    check([(2, 9), (3, 14), (7, 5), (2, 20), (5, 5), (3, 33), (8, 32)])
    assert lazycore.metrics()["compiles"] == 2
