"""The residual network of ``bench.programs.resnet``."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from bench.by_hand.params import Params
from bench.programs.resnet import DEPTH, STAGES

__all__ = ["logits"]


def _convolve(x: Any, weight: Any, stride: int = 1) -> Any:
    # NHWC is what XLA's CPU convolution is fast in; the weights stay in PyTorch's layout.
    pad = weight.shape[-1] // 2
    return jax.lax.conv_general_dilated(
        x, weight, (stride, stride), [(pad, pad)] * 2, dimension_numbers=("NHWC", "OIHW", "NHWC")
    )


def _norm(p: Params, name: str, x: Any) -> Any:
    centered = x - x.mean((0, 1, 2))
    scale = jax.lax.rsqrt((centered * centered).mean((0, 1, 2)) + 1e-5)
    return centered * scale * p[f"{name}.weight"] + p[f"{name}.bias"]


def _block(p: Params, name: str, x: Any) -> Any:
    stride = p[f"{name}.first.weight"].shape[0] // x.shape[-1]
    y = jax.nn.relu(_norm(p, f"{name}.norms.0", _convolve(x, p[f"{name}.first.weight"], stride)))
    y = _norm(p, f"{name}.norms.1", _convolve(y, p[f"{name}.second.weight"]))
    return jax.nn.relu(y + (x if stride == 1 else _convolve(x, p[f"{name}.short.weight"], stride)))


def logits(p: Params, x: Any) -> Any:
    x = jnp.transpose(x, (0, 2, 3, 1))
    x = jax.nn.relu(_norm(p, "norm", _convolve(x, p["stem.weight"])))
    for i in range(len(STAGES) * DEPTH):
        x = _block(p, f"blocks.{i}", x)
    return x.mean((1, 2)) @ p["head.weight"].T + p["head.bias"]
