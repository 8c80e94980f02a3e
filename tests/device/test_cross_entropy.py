"""Cross entropy of smoothed labels and weighted classes: the CPU's, and nothing waits for how many targets count."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import cross_entropy

import lazycore

WEIGHT = torch.tensor([0.5, 2.0, 1.0, 0.25])
TARGETS = {
    "one": torch.tensor(2),
    "batch": torch.tensor([0, 3, 1, 1, 2]),
    "some ignored": torch.tensor([0, -100, 1, -100, 2]),
    "all ignored": torch.tensor([-100, -100]),
    "pixels": torch.tensor([[[0, 3], [-100, 1]], [[2, 2], [1, 0]]]),
    "none": torch.zeros(0, dtype=torch.int64),
}


@pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", TARGETS)
def test_values_and_gradients(name: str, reduction: str) -> None:
    target = TARGETS[name]
    shape = (*target.shape[:1], 4, *target.shape[1:])
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))

    def run(device: str) -> list[torch.Tensor]:
        leaf = x.to(device).requires_grad_()
        found = cross_entropy(leaf, target.to(device), WEIGHT.to(device), reduction=reduction, label_smoothing=0.2)
        (gradient,) = torch.autograd.grad(found.square().sum(), leaf)
        return [found.detach().cpu(), gradient.cpu()]

    expected = run("cpu")
    lazycore.reset_metrics()
    torch.testing.assert_close(run("lazycore"), expected, equal_nan=True)
    assert lazycore.metrics()["fallbacks"] == {}


def test_of_probabilities_and_without_gradients() -> None:
    x, shares = torch.randn(3, 4), torch.randn(3, 4).softmax(1)
    for target in (shares, torch.tensor([1, 0, 3])):
        expected = cross_entropy(x, target, WEIGHT, label_smoothing=0.2)
        moved = x.to("lazycore"), target.to("lazycore"), WEIGHT.to("lazycore")
        with torch.inference_mode():
            torch.testing.assert_close(cross_entropy(*moved, label_smoothing=0.2).cpu(), expected)
    with pytest.raises(RuntimeError, match="label_smoothing must be between"):
        cross_entropy(*moved, label_smoothing=1.2)
