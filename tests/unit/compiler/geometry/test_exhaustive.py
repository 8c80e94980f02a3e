"""Every view of up to two axes, at every offset, of some small bases; every relayout of some small memories."""

from __future__ import annotations

from itertools import permutations, product
from math import prod

import numpy as np
import pytest

from lazycore.compiler.geometry import emit_read, flatten_memory, plan_view, unflatten_memory
from lazycore.compiler.geometry.layout import compact
from lazycore.compiler.geometry.recipe import Recipe
from lazycore.compiler.geometry.relayout import relayout

from .interpreter import Builder
from .oracle import Ints, base_tensor, check_static, geometry


@pytest.mark.parametrize(
    ("size", "order"),
    [((5,), (0,)), ((2, 3), (0, 1)), ((2, 3), (1, 0)), ((2, 1, 2), (2, 1, 0)), ((), ()), ((1,), (0,))],
)
def test_every_small_view(size: Ints, order: Ints) -> None:
    base = base_tensor(size, order)
    whole = base.numel()
    for ndim in range(3):
        for shape, stride in product(product(range(4), repeat=ndim), product(range(whole), repeat=ndim)):
            reach = sum((n - 1) * s for n, s in zip(shape, stride, strict=True))
            for offset in range(whole - reach if 0 not in shape else 1):
                view = base.as_strided(shape, stride, offset)
                check_static(base, view, plan_view(*geometry(base), shape, stride, offset))


SHAPES: list[Ints] = [(12,), (3, 4), (4, 3), (2, 6), (6, 2), (2, 2, 3), (3, 2, 2), (1, 3, 4), (3, 1, 2, 2)]


def test_every_relayout() -> None:
    layouts = [(s, o) for s in SHAPES for o in permutations(range(len(s)))]
    for (a, a_order), (b, b_order) in product(layouts, repeat=2):
        src, dst = base_tensor(a, a_order), base_tensor(b, b_order)
        axes = [compact(tuple((n, -o.index(d)) for d, n in enumerate(s))) for s, o in ((a, a_order), (b, b_order))]
        steps = relayout(*axes)
        assert len(steps) <= 3
        builder = Builder()
        out = emit_read(builder, builder.input(a), Recipe(b, steps))
        np.testing.assert_array_equal(builder.run(out, src.numpy()), dst.numpy())


@pytest.mark.parametrize("size", [(), (1,), (3, 4), (2, 3, 4), (2, 0, 3), (2, 1, 3)])
def test_memory_order_and_back(size: Ints) -> None:
    for order in permutations(range(len(size))):
        base = base_tensor(size, order)
        builder = Builder()
        flat = flatten_memory(builder, builder.input(size), *geometry(base))
        back = unflatten_memory(builder, flat, *geometry(base))
        np.testing.assert_array_equal(builder.run(flat, base.numpy()), np.arange(prod(size)))
        np.testing.assert_array_equal(builder.run(back, base.numpy()), base.numpy())
        assert (len(builder.nodes) > 0) == (size != (prod(size),))
