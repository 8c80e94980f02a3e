"""PyTorch's own as_strided on CPU, and the checks that compare a recipe with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from lazycore.compiler.geometry import DynamicRecipe, Recipe, emit_read, emit_write

from .interpreter import Array, Builder

Ints = tuple[int, ...]


def base_tensor(size: Ints, order: Ints | None = None) -> torch.Tensor:
    """0, 1, 2, ... in memory order, the memory laid out by the dims in ``order``, slowest first."""
    order = tuple(range(len(size))) if order is None else order
    flat = torch.arange(torch.Size(size).numel()).view([size[d] for d in order])
    return flat.permute([order.index(d) for d in range(len(size))])


def geometry(view: torch.Tensor) -> tuple[Ints, Ints]:
    return tuple(view.shape), tuple(view.stride())


def starts_of(builder: Builder, numbers: Ints) -> tuple[tuple[Any, ...], list[Array]]:
    return tuple(builder.input(()) for _ in numbers), [np.asarray(n, np.int64) for n in numbers]


def read_ops(base: torch.Tensor, view: torch.Tensor, recipe: Recipe, numbers: Ints = ()) -> list[str]:
    """Emit a read, run it, compare it with the view; the ops that were emitted."""
    builder = Builder()
    value = builder.input(tuple(base.shape))
    starts, arrays = starts_of(builder, numbers)
    out = emit_read(builder, value, recipe, starts)
    result = builder.run(out, base.numpy(), *arrays)
    np.testing.assert_array_equal(result, view.numpy())
    return builder.ops()


def write_ops(base: torch.Tensor, view: torch.Tensor, recipe: Recipe, numbers: Ints = ()) -> list[str]:
    """Emit a write through the view, run it, compare the base with PyTorch's; the ops that were emitted.

    Where elements overlap any one of the values written may stay, so the comparison is by what was written there.
    """
    update = 1000 + torch.arange(view.numel()).view(view.shape)
    builder = Builder()
    value, new = builder.input(tuple(base.shape)), builder.input(tuple(view.shape))
    starts, arrays = starts_of(builder, numbers)
    out = emit_write(builder, value, new, recipe, starts)
    assert out.spec == value.spec
    result = torch.from_numpy(builder.run(out, base.numpy(), update.numpy(), *arrays).copy())
    check_written(base, view, update, result)
    return builder.ops()


def check_written(base: torch.Tensor, view: torch.Tensor, update: torch.Tensor, result: torch.Tensor) -> None:
    allowed = {int(place): {int(place)} for place in base.flatten()}
    for place in view.flatten().tolist():
        allowed[place] = set()
    for place, new in zip(view.flatten().tolist(), update.flatten().tolist(), strict=True):
        allowed[place].add(new)
    for place, new in zip(base.flatten().tolist(), result.flatten().tolist(), strict=True):
        assert new in allowed[place], (place, new)


def check_static(base: torch.Tensor, view: torch.Tensor, recipe: Recipe) -> list[str]:
    assert recipe.size == tuple(view.shape)
    return read_ops(base, view, recipe) + write_ops(base, view, recipe)


def check_moving(base: torch.Tensor, view: torch.Tensor, plan: DynamicRecipe) -> list[str]:
    assert plan.recipe.size == tuple(view.shape)
    numbers = plan.starts(view.storage_offset())
    return read_ops(base, view, plan.recipe, numbers) + write_ops(base, view, plan.recipe, numbers)
