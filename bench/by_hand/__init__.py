"""The networks of ``bench.programs`` as functions of jax arrays, as somebody who knows jax would write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.by_hand import gpt, lstm, mlp, resnet

__all__ = ["LOGITS"]

LOGITS: dict[str, Callable[..., Any]] = {
    "gpt": gpt.logits, "lstm": lstm.logits, "mlp": mlp.logits, "resnet": resnet.logits,
}  # fmt: skip
