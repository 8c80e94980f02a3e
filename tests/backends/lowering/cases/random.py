"""Random bits, held against the generator's own text, which its published test vectors hold in turn."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from lazycore_plugin_api.philox import philox_words

from lowering.arrays import to_tensor
from lowering.case import EXACT, Case


def _bits(seed: torch.Tensor | int, offset: torch.Tensor | int, size: Sequence[int], words: int) -> list[torch.Tensor]:
    return [to_tensor(w) for w in philox_words(int(seed), int(offset), size, words)]


def _case(seed: int, offset: int, size: tuple[int, ...], words: int, given: bool = True) -> Case:
    numbers = [torch.tensor(n) if given else n for n in (seed, offset)]
    return Case("lazycore.philox.default", (*numbers, size, words), tolerance=EXACT, reference=_bits)


CASES = [
    *(_case(7, 3, size, words) for size in ((5,), (3, 7), (), (0, 4), (4099,)) for words in (1, 2, 4)),
    *(_case(seed, offset, (9,), 2) for seed in (-1, 1 << 40, -(1 << 63)) for offset in (0, (1 << 32) + 5, -1)),
    _case(7, 3, (6,), 1, given=False),
]
