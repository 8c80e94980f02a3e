"""What planning and emission refuse, what they leave alone, and how long planning takes."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest
import torch
from lazycore_plugin_api.dtypes import DType

from lazycore.compiler.geometry import emit_read, emit_write, plan_dynamic, plan_gather, plan_view

from .interpreter import Builder
from .oracle import base_tensor, check_static, geometry


@pytest.mark.parametrize("stride", [(4, 2), (4, 0), (8, 1), (1, 1), (1,)])
def test_a_base_must_be_dense(stride: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="base of size"):
        plan_view((3, 4), stride, (3,), (1,), 0)


def test_strides_of_single_elements_do_not_matter() -> None:
    base = torch.arange(6).as_strided((2, 1, 3, 1), (3, 77, 1, 0))
    view = base.as_strided((1, 2, 3), (5, 3, 1))
    check_static(base, view, plan_view(*geometry(base), *geometry(view), 0))


@pytest.mark.parametrize("offset", [-1, 8, 100])
def test_a_view_must_lie_within_its_base(offset: int) -> None:
    with pytest.raises(ValueError, match=rf"at offset {offset} spans 5 elements of a base that has 12"):
        plan_view((3, 4), (4, 1), (5,), (1,), offset)


@pytest.mark.parametrize("plan", [plan_dynamic, plan_gather])
def test_a_moving_view_must_lie_within_its_base_somewhere(plan: object) -> None:
    with pytest.raises(ValueError, match="spans 13 elements of a base that has 12"):
        plan((3, 4), (4, 1), (13,), (1,))  # type: ignore[operator]


def test_strides_are_not_negative() -> None:
    with pytest.raises(ValueError, match="cannot have the stride"):
        plan_view((3, 4), (4, 1), (4,), (-1,), 3)


def test_an_update_must_match() -> None:
    builder = Builder()
    base, recipe = builder.input((3, 4)), plan_view((3, 4), (4, 1), (2, 4), (4, 1), 0)
    with pytest.raises(ValueError, match=r"i64\[3,4\] cannot be written through a view of size \(2, 4\)"):
        emit_write(builder, base, builder.input((3, 4)), recipe)
    with pytest.raises(ValueError, match=r"f32\[2,4\] cannot be written"):
        emit_write(builder, base, builder.input((2, 4), DType.float32), recipe)


@pytest.mark.parametrize("dtype", [DType.bfloat16, DType.bool, DType.complex64])
def test_the_dtype_is_the_base_s(dtype: DType) -> None:
    builder = Builder()
    base = builder.input((3, 4), dtype)
    out = emit_read(builder, base, plan_view((3, 4), (4, 1), (2, 3, 2), (4, 1, 0), 4))
    array = np.arange(12).reshape(3, 4).astype(dtype.numpy)
    assert builder.run(out, array).dtype == dtype.numpy


def test_the_identity_is_the_value_itself_and_an_empty_write_the_base() -> None:
    builder = Builder()
    base, update, empty = builder.input((3, 4)), builder.input((3, 4)), builder.input((0, 4))
    whole, none = plan_view((3, 4), (4, 1), (3, 4), (4, 1), 0), plan_view((3, 4), (4, 1), (0, 4), (4, 1), 0)
    assert emit_read(builder, base, whole) is base
    assert emit_write(builder, base, update, whole) is update
    assert emit_write(builder, base, empty, none) is base
    assert builder.nodes == []


def test_a_write_through_an_expanded_view_keeps_the_last_element() -> None:
    builder = Builder()
    base, update = builder.input((2, 1)), builder.input((2, 3))
    out = emit_write(builder, base, update, plan_view((2, 1), (1, 1), (2, 3), (1, 0), 0))
    result = builder.run(out, np.zeros((2, 1), np.int64), np.arange(6).reshape(2, 3))
    np.testing.assert_array_equal(result, [[2], [5]])


def test_planning_is_quick() -> None:
    """The aim is below 100 µs; the bound leaves room for slow and busy machines: it catches a search that blows up."""
    base = base_tensor((8, 12, 64, 48), (0, 2, 3, 1))
    views = [base, base[:, 1:3], base.flatten(2).transpose(1, 2), base[..., 1:9:2, 3], base[0].unfold(1, 5, 1)]
    for view in views:
        best = min(_seconds(base, view) for _ in range(20))
        assert best < 2e-3


def _seconds(base: torch.Tensor, view: torch.Tensor) -> float:
    arguments = (*geometry(base), *geometry(view), view.storage_offset())
    before = process_time()
    plan_view(*arguments)
    return process_time() - before
