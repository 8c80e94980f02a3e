"""NumPy's products on threads of our own: the same numbers, OpenBLAS's threads as before, and errors in the caller."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("tvm")

from lazycore_tvm import pool, products


@pytest.fixture(autouse=True)
def three_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Three threads, whatever the process has."""
    monkeypatch.setenv("TVM_NUM_THREADS", "3")
    own = pool.Pool()
    own.load()
    own.start()
    counts = [0]
    while counts[-1] < 3:  # a thread begins when it likes
        own.each(lambda _, tasks: counts.append(tasks))
    monkeypatch.setattr(products, "POOL", own)
    yield
    own.stop()


SHAPES = [
    ((256, 96), (96, 256)), ((257, 96), (96, 100)), ((2, 700), (700, 1001)), ((1, 3000), (3000, 700)),
    ((16, 64, 64), (16, 64, 64)), ((17, 3, 64), (1, 64, 512)), ((1, 300, 64), (5, 64, 65)),
    ((2, 64, 64), (9, 2, 64, 64)),
    ((9, 1, 64, 64), (2, 64, 64)), ((4000, 900), (900,)), ((1200,), (1200, 1100)), ((5, 300, 900), (900,)),
    ((3, 4), (4, 5)), ((0, 4), (4, 5)), ((3, 0), (0, 5)), ((7,), (7,)),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_products_are_those_of_numpy(first: tuple[int, ...], second: tuple[int, ...], dtype: type) -> None:
    generator = np.random.default_rng(0)
    x, y = (generator.integers(-9, 9, shape).astype(dtype) for shape in (first, second))
    actual = products.product(x, y)
    assert actual.dtype == dtype
    np.testing.assert_array_equal(actual, np.matmul(x, y))


def test_parts_are_computed_by_several_threads_and_written_where_asked() -> None:
    x = np.ones((6, 200, 200), np.float32)
    out = np.zeros((6, 200, 200), np.float32)
    assert products.product(x, x.transpose(0, 2, 1), out=out[:]).base is out
    assert (out == 200).all()
    callers: set[str] = set()
    products._shared(999, lambda _: callers.add(threading.current_thread().name))
    assert len(callers) == 3


def test_openblas_has_its_threads_again() -> None:
    get = products._THREADS._get
    if get is None:
        pytest.skip("NumPy multiplies by another library")
    before = get()
    seen: list[int] = []
    products._shared(3, lambda _: seen.append(get()))
    with products._THREADS.alone():
        products._shared(3, lambda _: seen.append(get()))
        with products._THREADS.alone():
            pass
        assert get() == 1
    assert seen == [before] * 3 + [1] * 3
    assert get() == before


def test_what_a_part_raises_is_raised() -> None:
    def fail(part: slice) -> None:
        raise MemoryError(part.stop)

    with pytest.raises(MemoryError):
        products._shared(9, fail)
    with pytest.raises(ValueError, match="mismatch"):
        products.product(np.ones((2000, 30), np.float32), np.ones((31, 40), np.float32))
