"""Programs whose sizes vary: one executable serves them, rightly, and what it must not serve it does not."""
# Steps have one signature.
# ruff: noqa: ARG005

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lazycore
from lazycore.frontend.local import leave_root, tree
from lazycore.report.recompiles import RecompileWarning

Tensor = torch.Tensor
Step = Callable[[Tensor, int, int], Tensor]

pytestmark = pytest.mark.parametrize("backend", ["reference", "tvm,reference"], indirect=True)


@pytest.fixture(autouse=True)
def _many_programs() -> Iterator[None]:
    """Programs that are compiled again and again are what these tests are about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecompileWarning)
        yield


def of(*shape: int) -> Tensor:
    """Small whole numbers, so that sums are exact in any order."""
    return (torch.arange(float(torch.Size(shape).numel())) % 7 - 3).reshape(shape)


def check(program: Callable[..., Tensor], *inputs: Tensor) -> None:
    """The program gives on the device what it gives on the CPU."""
    expected = program(*inputs)
    result = program(*(x.to("lazycore") for x in inputs)).cpu()
    torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-5)


def compiled() -> int:
    return int(lazycore.metrics()["compiles"])


# Each takes a tensor (n, m, 4) to one of that shape, by way of sizes made of n and m.
STEPS: dict[str, Step] = {
    "add": lambda x, n, m: x + x.sum(1, keepdim=True),
    "flat": lambda x, n, m: (x.reshape(n * m, 4) * 2).reshape(n, m, 4),
    "rows": lambda x, n, m: (x.reshape(n, 4 * m) - x.reshape(n, 4 * m).amax(1, keepdim=True)).reshape(n, m, 4),
    "product": lambda x, n, m: torch.bmm(torch.bmm(x, x.transpose(1, 2)).clamp(-2, 2), x).clamp(-3, 3),
    "swap": lambda x, n, m: (x.permute(1, 0, 2) + 1).permute(1, 0, 2),
    "longer": lambda x, n, m: torch.cat([x, x[:, :1]], 1)[:, 1:] - 1,
    "twice": lambda x, n, m: torch.cat([x, -x], 1).reshape(n, 2, m, 4).sum(1) + x,
    "shorter": lambda x, n, m: torch.nn.functional.pad(x[:, 1:], (0, 0, 1, 0)),
    "last": lambda x, n, m: x + x[:, m - 1 :],
    "places": lambda x, n, m: x + torch.arange(m, device=x.device)[:, None],
    "count": lambda x, n, m: x + n,
    "filled": lambda x, n, m: x * torch.full((m, 4), 2.0, device=x.device),
    "spread": lambda x, n, m: x + x[:1].expand(n, m, 4),
    "taken": lambda x, n, m: x.flip(1).relu() + x.cumsum(1).clamp(-3, 3),
    "mean": lambda x, n, m: x - x.mean((0, 1)).round(),
}
sizes = st.integers(0, 9)
programs = st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(programs, st.lists(st.tuples(sizes, st.integers(1, 9)), min_size=3, max_size=5))
def test_random_programs_at_random_sizes(steps: list[str], pairs: list[tuple[int, int]]) -> None:
    def program(x: Tensor, n: int, m: int) -> Tensor:
        for step in steps:
            x = STEPS[step](x, n, m)
        return x

    tree.clear()
    leave_root()
    for n, m in pairs:
        if n or not {"rows", "mean"} & set(steps):
            check(lambda x, n=n, m=m: program(x, n, m), of(n, m, 4))


@pytest.mark.parametrize("step", STEPS)
def test_each_step_is_compiled_twice(step: str) -> None:
    for n, m in ((3, 5), (4, 8), (2, 3), (8, 4), (9, 9)):
        check(lambda x, n=n, m=m: STEPS[step](x, n, m), of(n, m, 4))
    assert compiled() == 2


def test_a_number_that_is_a_size_by_chance_is_none() -> None:
    """Sixteen features, and once as many rows."""
    weight = of(16, 16)
    for n in (16, 7, 9, 16, 16, 3):
        check(lambda x, w: torch.nn.functional.softmax(x @ w, 1).sum(0).reshape(4, 4), of(n, 16), weight)
    assert compiled() == 2


def test_a_number_that_varies_by_itself_is_not_taken_for_a_size() -> None:
    """The first two guesses at what the slice's end is made of are wrong."""
    for n, end in ((10, 4), (11, 5), (12, 3), (9, 7), (20, 2), (30, 11)):
        check(lambda x, end=end: x[:, :end].contiguous() * 2, of(3, n))


def test_nothing_fits_and_all_is_right() -> None:
    """The number of pieces is no sum of products of the length."""
    for n in (4, 6, 10, 12):
        check(lambda x, n=n: x.reshape(2, n // 2).sum(1).repeat(n % 5), of(n))


def test_batch_and_length_vary_apart() -> None:
    def program(x: Tensor, w: Tensor) -> Tensor:
        b, n, d = x.shape
        return (x.reshape(b * n, d) @ w).reshape(b, n, 3, 2).permute(0, 2, 1, 3).softmax(2).reshape(3 * b, 2 * n)

    w = of(5, 6) / 4
    for b, n in ((2, 5), (3, 7), (7, 3), (4, 4), (9, 2)):
        check(program, of(b, n, 5), w)
    assert compiled() == 2


def test_sizes_of_zero_and_one_are_programs_of_their_own() -> None:
    for n in (3, 5, 1, 0, 8, 1, 0):
        check(lambda x: (x + x[0:1] if x.numel() else x + 1) * of(4).to(x.device), of(n, 4))
    assert compiled() == 4


def test_gradients_too() -> None:
    def program(x: Tensor, w: Tensor) -> Tensor:
        w = w.detach().requires_grad_()
        (torch.tanh(x @ w).mean(0) ** 2).sum().backward()
        assert w.grad is not None
        return w.grad

    for n in (4, 6, 9, 11):
        check(program, of(n, 3) / 3, of(3, 2) / 3)
    assert compiled() == 2


def test_a_smaller_last_batch_and_its_next_epoch() -> None:
    for n in (8, 8, 3, 8, 8, 3, 5):
        check(lambda x: x * x.sum(0), of(n, 4))
    assert compiled() == 2


def test_it_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazycore.config, "any_size", False)
    for n in (3, 5, 7):
        check(lambda x: x * x.sum(0), of(n, 4))
    assert compiled() == 3


def test_draws_of_any_size_are_those_of_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random bits depend on the place in the tensor, and so must not on who computes it."""
    drawn = {}
    for served in (True, False):
        tree.clear()
        leave_root()
        monkeypatch.setattr(lazycore.config, "any_size", served)
        torch.manual_seed(3)
        x = of(9, 4).to("lazycore")
        drawn[served] = [(torch.rand_like(x[:n].clone()) + x[:n]).cpu() for n in (5, 7, 9, 3)]
    for one, other in zip(drawn[True], drawn[False], strict=True):
        assert torch.equal(one, other)


def test_two_places_are_two_families() -> None:
    """Layers of two sizes within one program stay as they are."""
    for n in (3, 5, 7):
        check(lambda x: torch.relu(torch.relu(x @ of(4, 8).to(x.device)) @ of(8, 6).to(x.device)), of(n, 4))
    assert compiled() == 2
