"""Six small programs on which lazy and compiled systems have given wrong values, with a barrier in every place.

Each case is a function ``(device, barrier) -> tensors``. It is run without any barrier, with all of them, and with
each one alone: where a trace ends must never change a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch

import lazycore

Barrier = Callable[[], None]
Case = Callable[[str, Barrier], list[torch.Tensor]]


def slice_assignment_gradient(device: str, barrier: Barrier) -> list[torch.Tensor]:
    """No gradient flows through the part of a layer's output that was overwritten."""
    layer = torch.nn.Linear(6, 8).to(device)
    x = torch.arange(24.0).reshape(4, 6).to(device)
    y = layer(x)
    barrier()
    y[:, :5] = 0
    barrier()
    y.sum().backward()
    assert layer.weight.grad is not None
    assert layer.bias.grad is not None
    return [y, layer.weight.grad, layer.bias.grad]


def writes_to_data(device: str, barrier: Barrier) -> list[torch.Tensor]:
    """``t.data.add_`` and ``t.data +=`` write the storage that views share; ``t.data = …`` gives ``t`` another."""
    tensors = []
    for update in ("add_", "+=", "="):
        t = torch.zeros(6, device=device)
        view = t.view(2, 3)
        barrier()
        if update == "add_":
            t.data.add_(1.0)
        elif update == "+=":
            t.data += 1.0
        else:
            t.data = t.data + 1.0
        barrier()
        t.mul_(3.0)
        tensors += [t, view]
    return tensors


def write_then_shifted_read(device: str, barrier: Barrier) -> list[torch.Tensor]:
    """Indexed writes followed by updates that read other positions of the same tensor."""
    tensors = []
    for rows, columns in ((4, 3), (64, 33)):
        x = torch.arange(float(rows * columns)).reshape(rows, columns).to(device)
        x.index_put_((torch.arange(rows, device=device),), x * 2)
        barrier()
        x.add_(x.flip(0))
        barrier()
        x[1:] = x[:-1].clone()
        barrier()
        x.index_add_(0, torch.tensor([0, 2], device=device), x[2:4].clone())
        x.copy_(x.flip(1))
        tensors.append(x)
    return tensors


def accumulation_into_expanded(device: str, barrier: Barrier) -> list[torch.Tensor]:
    """The gradient of index_select below vmap accumulates into an expanded zero."""
    picks = torch.tensor([0, 2], device=device)
    signs = torch.tensor([1.0, -1.0], device=device)
    rows = torch.arange(20.0).reshape(5, 4).to(device)
    barrier()

    def score(row: torch.Tensor) -> torch.Tensor:
        columns = torch.stack([row[..., k] for k in range(4)], dim=-1)
        barrier()
        return (torch.index_select(columns, -1, picks) * signs).sum(-1)

    gradient, value = torch.func.vmap(torch.func.grad_and_value(score))(rows)
    return [gradient, value]


def equal_hyperparameters(device: str, barrier: Barrier) -> list[torch.Tensor]:
    """A learning rate equal to the momentum, then not: numbers are told apart by place, never by value."""
    tensors = []
    for lr, momentum in ((0.3, 0.3), (0.15, 0.3), (0.3, 0.15)):
        w = torch.ones(3, device=device, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=lr, momentum=momentum)
        for _ in range(3):
            (w * w).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            barrier()
        tensors.append(w)
    return tensors


def same_ops_other_wiring(device: str, barrier: Barrier) -> list[torch.Tensor]:
    """Traces of the same ops whose operands are wired differently are different traces."""
    a, b, c = (torch.full((2,), float(v), device=device) for v in (1, 2, 3))
    barrier()
    first = (a - b) * (b - c)
    barrier()
    second = (a - b) * (c - b)
    barrier()
    third = (b - a) * (b - c)
    barrier()
    return [first, second, third]


CASES: tuple[Case, ...] = (
    slice_assignment_gradient, writes_to_data, write_then_shifted_read, accumulation_into_expanded,
    equal_hyperparameters, same_ops_other_wiring,
)  # fmt: skip


class Places:
    """A barrier that synchronizes at the chosen places only, counted in the order they are passed."""

    def __init__(self, chosen: range) -> None:
        self.chosen, self.passed = chosen, 0

    def __call__(self) -> None:
        if self.passed in self.chosen:
            lazycore.sync()
        self.passed += 1


def outcome(case: Case, device: str, barrier: Barrier) -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [t.detach().cpu() for t in case(device, barrier)]


def choices(case: Case) -> Iterator[range]:
    """No place, all places, each place alone."""
    counter = Places(range(0))
    outcome(case, "cpu", counter)
    yield range(0)
    yield range(counter.passed)
    yield from (range(k, k + 1) for k in range(counter.passed))


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_aliasing(case: Case) -> None:
    """Equal to CPU without a barrier, with all, and with each alone."""
    expected = outcome(case, "cpu", Places(range(0)))
    for chosen in choices(case):
        got = outcome(case, "lazycore", Places(chosen))
        assert len(got) == len(expected)
        for position, (one, other) in enumerate(zip(got, expected, strict=True)):
            where = f"tensor {position}, barriers at {list(chosen)}"
            torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6, msg=lambda m, where=where: f"{where}: {m}")


def test_places_synchronizes_where_chosen(backend: str) -> None:
    """The barriers above are real: one chosen place is one synchronization of pending work."""
    x = torch.ones(3, device="lazycore")
    lazycore.sync()
    before = lazycore.metrics()["syncs"]
    barrier = Places(range(1, 2))
    for _ in range(3):
        x = x * 2
        barrier()
    assert lazycore.metrics()["syncs"] == before + 1, backend
