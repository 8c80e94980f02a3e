"""How a row of the transformers tables becomes a model: class names, a configuration, and a kind of inputs."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch
from torch import nn

from modelkit.case import Built, Case
from modelkit.torchvision_schemas import make_importable

__all__ = ["BATCH", "LENGTH", "Inputs", "causal", "labelled_images", "masked", "row", "tokens"]

Inputs = Callable[[], dict[str, Any]]

_VOCABULARY = 99
BATCH, LENGTH = 2, 16


def row(model: str, config: str, inputs: Inputs, **options: Any) -> Case:
    """``transformers.<model>`` with ``transformers.<config>(**options)``."""

    def make() -> Built:
        module: nn.Module = _named(model)(_named(config)(**options))
        return module, inputs()

    return Case("transformers", make)


def _named(name: str) -> Any:
    make_importable()
    return getattr(import_module("transformers"), name)


def tokens() -> torch.Tensor:
    """Words, none of them special: (BATCH, LENGTH), int64."""
    return torch.randint(3, _VOCABULARY, (BATCH, LENGTH))


def causal() -> dict[str, Any]:
    """Tokens that are their own labels."""
    words = tokens()
    return {"input_ids": words, "labels": words}


def masked() -> dict[str, Any]:
    """The same, and the first sequence ends early."""
    mask = torch.ones(BATCH, LENGTH, dtype=torch.int64)
    mask[0, LENGTH // 2 :] = 0
    return {**causal(), "attention_mask": mask}


def labelled_images(side: int = 32, labels: int = 5) -> Inputs:
    """Colour images with a class each."""
    return lambda: {"pixel_values": torch.randn(BATCH, 3, side, side), "labels": torch.randint(0, labels, (BATCH,))}
