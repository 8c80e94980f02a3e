"""Programs with randomness: one trace whatever the seed, fresh masks every step, errors as on the CPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import lazycore

DEVICE = "lazycore"


@pytest.fixture(params=("reference", "xla"))
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_training_with_dropout_compiles_once(rounds: Callable[..., list[int]]) -> None:
    model = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.3), nn.Linear(8, 8), nn.Dropout(0.5)).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []

    def step(_: int) -> None:
        loss = model(torch.randn(5, 6, device=DEVICE)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())

    counts = rounds(step, 6)
    assert counts[2:] == [counts[1]] * 4
    assert len({loss.item() for loss in losses}) == 6
    assert not lazycore.metrics()["fallbacks"]


def test_reseeding_compiles_nothing(rounds: Callable[..., list[int]]) -> None:
    drawn = []

    def draw(i: int) -> None:
        torch.manual_seed(i * 2**40 - 3)
        drawn.append((torch.randn(3, device=DEVICE), torch.rand(3, device=DEVICE)))

    assert rounds(draw, 5) == [1, 1, 1, 1, 1]
    assert len({tuple(x.tolist()) for pair in drawn for x in pair}) == 10


def test_a_varying_rate_is_lifted(rounds: Callable[..., list[int]]) -> None:
    x = torch.ones(400, device=DEVICE)
    kept = []

    def drop(i: int) -> None:
        kept.append((F.dropout(x, 0.1 + 0.1 * i) != 0).sum())

    counts = rounds(drop, 6)
    assert counts[-1] == counts[1] == 2
    for i, count in enumerate(kept):
        assert abs(count.item() - 400 * (0.9 - 0.1 * i)) < 60


def test_a_draw_does_not_depend_on_where_traces_end() -> None:
    torch.manual_seed(4)
    together = [torch.rand(3, device=DEVICE) for _ in range(3)]
    expected = torch.stack(together).tolist()
    torch.manual_seed(4)
    assert [torch.rand(3, device=DEVICE).tolist() for _ in range(3)] == expected


def test_two_dropouts_have_masks_of_their_own() -> None:
    x = torch.ones(200, device=DEVICE)
    a, b = F.dropout(x, 0.5), F.dropout(x, 0.5)
    assert not torch.equal(a.cpu(), b.cpu())


def test_dropout_s_gradient_has_the_mask_of_its_value() -> None:
    x = torch.ones(300, device=DEVICE, requires_grad=True)
    y = F.dropout(x, 0.25)
    y.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad.cpu(), y.detach().cpu())
    assert set(y.tolist()) == {0.0, torch.tensor(1 / 0.75).item()}


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("rng", ["philox", "cpu"])
def test_checkpointing_repeats_the_mask(reentrant: bool, rng: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazycore.config, "rng", rng)
    x = torch.ones(300, device=DEVICE, requires_grad=True)
    y = checkpoint(lambda t: F.dropout(t, 0.5), x, use_reentrant=reentrant)
    after = torch.rand(3, device=DEVICE)
    y.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad.cpu(), y.detach().cpu())
    # Recomputing is no draw of the program's.
    following = torch.rand(3, device=DEVICE)
    assert after.tolist() != following.tolist()


def test_draws_that_pytorch_makes_follow_the_device_s_seed() -> None:
    drawn = []
    for seed in (1, 1, 2):
        torch.lazycore.manual_seed(seed)
        drawn.append(torch.poisson(torch.full((50,), 9.0, device=DEVICE)).tolist())
    assert drawn[0] == drawn[1] != drawn[2]
    assert lazycore.metrics()["fallbacks"] == {"aten.poisson.default": 3}


def test_threads_never_share_a_draw() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(lambda _: tuple(torch.rand(4, device=DEVICE).tolist()), range(12)))
    assert len(set(drawn)) == 12


WRONG: dict[str, Callable[[str], object]] = {
    "a negative deviation": lambda d: torch.empty(3, device=d).normal_(0, -1),
    "a normal integer": lambda d: torch.empty(3, dtype=torch.int64, device=d).normal_(),
    "an empty range": lambda d: torch.randint(5, 2, (3,), device=d),
    "a turned range": lambda d: torch.empty(3, device=d).uniform_(2, 1),
    "a range beyond the dtype": lambda d: torch.empty(3, dtype=torch.uint8, device=d).random_(0, 300),
    "a rate of zero": lambda d: torch.empty(3, device=d).exponential_(0),
    "a probability above one": lambda d: torch.empty(3, device=d).bernoulli_(1.5),
    "a success that is certain not to come": lambda d: torch.empty(3, device=d).geometric_(0.0),
    "a permutation of less than nothing": lambda d: torch.randperm(-1, device=d),
    "a permutation that the dtype cannot count": lambda d: torch.randperm(300, dtype=torch.uint8, device=d),
    "more samples than categories": lambda d: torch.multinomial(torch.ones(3, device=d), 4),
    "no samples": lambda d: torch.multinomial(torch.ones(3, device=d), 0),
    "integer weights": lambda d: torch.multinomial(torch.ones(3, dtype=torch.int64, device=d), 1),
    "a cube of weights": lambda d: torch.multinomial(torch.ones(1, 1, 3, device=d), 1),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_raise_what_the_cpu_raises(name: str) -> None:
    with pytest.raises((RuntimeError, NotImplementedError)) as expected:
        WRONG[name]("cpu")
    with pytest.raises(type(expected.value)) as found:
        WRONG[name](DEVICE)
    assert str(found.value).split("\n")[0] == str(expected.value).split("\n")[0]


WRONG_VALUES: dict[str, Callable[[str], torch.Tensor]] = {
    "probabilities": lambda d: torch.bernoulli(torch.tensor([0.5, 1.5], device=d)),
    "a probability that is no number": lambda d: torch.bernoulli(torch.tensor([0.5, float("nan")], device=d)),
    "deviations": lambda d: torch.normal(0.0, torch.tensor([1.0, -1.0], device=d)),
    "negative weights": lambda d: torch.multinomial(torch.tensor([0.5, -1.5], device=d), 1),
    "infinite weights": lambda d: torch.multinomial(torch.tensor([0.5, float("inf")], device=d), 1),
    "no weights": lambda d: torch.multinomial(torch.zeros(2, 3, device=d), 1),
}


@pytest.mark.parametrize("name", WRONG_VALUES)
def test_wrong_values_raise_when_they_are_observed(name: str) -> None:
    with pytest.raises(RuntimeError) as expected:
        WRONG_VALUES[name]("cpu")
    with pytest.raises(RuntimeError) as found:
        WRONG_VALUES[name](DEVICE).cpu()
    assert str(found.value).startswith(str(expected.value).split("  (Could this")[0])
    assert "test_random_programs.py" in str(found.value)


def test_multinomial_never_takes_what_has_no_weight() -> None:
    weights = torch.tensor([0.0, 1.0, 0.0, 3.0], device=DEVICE).expand(2000, 4)
    one = torch.multinomial(weights, 1).cpu()
    assert set(one.view(-1).tolist()) == {1, 3}
    assert abs((one == 3).double().mean().item() - 0.75) < 0.05
    both = torch.multinomial(weights, 2).cpu()
    assert (both.sort(-1).values == torch.tensor([1, 3])).all()
    assert not lazycore.metrics()["fallbacks"]


def test_more_categories_than_the_cpu_takes_are_refused() -> None:
    with pytest.raises(RuntimeError, match=r"number of categories cannot exceed 2\^24"):
        torch.multinomial(torch.zeros(2**24 + 1, device=DEVICE), 1)


def test_rng_is_one_of_two() -> None:
    with pytest.raises(ValueError, match="philox, cpu"):
        lazycore.config.rng = "gpu"


def test_a_state_of_another_stream_is_refused() -> None:
    with pytest.raises(RuntimeError, match="16 bytes"):
        torch.lazycore.set_rng_state(torch.get_rng_state())
    with pytest.raises(TypeError, match="ByteTensor"):
        torch.lazycore.set_rng_state(torch.zeros(16))
