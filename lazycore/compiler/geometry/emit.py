"""Recipes as IR nodes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from lazycore_plugin_api.ir import Value

from lazycore.compiler.geometry.layout import dense_axes
from lazycore.compiler.geometry.recipe import Recipe
from lazycore.compiler.geometry.relayout import relayout
from lazycore.compiler.geometry.steps import Emitter

__all__ = ["emit_read", "emit_write", "flatten_memory", "unflatten_memory"]


def emit_read(emitter: Emitter, base: Value, recipe: Recipe, starts: Sequence[Value] = ()) -> Value:
    """The view's value (shape ``recipe.size``, the base's dtype); the base's own where the view is the identity.

    ``starts``: 0-d int64 values, one for each of a moving recipe's places, or a moving gather's offset.
    """
    for step in recipe.steps:
        base = step.read(emitter, base, starts)
    return base


def emit_write(emitter: Emitter, base: Value, update: Value, recipe: Recipe, starts: Sequence[Value] = ()) -> Value:
    """The base's value after ``update`` (shape ``recipe.size``, the base's dtype) is written through the view.

    It is ``update`` itself where the view is the identity, ``base`` itself where the view has no elements. Of
    elements that the view shows more than once one is kept. Raises ValueError if the update does not match.
    """
    if update.spec.shape != recipe.size or update.spec.dtype is not base.spec.dtype:
        raise ValueError(f"{update.spec} cannot be written through a view of size {recipe.size} of {base.spec}")
    if 0 in recipe.size:
        return base
    for step, before in zip(reversed(recipe.steps), reversed(_befores(emitter, base, recipe, starts)), strict=True):
        update = step.write(emitter, before, update, starts)
    return update


def _befores(emitter: Emitter, base: Value, recipe: Recipe, starts: Sequence[Value]) -> list[Value | None]:
    """What each step reads from, as far as a step that narrows needs it."""
    last = max((i for i, step in enumerate(recipe.steps) if step.narrows), default=-1)
    befores: list[Value | None] = []
    for i, step in enumerate(recipe.steps):
        befores.append(base if i <= last else None)
        base = step.read(emitter, base, starts) if i < last else base
    return befores


def flatten_memory(emitter: Emitter, base: Value, base_size: Sequence[int], base_stride: Sequence[int]) -> Value:
    """The base as one axis in memory order, shape (numel,). Raises ValueError if it is not dense."""
    axes, whole = dense_axes(base_size, base_stride), prod(base_size)
    return emit_read(emitter, base, Recipe((whole,), relayout(axes, ((whole, 1),))))


def unflatten_memory(emitter: Emitter, flat: Value, base_size: Sequence[int], base_stride: Sequence[int]) -> Value:
    """The inverse: a base's logical value from its elements in memory order. Raises ValueError if it is not dense."""
    axes, whole = dense_axes(base_size, base_stride), prod(base_size)
    return emit_read(emitter, flat, Recipe(tuple(base_size), relayout(((whole, 1),), axes)))
