"""Any chain of view operators, on any dense base, reads and writes as PyTorch's own views do."""

from __future__ import annotations

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lazycore.compiler.geometry import dynamic_plans, offset_is_fixed, plan_gather, plan_view

from .chains import bases, chains
from .oracle import check_moving, check_static, geometry, read_ops, write_ops

Pair = tuple[torch.Tensor, torch.Tensor]
examples = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@examples
@given(chains(nesting=True))
def test_views_that_nest_are_right_and_never_gathered(pair: Pair) -> None:
    base, view = pair
    recipe = plan_view(*geometry(base), *geometry(view), view.storage_offset())
    assert not recipe.gathers, recipe
    check_static(base, view, recipe)


@examples
@given(chains(nesting=False))
def test_any_view_is_right(pair: Pair) -> None:
    base, view = pair
    check_static(base, view, plan_view(*geometry(base), *geometry(view), view.storage_offset()))


@examples
@given(st.data(), bases(1))
def test_any_as_strided_is_right(data: st.DataObject, base: torch.Tensor) -> None:
    size, stride, room = [], [], base.numel() - 1
    for _ in range(data.draw(st.integers(0, 3))):
        stride.append(data.draw(st.integers(0, max(room, 1))))
        size.append(data.draw(st.integers(0, 1 + min(4, room // stride[-1] if stride[-1] else 4))))
        room -= stride[-1] * max(0, size[-1] - 1)
    view = base.as_strided(size, stride, data.draw(st.integers(0, room)))
    check_static(base, view, plan_view(*geometry(base), *geometry(view), view.storage_offset()))


@examples
@given(st.data(), chains(nesting=False, least=1))
def test_every_moving_plan_is_right_at_every_offset_it_fits(data: st.DataObject, pair: Pair) -> None:
    base, view = pair
    if not view.numel():
        return
    last = base.numel() - 1 - sum((n - 1) * s for n, s in zip(*geometry(view), strict=True))
    offsets = {0, view.storage_offset(), last, *data.draw(st.lists(st.integers(0, last), max_size=4))}
    for plan in dynamic_plans(*geometry(base), *geometry(view)):
        assert plan.fits(0)
        for offset in filter(plan.fits, offsets):
            check_moving(base, base.as_strided(*geometry(view), offset), plan)


@examples
@given(chains(nesting=False, least=1))
def test_gather_serves_any_view_at_its_offset(pair: Pair) -> None:
    base, view = pair
    recipe = plan_gather(*geometry(base), *geometry(view))
    numbers = (view.storage_offset(),) if view.numel() else ()
    read_ops(base, view, recipe, numbers)
    write_ops(base, view, recipe, numbers)


@examples
@given(chains(nesting=False, least=1))
def test_a_fixed_offset_is_zero(pair: Pair) -> None:
    base, view = pair
    fixed = offset_is_fixed(tuple(base.shape), *geometry(view))
    ends = {0, base.numel() - 1} <= set(view.flatten().tolist())
    assert fixed == (ends or not view.numel())
