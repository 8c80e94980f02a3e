"""English text that comes with Python itself, as character ids."""

from __future__ import annotations

from pydoc_data.topics import topics

import torch


class Corpus:
    """The language reference's help pages (some 460,000 characters), one id per character."""

    def __init__(self) -> None:
        text = "\n".join(topics.values())
        self.characters = sorted(set(text))
        ids = {character: i for i, character in enumerate(self.characters)}
        self.ids = torch.tensor([ids[character] for character in text])
        self.text = text

    def decode(self, ids: list[int]) -> str:
        """The text of some ids."""
        return "".join(self.characters[i] for i in ids)

    def excerpt(self, beginning: str, length: int) -> list[int]:
        """Ids of the first piece of text that begins so. Raises ValueError where none does."""
        start = self.text.index(beginning)
        return self.ids[start : start + length].tolist()

    def batch(self, size: int, length: int, generator: torch.Generator) -> torch.Tensor:
        """Random excerpts, int64 of shape (size, length), on CPU."""
        starts = torch.randint(len(self.ids) - length, (size, 1), generator=generator)
        return self.ids[starts + torch.arange(length)]
