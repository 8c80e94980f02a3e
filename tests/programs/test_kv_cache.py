"""Decoding with a cache that is written one position at a time: a moving position must not compile anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

LENGTH, WIDTH = 12, 8


def fill_rows(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    buffer = torch.zeros(LENGTH, WIDTH, device=device)
    x = torch.randn(WIDTH).to(device)
    for i in range(LENGTH):
        x = torch.tanh(x + 0.5)
        buffer[i] = x
        log(buffer.sum())
    return {"buffer": buffer}


@torch.no_grad()
def decode(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    query, key, value = (torch.randn(WIDTH, WIDTH).to(device) for _ in range(3))
    keys, values = (torch.zeros(2, LENGTH, WIDTH, device=device) for _ in range(2))
    positions = torch.arange(LENGTH, device=device)
    x = torch.randn(2, WIDTH).to(device)
    for i in range(LENGTH):
        keys[:, i] = x @ key
        values[:, i] = x @ value
        scores = ((x @ query)[:, None] @ keys.transpose(1, 2)) / WIDTH**0.5
        scores = scores.masked_fill(positions > torch.tensor(i).to(device), float("-inf"))
        x = x + (scores.softmax(-1) @ values)[:, 0]
        log(x.square().mean())
    return {"keys": keys, "values": values, "x": x}


def test_fill_rows(compare) -> None:
    compare(fill_rows)


def test_decode(compare) -> None:
    compare(decode)
