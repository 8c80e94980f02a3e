"""Training and sampling, the same code for every device."""

from __future__ import annotations

import time
from collections.abc import Iterable

import torch
from torch import nn

from char_lm.corpus import Corpus
from char_lm.model import CharacterModel


class Trainer:
    """One model in training on one device; two trainers of one seed see the same weights and batches."""

    def __init__(self, corpus: Corpus, device: str, context: int = 64, batch: int = 20, seed: int = 0) -> None:
        torch.manual_seed(seed)
        self.corpus, self.device, self.batch = corpus, device, batch
        self.model = CharacterModel(len(corpus.characters), context).to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-3, weight_decay=0.01)
        self.generator = torch.Generator().manual_seed(seed)
        self.losses: list[float] = []
        self.seconds: list[float] = []

    def step(self) -> torch.Tensor:
        """One optimizer step on a fresh batch. Returns the loss, which is not observed here."""
        ids = self.corpus.batch(self.batch, self.model.context + 1, self.generator).to(self.device)
        logits = self.model(ids[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss

    def run(self, steps: int) -> None:
        """Train for some steps; note the last one's loss and how long they took together."""
        start = time.perf_counter()
        for _ in range(steps):
            loss = self.step()
        self.losses.append(loss.item())
        self.seconds.append(time.perf_counter() - start)

    def speed(self, steps: int) -> float:
        """Characters per second in the median ``run`` of that many steps."""
        return self.batch * self.model.context * steps / sorted(self.seconds)[len(self.seconds) // 2]


@torch.no_grad()
def sample(model: nn.Module, context: Iterable[int], length: int, device: str, temperature: float = 0.7) -> list[int]:
    """Continue a text of exactly the model's context, character by character; returns the new ids."""
    ids = list(context)
    window = len(ids)
    generator = torch.Generator().manual_seed(0)
    for _ in range(length):
        logits = model(torch.tensor([ids[-window:]]).to(device))[0, -1]
        probabilities = torch.softmax(logits / temperature, -1).cpu()
        ids.append(int(torch.multinomial(probabilities, 1, generator=generator)))
    return ids[window:]
