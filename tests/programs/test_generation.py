"""Generating text: with a cache that grows, and with one of fixed size whose position moves."""

from __future__ import annotations

import torch
from networks.gpt import GPT, Cache, Shape
from programkit.outcome import Log, Results

SHAPE = Shape(rotary=True, groups=2, length=16)


class StaticCache(Cache):
    """Keys and values in buffers of fixed size, written at ``position``; unwritten places are masked by the caller."""

    def __init__(self, batch: int, device: str) -> None:
        super().__init__()
        size = (batch, SHAPE.groups, SHAPE.length, SHAPE.width // SHAPE.heads)
        self.keys = {i: torch.zeros(size, device=device) for i in range(SHAPE.layers)}
        self.values = {i: torch.zeros(size, device=device) for i in range(SHAPE.layers)}
        self.position = 0

    def extend(self, layer: int, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """All places of a layer's buffers, the new ones written."""
        here = slice(self.position, self.position + key.shape[2])
        self.keys[layer][:, :, here] = key
        self.values[layer][:, :, here] = value
        return self.keys[layer], self.values[layer]


@torch.no_grad()
def growing(device: str, log: Log) -> Results:
    """Each length is a program of its own the first time: the second text compiles nothing."""
    model = GPT(SHAPE).to(device).eval()
    texts = []
    for text in range(6):
        ids = torch.randint(0, 23, (2, 4)).to(device)
        cache, new = Cache(), ids
        for position in range(6):
            start = 0 if position == 0 else ids.shape[1] - 1
            new = model(new, start, cache)[:, -1:].argmax(-1)
            ids = torch.cat([ids, new], 1)
        texts.append(ids)
        log(ids.sum() + text)
    return {"ids": torch.cat(texts)}


@torch.no_grad()
def static(device: str, log: Log) -> Results:
    """One program serves all positions."""
    model = GPT(SHAPE).to(device).eval()
    cache = StaticCache(2, device)
    places = torch.arange(SHAPE.length, device=device)
    new = torch.randint(0, 23, (2, 1)).to(device)
    ids = []
    for position in range(12):
        cache.position = position
        seen = places <= torch.full((), position, device=device)
        logits = model(new, position, cache, seen.view(1, 1, 1, -1))
        new = logits[:, -1:].argmax(-1)
        ids.append(new)
        log(logits.square().mean())
    return {"ids": torch.cat(ids, 1), "keys": cache.keys[1]}


def test_growing_cache(compare) -> None:
    compare(growing, settled=3)


def test_static_cache(compare) -> None:
    compare(static, settled=4)
