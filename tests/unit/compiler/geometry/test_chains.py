"""Any chain of view operators, on any dense base, reads and writes as PyTorch's own views do."""

from __future__ import annotations

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lazycore.compiler.geometry import dynamic_plans, offset_is_fixed, plan_dynamic, plan_gather, plan_view

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
@given(chains(nesting=False, least=1))
def test_every_moving_plan_is_right_at_every_offset_it_fits(pair: Pair) -> None:
    base, view = pair
    fitting = 0
    for plan in dynamic_plans(*geometry(base), *geometry(view)):
        for offset in range(0 if view.numel() else 1, base.numel()):
            try:
                moved = base.as_strided(*geometry(view), offset)
            except RuntimeError:
                break
            if plan.fits(offset):
                fitting += 1
                check_moving(base, moved, plan)
    assert fitting or not view.numel() or plan_dynamic(*geometry(base), *geometry(view)) is None


@examples
@given(chains(nesting=True, least=1))
def test_views_that_nest_move_without_gather(pair: Pair) -> None:
    base, view = pair
    if view.numel():
        plan = plan_dynamic(*geometry(base), *geometry(view))
        assert plan is not None
        assert not plan.recipe.gathers


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
