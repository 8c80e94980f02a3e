"""Layouts are interned while anybody needs them, and know dense from not."""

from __future__ import annotations

import gc
import itertools
from weakref import ref

from hypothesis import given
from hypothesis import strategies as st
from lazycore_plugin_api import DType

from lazycore.trace.layout import contiguous_stride, is_dense, layout_of

sizes = st.lists(st.integers(0, 4), max_size=4).map(tuple)


def test_equal_layouts_are_one_object() -> None:
    first = layout_of((2, 3), (3, 1), DType.float32, "f")
    assert layout_of((2, 3), (3, 1), DType.float32, "f") is first
    others = [((3, 2), (3, 1), "f"), ((2, 3), (1, 2), "f"), ((2, 3), (3, 1), "g")]
    assert all(layout_of(size, stride, DType.float32, native) is not first for size, stride, native in others)


def test_a_layout_that_nobody_needs_is_forgotten() -> None:
    watch = ref(layout_of((91, 17), (17, 1), DType.float32, "f"))
    gc.collect()
    assert watch() is None


def test_what_a_layout_says() -> None:
    turned = layout_of((2, 3), (1, 2), DType.float64, "d")
    assert (turned.numel, turned.nbytes, turned.contiguous) == (6, 48, False)
    assert str(turned) == "f64[2,3] stride (1, 2)"
    assert layout_of((2, 3), (3, 1), DType.float64, "d").contiguous


@given(sizes)
def test_row_major_strides_step_over_all_inner_elements(size: tuple[int, ...]) -> None:
    stride = contiguous_stride(size)
    assert len(stride) == len(size)
    for dim, step in enumerate(stride):
        inner = 1
        for extent in size[dim + 1 :]:
            inner *= max(extent, 1)
        assert step == inner


@given(sizes, st.randoms())
def test_any_permutation_of_row_major_is_dense(size: tuple[int, ...], random: object) -> None:
    order = list(range(len(size)))
    random.shuffle(order)  # type: ignore[attr-defined]
    stride = contiguous_stride(size)
    assert is_dense(tuple(size[d] for d in order), tuple(stride[d] for d in order))


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple),
    st.lists(st.integers(0, 9), min_size=3, max_size=3),
)
def test_dense_means_every_place_once_and_no_gap(size: tuple[int, ...], steps: list[int]) -> None:
    stride = tuple(steps[: len(size)])
    places = [sum(i * s for i, s in zip(index, stride, strict=True)) for index in itertools.product(*map(range, size))]
    assert is_dense(size, stride) == (sorted(places) == list(range(len(places))))
