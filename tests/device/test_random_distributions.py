"""What the device draws: the documented numbers bit by bit, equal on all backends and where PyTorch runs the draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import pi

import numpy as np
import pytest
import torch
from lazycore_plugin_api.philox import philox_words

import lazycore

DEVICE = "lazycore"
SEED = 11
COUNT = 4000

Moments = tuple[float, float]


def drawn(draw: Callable[[], torch.Tensor], backend: str) -> torch.Tensor:
    with lazycore.use_backend(backend):
        torch.manual_seed(SEED)
        return draw().cpu()


def empty(dtype: torch.dtype = torch.float32, count: int = COUNT) -> torch.Tensor:
    return torch.empty(count, dtype=dtype, device=DEVICE)


DRAWS: Mapping[str, tuple[Callable[[], torch.Tensor], Moments]] = {
    "uniform": (lambda: torch.rand(COUNT, device=DEVICE), (0.5, 1 / 12)),
    "uniform float64": (lambda: torch.rand(COUNT, dtype=torch.float64, device=DEVICE), (0.5, 1 / 12)),
    "uniform float16": (lambda: torch.rand(COUNT, dtype=torch.float16, device=DEVICE), (0.5, 1 / 12)),
    "uniform bfloat16": (lambda: torch.rand(COUNT, dtype=torch.bfloat16, device=DEVICE), (0.498, 1 / 12)),
    "uniform range": (lambda: empty().uniform_(-2, 4), (1.0, 3.0)),
    "normal": (lambda: torch.randn(COUNT, device=DEVICE), (0.0, 1.0)),
    "normal bfloat16": (lambda: torch.randn(COUNT, dtype=torch.bfloat16, device=DEVICE), (0.0, 1.0)),
    "normal with moments": (lambda: empty().normal_(3.0, 2.0), (3.0, 4.0)),
    "normal of tensors": (
        lambda: torch.normal(torch.full((COUNT,), 3.0, device=DEVICE), torch.full((1,), 2.0, device=DEVICE)),
        (3.0, 4.0),
    ),
    "exponential": (lambda: empty().exponential_(2.0), (0.5, 0.25)),
    "log_normal": (lambda: empty().log_normal_(0.0, 0.5), (np.exp(0.125), (np.exp(0.25) - 1) * np.exp(0.25))),
    "geometric": (lambda: empty().geometric_(0.25), (4.0, 12.0)),
    "geometric of integers": (lambda: empty(torch.int32).geometric_(0.25), (4.0, 12.0)),
    "bernoulli": (lambda: empty().bernoulli_(0.3), (0.3, 0.21)),
    "bernoulli of booleans": (lambda: empty(torch.bool).bernoulli_(0.3), (0.3, 0.21)),
    "bernoulli of probabilities": (lambda: torch.bernoulli(torch.full((COUNT,), 0.3, device=DEVICE)), (0.3, 0.21)),
    "integers": (lambda: torch.randint(-10, 30, (COUNT,), device=DEVICE), (9.5, (40**2 - 1) / 12)),
    "integers of few bits": (lambda: empty(torch.int8).random_(), (63.5, (128**2 - 1) / 12)),
    "dropout": (lambda: torch.nn.functional.dropout(torch.ones(COUNT, device=DEVICE), 0.2), (1.0, 0.25)),
    "multinomial": (lambda: torch.multinomial(torch.ones(COUNT, 3, device=DEVICE), 1).view(-1), (1.0, 2 / 3)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_both_backends_draw_the_same_with_the_right_moments(name: str) -> None:
    draw, (mean, variance) = DRAWS[name]
    found, other = drawn(draw, "reference"), drawn(draw, "xla")
    assert torch.equal(found, other)
    found = found.double()
    assert abs(found.mean().item() - mean) < 5 * (variance / COUNT) ** 0.5
    assert 0.8 * variance < found.var().item() < 1.25 * variance


FLOAT64: Mapping[str, Callable[[], torch.Tensor]] = {
    "normal": lambda: torch.randn(COUNT, dtype=torch.float64, device=DEVICE),
    "cauchy": lambda: empty(torch.float64).cauchy_(1.0, 2.0),
    "exponential": lambda: empty(torch.float64).exponential_(),
    "log_normal": lambda: empty(torch.float64).log_normal_(),
}


@pytest.mark.parametrize("name", FLOAT64)
def test_float64_agrees_to_the_last_places(name: str) -> None:
    found, other = (drawn(FLOAT64[name], b) for b in ("reference", "xla"))
    torch.testing.assert_close(found, other, rtol=1e-13, atol=1e-13)


def words(count: int, each: int, offset: int = 0) -> list[np.ndarray]:
    return [w.astype(np.uint64) for w in philox_words(SEED, offset, (count,), each)]


@pytest.fixture(params=("reference", "xla"))
def chosen(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_uniform_is_the_upper_bits(chosen: str) -> None:
    (word,) = words(50, 1)
    found = drawn(lambda: torch.rand(50, device=DEVICE), chosen).numpy()
    assert np.array_equal(found, ((word >> np.uint64(8)) / 2.0**24).astype(np.float32))
    low, high = words(50, 2)
    wide = (high << np.uint64(32) | low) >> np.uint64(11)
    found = drawn(lambda: torch.rand(50, dtype=torch.float64, device=DEVICE), chosen).numpy()
    assert np.array_equal(found, wide.astype(np.float64) / 2.0**53)


def test_normal_is_box_and_muller_s(chosen: str) -> None:
    first, second = words(50, 2)
    radius = np.sqrt(-2.0 * np.log((first + 0.5) / 2.0**32))
    expected = (radius * np.cos(2.0 * pi * (second / 2.0**32))).astype(np.float32)
    assert np.array_equal(drawn(lambda: torch.randn(50, device=DEVICE), chosen).numpy(), expected)


RANGES = [
    (0, 10), (-5, 2**31 - 5), (0, 2**32 - 1), (0, 2**32), (-7, 2**40), (-(2**62), 2**62), (-(2**63), 2**63 - 1),
    (0, 1), (3, 2**33 + 3),
]  # fmt: skip


@pytest.mark.parametrize("bounds", RANGES)
def test_integers_are_the_scaled_64_bits(chosen: str, bounds: tuple[int, int]) -> None:
    low, end = bounds
    lower, upper = words(40, 2)
    expected = [low + ((int(h) << 32 | int(w)) * (end - low) >> 64) for w, h in zip(lower, upper, strict=True)]
    assert drawn(lambda: torch.randint(low, end, (40,), device=DEVICE), chosen).tolist() == expected


def test_every_int64_may_come(chosen: str) -> None:
    lower, upper = words(40, 2)
    expected = [(int(h) << 32 | int(w)) - 2**63 for w, h in zip(lower, upper, strict=True)]
    assert drawn(lambda: empty(torch.int64, 40).random_(-(2**63), None), chosen).tolist() == expected


def test_permutation_sorts_64_bits(chosen: str) -> None:
    lower, upper = words(200, 2)
    keys = (upper << np.uint64(32) | lower).astype(np.int64)
    expected = np.argsort(keys, kind="stable")
    assert drawn(lambda: torch.randperm(200, device=DEVICE), chosen).tolist() == expected.tolist()
    assert drawn(lambda: torch.randperm(9, dtype=torch.int32, device=DEVICE), chosen).sort().values.tolist() == list(
        range(9)
    )


def test_elements_are_counted_in_logical_order(chosen: str) -> None:
    whole = drawn(lambda: torch.rand(4, 5, device=DEVICE), chosen)
    turned = drawn(lambda: torch.empty(5, 4, device=DEVICE).t().uniform_(), chosen)
    assert torch.equal(whole, turned)
    sliced = drawn(lambda: torch.zeros(4, 10, device=DEVICE)[:, ::2].uniform_(), chosen)
    assert torch.equal(whole, sliced)


def test_a_draw_into_a_view_leaves_the_rest(chosen: str) -> None:
    def into_a_column() -> torch.Tensor:
        x = torch.zeros(3, 4, device=DEVICE)
        x[:, 1].normal_()
        return x

    found = drawn(into_a_column, chosen)
    assert (found[:, [0, 2, 3]] == 0).all()
    assert (found[:, 1] != 0).all()


def test_complex_parts_share_the_variance(chosen: str) -> None:
    found = drawn(lambda: torch.randn(COUNT, dtype=torch.complex64, device=DEVICE), chosen)
    assert abs(found.abs().square().mean().item() - 1) < 0.1
    assert abs((found.real * found.imag).mean().item()) < 0.1


@pytest.mark.parametrize("name", ["uniform", "normal", "integers", "dropout"])
def test_bits_run_by_pytorch_are_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from lazycore_reference import registry

    expected = drawn(DRAWS[name][0], "xla")
    with lazycore.use_backend("reference"):
        monkeypatch.delitem(registry._TABLE, "lazycore.philox.default")
        torch.manual_seed(SEED)
        assert torch.equal(DRAWS[name][0]().cpu(), expected)
    assert lazycore.metrics()["fallbacks"] == {"lazycore.philox.default": 1}
