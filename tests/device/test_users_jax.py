"""A program that uses jax itself, in 32 bits as jax does by default, between the device's steps."""

from __future__ import annotations

import pytest
import torch

jax = pytest.importorskip("jax")
DEVICE = "lazycore"


def users_step(weights: object) -> object:
    return jax.jit(lambda w: w * 0.5 + jax.numpy.arange(4))(weights)


def train(device: str, between: object = None) -> list[torch.Tensor]:
    """A few steps with numbers that need 64 bits; ``between`` is called before each."""
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 4, dtype=torch.float64).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    count = torch.tensor([2**40], device=device)
    for step in range(3):
        if callable(between):
            between()
        x = torch.full((2, 4), 1e-9 + step, dtype=torch.float64, device=device)
        optimizer.zero_grad()
        (model(x) - 1).square().sum().backward()
        optimizer.step()
        count += 2**33 + step
    return [t.detach().cpu() for t in (*model.parameters(), count)]


@pytest.mark.parametrize("backend", ["xla"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_both_keep_their_widths() -> None:
    seen: list[tuple[str, str]] = []
    state = {"weights": jax.numpy.ones(4)}

    def between() -> None:
        state["weights"] = users_step(state["weights"])
        seen.append((str(state["weights"].dtype), str(jax.numpy.asarray(2**20).dtype)))

    actual, expected = train(DEVICE, between), train("cpu")
    for got, wanted in zip(actual, expected, strict=True):
        assert got.dtype is wanted.dtype
        torch.testing.assert_close(got, wanted, rtol=1e-12, atol=1e-12)
    assert seen == [("float32", "int32")] * 3
    assert not jax.config.jax_enable_x64
    assert state["weights"].tolist() == [0.125, 1.875, 3.625, 5.375]


@pytest.mark.parametrize("backend", ["xla"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_the_user_may_ask_for_64_bits_around_a_step() -> None:
    with jax.enable_x64(True):
        wide = train(DEVICE)
    for got, wanted in zip(wide, train("cpu"), strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-12, atol=1e-12)
    assert str(jax.numpy.arange(2).dtype) == "int32"
