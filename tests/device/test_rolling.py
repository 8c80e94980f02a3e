"""Rolling by distances that vary from call to call."""

from __future__ import annotations

from typing import Any

import pytest
import torch

DISTANCES = (3, -1, 0, 12, 5, -2, 7, 1)

ROLLS: dict[str, Any] = {
    "one axis": lambda x, n: x.roll(n, 1),
    "two axes": lambda x, n: x.roll((n, -n), (0, -1)),
    "an axis twice": lambda x, n: x.roll((n, 2 * n), (1, 1)),
    "flat": lambda x, n: x.roll(n),
    "a column": lambda x, n: x[:, :1].T.roll(n, 1),
    "booleans": lambda x, n: (x > 5).roll(n, 1),
    "a number": lambda x, n: x[0, 0].roll(n),
    "nothing": lambda x, n: x[:0].roll(n, 0),
}


@pytest.mark.parametrize("name", ROLLS)
def test_distances_settle(rounds: Any, name: str) -> None:
    x = torch.arange(35.0).view(5, 7)
    ours = x.to("lazycore")

    def body(i: int) -> None:
        torch.testing.assert_close(ROLLS[name](ours, DISTANCES[i]).cpu(), ROLLS[name](x, DISTANCES[i]))

    assert rounds(body, len(DISTANCES))[-1] <= 5


def test_gradients_of_distances_that_vary(rounds: Any) -> None:
    x, weights = torch.arange(6.0), torch.arange(6.0) ** 2

    def gradient(n: int, device: str) -> torch.Tensor:
        leaf = x.to(device).requires_grad_() if device != "cpu" else x.clone().requires_grad_()
        (leaf.roll(n, 0) * weights.to(device)).sum().backward()
        assert leaf.grad is not None
        return leaf.grad.cpu()

    counts = rounds(lambda i: torch.testing.assert_close(gradient(i, "lazycore"), gradient(i, "cpu")), 10)
    assert counts[-1] == counts[6]


@pytest.mark.parametrize("distances", [((1, 2), (0,)), ((1,), (3,)), ((1, 2), ())])
def test_mistakes_are_refused_as_on_the_cpu(distances: tuple[Any, Any]) -> None:
    x = torch.zeros(2, 3)
    with pytest.raises(Exception) as expected:  # noqa: PT011 - whatever the CPU raises
        x.roll(*distances)
    for _ in range(6):
        with pytest.raises(expected.type) as found:
            x.to("lazycore").roll(*distances)
        assert str(found.value) == str(expected.value)
