"""The loss of connectionist temporal classification with lengths that stay, and with lengths that vary."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn.functional import ctc_loss

import lazycore

STEPS, BATCH, CLASSES = 9, 2, 5
OPS = {"aten._ctc_loss.default", "aten._ctc_loss_backward.default"}


def gradients(device: str, inputs: Any, lengths: Any, targets: torch.Tensor, **options: Any) -> list[torch.Tensor]:
    scores = torch.arange(STEPS * BATCH * CLASSES, dtype=torch.float32).view(STEPS, BATCH, CLASSES).sin()
    scores = scores.to(device).requires_grad_() if device != "cpu" else scores.requires_grad_()
    loss = ctc_loss(scores.log_softmax(2), targets.to(device), inputs, lengths, **options)
    loss.sum().backward()
    assert scores.grad is not None
    return [loss.detach().cpu(), scores.grad.cpu()]


@pytest.fixture(params=["reference", "xla"])
def backend(request: pytest.FixtureRequest) -> Any:
    with lazycore.use_backend(request.param):
        yield request.param


TARGETS = {"padded": torch.tensor([[1, 2, 2], [3, 4, 1]]), "joined": torch.tensor([1, 2, 2, 3, 4])}


@pytest.mark.parametrize("form", TARGETS)
@pytest.mark.parametrize(("kind", "reduction"), [(tuple, "mean"), (torch.tensor, "none")], ids=("numbers", "tensors"))
def test_lengths_that_stay_are_recorded(backend: str, form: str, kind: Any, reduction: str) -> None:
    call = (kind([9, 7]), kind([3, 2]), TARGETS[form])
    expected = gradients("cpu", *call, reduction=reduction)
    for _ in range(3):
        torch.testing.assert_close(gradients("lazycore", *call, reduction=reduction), expected)
    eager = set(lazycore.metrics()["fallbacks"])
    assert eager == (set() if backend == "xla" else OPS)


def test_lengths_that_vary_compile_nothing(rounds: Any) -> None:
    def body(i: int) -> None:
        call = ((9, 9 - i % 8), (2, 1 + i % 2), TARGETS["padded"])
        options = {"zero_infinity": True, "blank": 0}
        torch.testing.assert_close(gradients("lazycore", *call, **options), gradients("cpu", *call, **options))

    counts = rounds(body, 12)
    assert counts[-1] == counts[6]


MISTAKES: dict[str, Any] = {
    "too many steps": ((10, 9), (3, 2)),
    "too many labels": ((9, 9), (4, 2)),
    "a length for one": ((9,), (3, 2)),
    "negative": ((9, -1), (3, 2)),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_refused_as_on_the_cpu(name: str) -> None:
    with pytest.raises(RuntimeError) as expected:
        gradients("cpu", *MISTAKES[name], TARGETS["padded"])
    with pytest.raises(RuntimeError) as found:
        gradients("lazycore", *MISTAKES[name], TARGETS["padded"])
    assert str(found.value) == str(expected.value)
