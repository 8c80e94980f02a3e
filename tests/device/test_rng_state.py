"""The random streams: CPU's, with which a program draws what it draws on the CPU, and the device's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import lazycore

DEVICE = "lazycore"
Draw = Callable[[str], torch.Tensor]

INITIALIZERS = [
    "kaiming_uniform_", "kaiming_normal_", "xavier_uniform_", "xavier_normal_", "trunc_normal_", "normal_", "uniform_",
    "orthogonal_",
]  # fmt: skip
IN_PLACE: dict[str, tuple[object, ...]] = {
    "normal_": (1.0, 2.0), "uniform_": (-1, 3), "exponential_": (2.0,), "cauchy_": (), "log_normal_": (),
    "geometric_": (0.3,), "random_": (5,), "bernoulli_": (0.3,),
}  # fmt: skip
DRAWS: dict[str, Draw] = {
    "rand": lambda d: torch.rand(20, device=d),
    "randn": lambda d: torch.randn(20, device=d),
    "randn float64": lambda d: torch.randn(20, device=d, dtype=torch.float64),
    "rand complex": lambda d: torch.rand(2, 3, device=d, dtype=torch.complex64),
    "randint": lambda d: torch.randint(-3, 9, (20,), device=d),
    "randperm": lambda d: torch.randperm(20, device=d),
    "rand_like": lambda d: torch.rand_like(torch.ones(20, device=d)),
    "randn_like": lambda d: torch.randn_like(torch.ones(4, 5, device=d).t()),
    "randint_like": lambda d: torch.randint_like(torch.ones(20, device=d), 9),
    "multinomial": lambda d: torch.multinomial(torch.ones(5, device=d), 3),
    "multinomial with replacement": lambda d: torch.multinomial(torch.ones(5, device=d), 9, replacement=True),
    "bernoulli": lambda d: torch.bernoulli(torch.full((20,), 0.3, device=d)),
    "bernoulli of a tensor": lambda d: torch.empty(20, device=d).bernoulli_(torch.full((20,), 0.3, device=d)),
    "normal of means": lambda d: torch.normal(torch.zeros(20, device=d), 1.0),
    "normal of both": lambda d: torch.normal(torch.zeros(20, device=d), torch.ones(20, device=d)),
    "normal of numbers": lambda d: torch.normal(0.0, 1.0, (20,), device=d),
    "poisson": lambda d: torch.poisson(torch.full((20,), 3.0, device=d)),
    "into a transposed view": lambda d: torch.empty(4, 5, device=d).t().normal_(),
    "into a slice": lambda d: torch.zeros(4, 5, device=d)[:, ::2].normal_(),
    "bfloat16": lambda d: torch.empty(20, device=d, dtype=torch.bfloat16).normal_(),
    "channels last": lambda d: torch.empty(2, 3, 4, 4, device=d).to(memory_format=torch.channels_last).uniform_(),
    "dropout": lambda d: F.dropout(torch.ones(20, device=d), 0.3),
    "dropout in place": lambda d: F.dropout(torch.ones(20, device=d), 0.3, inplace=True),
    "dropout of a transposed view": lambda d: F.dropout(torch.ones(4, 5, device=d).t(), 0.3),
    "dropout of nothing": lambda d: F.dropout(torch.ones(5, device=d), 0.0),
    "dropout of all": lambda d: F.dropout(torch.ones(5, device=d), 1.0),
    "dropout2d": lambda d: F.dropout2d(torch.ones(2, 3, 4, 4, device=d), 0.3),
    "alpha_dropout": lambda d: F.alpha_dropout(torch.ones(20, device=d), 0.3, training=True),
    "rrelu": lambda d: F.rrelu(-torch.ones(20, device=d), training=True),
    "gumbel_softmax": lambda d: F.gumbel_softmax(torch.ones(20, device=d), hard=True),
    "Normal": lambda d: torch.distributions.Normal(torch.zeros(3, device=d), 1.0).sample((4,)),
    "Categorical": lambda d: torch.distributions.Categorical(torch.ones(3, device=d)).sample((4,)),
    "Dirichlet": lambda d: torch.distributions.Dirichlet(torch.ones(3, device=d)).sample(),
    "a layer": lambda d: nn.Linear(3, 4, device=d).weight,
    "a layer with a generator": lambda d: torch.rand(3, device=d, generator=torch.Generator().manual_seed(4)),
    "a generator of the device": lambda d: torch.randperm(9, device=d, generator=torch.Generator(d).manual_seed(4)),
}


@pytest.fixture
def cpu_stream() -> Iterator[None]:
    before = lazycore.config.rng
    lazycore.config.rng = "cpu"
    yield
    lazycore.config.rng = before


@pytest.fixture(params=["cpu", "philox"])
def stream(request: pytest.FixtureRequest) -> Iterator[str]:
    before = lazycore.config.rng
    lazycore.config.rng = request.param
    yield request.param
    lazycore.config.rng = before


def draw() -> list[float]:
    return torch.rand(3, device=DEVICE).tolist()


def assert_drawn_alike(draw: Draw) -> None:
    torch.manual_seed(7)
    expected, following = draw("cpu"), torch.rand(2)
    torch.manual_seed(7)
    found = draw(DEVICE)
    assert torch.equal(torch.rand(2), following), "the stream has gone on differently"
    assert found.device.type == DEVICE
    assert found.stride() == expected.stride()
    torch.testing.assert_close(found.detach().cpu(), expected.detach(), rtol=1e-6, atol=0)


@pytest.mark.usefixtures("cpu_stream")
@pytest.mark.parametrize("name", DRAWS)
def test_draws_of_the_cpu_s_stream(name: str) -> None:
    assert_drawn_alike(DRAWS[name])


@pytest.mark.usefixtures("cpu_stream")
@pytest.mark.parametrize("name", INITIALIZERS)
def test_initializers_on_the_cpu_s_stream(name: str) -> None:
    assert_drawn_alike(lambda d: getattr(nn.init, name)(torch.empty(3, 4, device=d)))


@pytest.mark.usefixtures("cpu_stream")
@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_draws_of_the_cpu_s_stream(name: str) -> None:
    assert_drawn_alike(lambda d: getattr(torch.empty(20, device=d), name)(*IN_PLACE[name]))


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_repeats_every_draw(name: str) -> None:
    draws = []
    for seed in (7, 7, 8):
        torch.manual_seed(seed)
        draws.append(DRAWS[name](DEVICE).detach().cpu())
    assert draws[0].shape == DRAWS[name]("cpu").shape
    assert torch.equal(draws[0], draws[1])


def test_the_device_s_own_stream_leaves_the_cpu_s_alone() -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    draw()
    assert torch.equal(torch.rand(2), expected)


@pytest.mark.usefixtures("stream")
def test_the_state_can_be_saved_and_set() -> None:
    state = torch.lazycore.get_rng_state()
    first, second = draw(), draw()
    assert first != second
    torch.lazycore.set_rng_state(state)
    assert draw() == first
    torch.lazycore.set_rng_state_all([state])
    assert torch.equal(torch.lazycore.get_rng_state_all()[0], state)
    assert draw() == first


@pytest.mark.usefixtures("stream")
def test_seeds() -> None:
    draws = []
    for seed in (torch.manual_seed, torch.lazycore.manual_seed, torch.lazycore.manual_seed_all):
        seed(9)
        assert torch.lazycore.initial_seed() == 9
        draws.append(draw())
    assert draws[0] == draws[1] == draws[2]
    torch.seed()
    assert draw() != draws[0]


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("devices", [None, [0]])
def test_fork_rng(devices: list[int] | None) -> None:
    torch.manual_seed(1)
    expected = draw()
    torch.manual_seed(1)
    with torch.random.fork_rng(devices=devices, device_type=DEVICE):
        torch.manual_seed(9)
        inside = draw()
    assert draw() == expected
    torch.lazycore.manual_seed(9)
    assert draw() == inside


@pytest.mark.usefixtures("stream")
def test_a_generator_has_a_stream_of_its_own() -> None:
    generator = torch.Generator(device=DEVICE)
    assert isinstance(generator, torch.Generator)
    assert isinstance(torch.default_generator, torch.Generator)
    torch.manual_seed(0)
    expected = draw()
    torch.manual_seed(0)
    drawn = torch.rand(2, device=DEVICE, generator=generator.manual_seed(3))
    assert torch.equal(drawn.cpu(), torch.rand(2, generator=torch.Generator().manual_seed(3)))
    assert draw() == expected
