"""Transformers besides the decoder-only one: encoder-decoder, vision, torch's own modules."""

from __future__ import annotations

import torch
from networks.t5 import T5
from networks.vit import ViT
from programkit.outcome import Log, Results
from programkit.training import classes, steps
from torch import nn

RATE, STEPS = 1e-3, 6


def encoder_decoder(device: str, log: Log) -> Results:
    model = T5().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)

    def loss_of(_: int) -> torch.Tensor:
        source, target = torch.randint(1, 19, (3, 7)), torch.randint(1, 19, (3, 6))
        source[1, 5:] = 0
        labels = target[:, 1:].clone()
        labels[2, 3:] = -100
        logits = model(source.to(device), target[:, :-1].to(device))
        return nn.functional.cross_entropy(logits.transpose(1, 2), labels.to(device), label_smoothing=0.1)

    steps(loss_of, optimizer, log, STEPS, clip=1.0)
    return model.state_dict()


def vision(device: str, log: Log) -> Results:
    model = ViT().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)

    def loss_of(_: int) -> torch.Tensor:
        return nn.functional.cross_entropy(model(torch.randn(4, 3, 8, 8).to(device)), classes(device, 4, 5))

    steps(loss_of, optimizer, log, STEPS)
    model.eval()
    with torch.no_grad():
        logits = model(torch.randn(4, 3, 8, 8).to(device))
    return {**model.state_dict(), "logits": logits}


def torch_modules(device: str, log: Log) -> Results:
    """``nn.Transformer`` with padding and causal masks, and an ``nn.MultiheadAttention`` whose weights are used."""
    model = nn.Transformer(8, 2, 1, 1, 16, 0.0, batch_first=True).to(device)
    pointer = nn.MultiheadAttention(8, 2, batch_first=True).to(device)
    optimizer = torch.optim.Adam([*model.parameters(), *pointer.parameters()], lr=RATE)
    mask = nn.Transformer.generate_square_subsequent_mask(4, device=torch.device(device))

    def loss_of(_: int) -> torch.Tensor:
        source, target = torch.randn(2, 5, 8).to(device), torch.randn(2, 4, 8).to(device)
        padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2]).to(device)
        out = model(source, target, tgt_mask=mask, src_key_padding_mask=padding, memory_key_padding_mask=padding)
        mixed, weights = pointer(out, source, source, key_padding_mask=padding)
        return mixed.square().mean() - (weights + 1e-3).log().mean()

    steps(loss_of, optimizer, log, STEPS)
    return {**model.state_dict(), **pointer.state_dict()}


def test_encoder_decoder(compare) -> None:
    compare(encoder_decoder, atol=2 * RATE * STEPS)


def test_vision(compare) -> None:
    compare(vision, atol=2 * RATE * STEPS)


def test_torch_modules(compare) -> None:
    compare(torch_modules, atol=2 * RATE * STEPS)
