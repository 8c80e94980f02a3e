"""What the device takes for the same call, seen from programs: a wrong hit would give a wrong value or dtype."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import lazycore
from lazycore.frontend.local import tree
from lazycore.frontend.observer import OBSERVER

NAN = float("nan")


@pytest.fixture
def default_dtype() -> Iterator[None]:
    before = torch.get_default_dtype()
    yield
    torch.set_default_dtype(before)


@pytest.mark.parametrize(
    "numbers",
    [(True, 1, 1.0), (1.0, 1, True), (0.0, -0.0, 0), (2, 2.0, NAN), (1, 1 + 0j)],
    ids=str,
)
@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int32, torch.float32], ids=str)
def test_numbers_of_other_types_are_other_calls(numbers: tuple[Any, ...], dtype: torch.dtype) -> None:
    x = torch.ones(3).to(dtype)
    for number in numbers:
        expected, got = x * number, (x.to("lazycore") * number).cpu()
        torch.testing.assert_close(got, expected, equal_nan=True)
        if expected.is_floating_point():
            assert torch.equal(got.signbit(), expected.signbit())


def test_nan_hits_again(rounds: Any) -> None:
    x = torch.ones(3, device="lazycore")
    kept: list[torch.Tensor] = []

    def body(_: int) -> None:
        kept.append(torch.nn.functional.leaky_relu(x + NAN, NAN))

    assert rounds(body, 4) == [1, 1, 1, 1]


@pytest.mark.parametrize(
    "make",
    [
        lambda device: torch.zeros(2, device=device),
        lambda device: torch.ones(2, device=device),
        lambda device: torch.full((2,), 2.0, device=device),
        lambda device: torch.arange(0.0, 2.0, device=device),
        lambda device: torch.linspace(0, 1, 2, device=device),
        lambda device: torch.eye(2, device=device),
        lambda device: torch.tensor([1, 2], device=device) / 2,
        lambda device: torch.tensor([1, 2], device=device) * 0.5,
        lambda device: torch.arange(3, device=device).sqrt(),
        lambda device: torch.scalar_tensor(3, device=device),
        lambda device: torch.empty(2, device=device).zero_(),
    ],
)
@pytest.mark.usefixtures("default_dtype")
def test_the_default_dtype_decides_anew(make: Callable[[str], torch.Tensor]) -> None:
    for dtype in (torch.float32, torch.float64, torch.float32):
        torch.set_default_dtype(dtype)
        expected, got = make("cpu"), make("lazycore")
        assert got.dtype == expected.dtype
        torch.testing.assert_close(got.cpu(), expected)


@pytest.mark.usefixtures("default_dtype")
def test_a_changed_default_dtype_ends_the_trace() -> None:
    x = torch.arange(3, device="lazycore")
    before = x / 2
    torch.set_default_dtype(torch.float64)
    after = x / 2
    assert (before.dtype, after.dtype) == (torch.float32, torch.float64)
    torch.testing.assert_close(before.cpu(), torch.tensor([0.0, 0.5, 1.0], dtype=torch.float32))
    torch.testing.assert_close(after.cpu(), torch.tensor([0.0, 0.5, 1.0], dtype=torch.float64))


def test_precision_and_determinism_flags_choose_the_root() -> None:
    x = torch.ones(2, device="lazycore")
    lazycore.sync()

    def roots() -> int:
        (x + 1).cpu()
        return len(tree.roots)

    before = roots()
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    changed = roots()
    torch.set_float32_matmul_precision(precision)
    torch.use_deterministic_algorithms(True)
    deterministic = roots()
    torch.use_deterministic_algorithms(False)
    assert (changed - before, deterministic - before, roots() - before) == (1, 2, 2)


def test_the_same_ops_wired_otherwise_are_another_trace() -> None:
    def wired(a: torch.Tensor, b: torch.Tensor, way: int) -> torch.Tensor:
        c, d = a + b, a - b
        return [c * d, c * c, d * d, c * a, b * d, d * c][way]

    a, b = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])
    for way in (0, 1, 2, 3, 4, 5, 0, 3):
        got = wired(a.to("lazycore"), b.to("lazycore"), way).cpu()
        torch.testing.assert_close(got, wired(a, b, way))


def test_one_storage_twice_is_not_two_storages() -> None:
    a, b = torch.tensor([2.0], device="lazycore"), torch.tensor([3.0], device="lazycore")
    assert [(x * y).item() for x, y in ((a, b), (a, a), (b, a), (b, b))] == [6.0, 4.0, 6.0, 9.0]


def test_shape_dtype_and_stride_of_an_input_are_part_of_the_key() -> None:
    for make in (
        lambda: torch.ones(2, 3),
        lambda: torch.ones(3, 2),
        lambda: torch.ones(2, 3, dtype=torch.float64),
        lambda: torch.arange(6.0).reshape(3, 2).t(),
        lambda: torch.ones(2, 3, 1),
    ):
        x = make()
        got = (x.to("lazycore") + x.to("lazycore")).cpu()
        torch.testing.assert_close(got, x + x)
        assert got.stride() == (x + x).stride()


def test_keyword_and_text_literals_are_exact() -> None:
    x = torch.tensor([-1.5, 2.5, 0.3])
    for approximate in ("none", "tanh", "none"):
        expected = torch.nn.functional.gelu(x, approximate=approximate)
        got = torch.nn.functional.gelu(x.to("lazycore"), approximate=approximate).cpu()
        torch.testing.assert_close(got, expected, rtol=1e-6, atol=1e-7)
    for mode in ("trunc", "floor", None):
        expected = torch.div(x, 0.7, rounding_mode=mode)
        torch.testing.assert_close(torch.div(x.to("lazycore"), 0.7, rounding_mode=mode).cpu(), expected)


def test_a_backend_has_traces_of_its_own() -> None:
    x = torch.ones(2).to("lazycore")
    for name in ("reference", "xla", "reference", "xla"):
        with lazycore.use_backend(name) as backends:
            assert (x + 1).tolist() == [2.0, 2.0]
            (ran,) = OBSERVER.placements[-1].shares
            assert ran.backend == name or lazycore.metrics()["cache_hits"]
            assert backends[0].name == name
    assert lazycore.metrics()["compiles"] == 2
    assert lazycore.metrics()["cache_hits"] == 2
