"""Views whose offset is known only at launch."""

from __future__ import annotations

import pytest
import torch

from lazycore.compiler.geometry import dynamic_plans, emit_read, offset_is_fixed, plan_dynamic, plan_gather

from .interpreter import Builder
from .oracle import base_tensor, check_moving, geometry, read_ops, write_ops


def test_a_batch_of_rows_takes_one_start() -> None:
    base = base_tensor((12, 5))
    plan = plan_dynamic((12, 5), (5, 1), (4, 5), (5, 1))
    assert plan is not None
    assert plan.places == ((5, 12),)
    for row in range(9):
        assert plan.fits(5 * row)
        assert plan.starts(5 * row) == (row,)
        ops = check_moving(base, base[row : row + 4], plan)
        assert ops == ["lazycore.dynamic_slice.default", "lazycore.dynamic_update_slice.default"]


def test_a_window_that_wraps_does_not_fit_the_rows_but_the_flat_memory() -> None:
    rows, flat = dynamic_plans((12, 5), (5, 1), (4, 5), (5, 1))
    assert not rows.fits(7)
    assert flat.fits(7)
    assert flat.places == ((1, 60),)
    base = base_tensor((12, 5))
    check_moving(base, base.view(-1)[7:27].view(4, 5), flat)


def test_a_cache_position_moves_one_axis_of_four() -> None:
    base = base_tensor((2, 3, 8, 5))
    plan = plan_dynamic(*geometry(base), *geometry(base[:, :, 0:1]))
    assert plan is not None
    assert plan.places == ((5, 8),)
    for t in range(8):
        assert plan.fits(5 * t)
        ops = check_moving(base, base[:, :, t : t + 1], plan)
        assert ops == ["lazycore.dynamic_slice.default", "lazycore.dynamic_update_slice.default"]
    assert [plan.fits(offset) for offset in range(1, 5)] == [False] * 4


def test_a_box_moves_two_axes_of_a_channels_last_base_in_its_logical_order() -> None:
    base = base_tensor((2, 3, 4, 6), (0, 2, 3, 1))
    plan = plan_dynamic(*geometry(base), *geometry(base[..., :2, :3]))
    assert plan is not None
    assert plan.places == ((18, 4), (3, 6))
    for y, x in ((0, 0), (2, 3), (1, 2)):
        view = base[..., y : y + 2, x : x + 3]
        assert plan.fits(view.storage_offset())
        assert plan.starts(view.storage_offset()) == (y, x)
        assert len(check_moving(base, view, plan)) == 2


def test_steps_stay_static_inside_the_window_that_moves() -> None:
    base = base_tensor((6, 8))
    plan = plan_dynamic(*geometry(base), *geometry(base[:, ::3]))
    assert plan is not None
    assert [plan.fits(offset) for offset in range(3)] == [True, True, False]
    check_moving(base, base[:, 1::3], plan)


def test_overlap_has_no_moving_plan_but_a_gather_with_a_run_time_offset() -> None:
    base = base_tensor((6, 8), (1, 0))
    view = base[2:5].unfold(1, 3, 1)
    assert plan_dynamic(*geometry(base), *geometry(view)) is None
    recipe = plan_gather(*geometry(base), *geometry(view))
    assert recipe.gathers
    offset = (view.storage_offset(),)
    assert read_ops(base, view, recipe, offset)[-1] == "aten.take.default"
    assert "aten.put.default" in write_ops(base, view, recipe, offset)


def test_a_gather_of_one_element_takes_the_offset_as_its_index() -> None:
    base = base_tensor((6, 8))
    view = base[3, 4]
    recipe = plan_gather(*geometry(base), *geometry(view))
    assert read_ops(base, view, recipe, (28,)) == ["aten.take.default"]
    assert write_ops(base, view, recipe, (28,)) == ["aten.put.default"]


@pytest.mark.parametrize(
    ("size", "stride", "fixed"),
    [
        ((4, 5), (5, 1), True),
        ((5, 4), (1, 5), True),
        ((4, 4), (5, 1), False),
        ((2, 5), (15, 1), True),
        ((0,), (1,), True),
    ],
)
def test_offset_is_fixed(size: tuple[int, ...], stride: tuple[int, ...], fixed: bool) -> None:
    assert offset_is_fixed((4, 5), size, stride) is fixed
    plan = plan_dynamic((4, 5), (5, 1), size, stride)
    assert plan is not None
    assert (plan.places == ()) is fixed
    assert plan.fits(0)


def test_starts_must_be_as_many_as_places() -> None:
    builder = Builder()
    base = builder.input((12, 5))
    plan = plan_dynamic((12, 5), (5, 1), (4, 5), (5, 1))
    assert plan is not None
    with pytest.raises(ValueError, match="1 axes of the view move, but 0 starts"):
        emit_read(builder, base, plan.recipe)
    with pytest.raises(ValueError, match="takes 1 run-time offsets, but 0"):
        emit_read(builder, base, plan_gather((12, 5), (5, 1), (4, 5), (5, 1)))


def test_a_moving_plan_serves_offsets_it_was_not_planned_at() -> None:
    base = torch.arange(48).view(6, 8)
    plans = dynamic_plans(*geometry(base), (2, 3), (8, 1))
    served = [o for o in range(48 - 10) if any(plan.fits(o) for plan in plans)]
    assert served == [o for o in range(48 - 10) if o <= 48 - 16 or o % 8 <= 5]
