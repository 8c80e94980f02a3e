"""The operators whose cost is measured, with the sizes that training programs give them. One row per operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import torch
from jax import lax
from torch.nn import functional

__all__ = ["CASES", "Case"]

Function = Callable[..., Any]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Index:
    """An operand of integers below ``limit``."""

    shape: Shape
    limit: int


@dataclass(frozen=True)
class Case:
    """One operator: ``operands`` are shapes of float32 tensors, or indices. ``by_hand``: the same of jax arrays.

    Where an operator has several results, the gradient is of the first.
    """

    name: str
    operator: Function
    by_hand: Function
    operands: tuple[Shape | Index, ...]
    gradient: bool = True

    def tensors(self) -> list[torch.Tensor]:
        """The operands on the CPU, the same each time."""
        generator = torch.Generator().manual_seed(0)
        return [
            torch.randint(o.limit, o.shape, generator=generator)
            if isinstance(o, Index)
            else torch.randn(o, generator=generator)
            for o in self.operands
        ]


def _layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * weight + bias


def _batch_norm(x: Any, weight: Any, bias: Any) -> Any:
    mean, variance = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * weight[:, None, None] + bias[:, None, None]


def _max_pool(x: Any) -> Any:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def _cross_entropy(scores: Any, targets: Any) -> Any:
    return -jnp.take_along_axis(jax.nn.log_softmax(scores), targets[:, None], 1).mean()


def _attention(q: Any, k: Any, v: Any) -> Any:
    return jax.nn.softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5) @ v


def _sort(x: Any) -> Any:
    order = jnp.argsort(x)
    return jnp.take_along_axis(x, order, -1), order


_PLANE, _WIDE, _HEADS = (1024, 1024), (512, 768), (8, 4, 64, 32)
_IMAGE, _CHANNELS = (16, 32, 32, 32), (32,)

_ROWS = (
    Case("add of 4 numbers: what a call costs", torch.add, jnp.add, ((4,), (4,))),
    Case("add", torch.add, jnp.add, (_PLANE, _PLANE)),
    Case("add of a row", torch.add, jnp.add, (_WIDE, (768,))),
    Case("exp", torch.exp, jnp.exp, (_PLANE,)),
    Case("gelu", functional.gelu, partial(jax.nn.gelu, approximate=False), ((512, 3072),)),
    Case("where", lambda x, y: torch.where(x > 0, x, y), lambda x, y: jnp.where(x > 0, x, y), (_PLANE, _PLANE)),
    Case("transposed copy", lambda x: x.t().contiguous(), lambda x: lax.optimization_barrier(x.T), (_PLANE,), False),
    Case("cat", lambda *x: torch.cat(x, 1), lambda *x: jnp.concatenate(x, 1), (_WIDE, _WIDE)),
    Case("sum", torch.sum, jnp.sum, (_PLANE,)),
    Case("sum of columns", lambda x: x.sum(0), lambda x: x.sum(0), (_PLANE,)),
    Case("max of rows", lambda x: x.amax(1), lambda x: x.max(1), (_PLANE,)),
    Case("softmax", partial(torch.softmax, dim=-1), jax.nn.softmax, ((8, 4, 128, 128),)),
    Case("log_softmax", partial(torch.log_softmax, dim=-1), jax.nn.log_softmax, ((512, 1000),)),
    Case("layer_norm", lambda x, w, b: functional.layer_norm(x, (768,), w, b), _layer_norm, (_WIDE, (768,), (768,))),
    Case("batch_norm", lambda x, w, b: functional.batch_norm(x, None, None, w, b, True), _batch_norm,
         (_IMAGE, _CHANNELS, _CHANNELS)),
    Case("mm", torch.mm, jnp.matmul, ((512, 512), (512, 512))),
    Case("linear", functional.linear, lambda x, w, b: x @ w.T + b, ((256, 768), (768, 768), (768,))),
    Case("bmm", torch.bmm, jnp.matmul, ((32, 64, 64), (32, 64, 64))),
    Case("attention", functional.scaled_dot_product_attention, _attention, (_HEADS, _HEADS, _HEADS)),
    Case("conv2d", partial(functional.conv2d, padding=1), partial(
         lax.conv, window_strides=(1, 1), padding="SAME"), (_IMAGE, (32, 32, 3, 3))),
    Case("max_pool2d", partial(functional.max_pool2d, kernel_size=2), _max_pool, (_IMAGE,)),
    Case("embedding", lambda w, i: functional.embedding(i, w), lambda w, i: w[i], ((1000, 128), Index((8, 64), 1000))),
    Case("gather", lambda x, i: x.gather(1, i), lambda x, i: jnp.take_along_axis(x, i, 1),
         ((512, 1000), Index((512, 64), 1000))),
    Case("scatter_add", lambda x, i, y: x.scatter_add(0, i, y),
         lambda x, i, y: x.at[i, jnp.arange(x.shape[1])].add(y), (_WIDE, Index((256, 768), 512), (256, 768))),
    Case("index_select", lambda x, i: x.index_select(0, i), lambda x, i: x[i], (_PLANE, Index((512,), 1024))),
    Case("sort", torch.sort, _sort, ((64, 1024),)),
    Case("topk", partial(torch.topk, k=10), partial(lax.top_k, k=10), ((64, 1024),)),
    Case("cumsum", partial(torch.cumsum, dim=1), partial(jnp.cumsum, axis=1), ((256, 1024),)),
    Case("cross_entropy", functional.cross_entropy, _cross_entropy, ((512, 1000), Index((512,), 1000))),
    Case("mse_loss", functional.mse_loss, lambda x, y: ((x - y) ** 2).mean(), (_PLANE, _PLANE)),
)  # fmt: skip

CASES: Mapping[str, Case] = {case.name: case for case in _ROWS}
