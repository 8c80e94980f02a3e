"""Where a trace ends: at every observation, at the marked places of a training step, and where it has grown too far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
import torch

import lazycore
from lazycore.frontend.local import local, tree


@pytest.fixture
def limits() -> Iterator[Any]:
    """The tree's limits, put back afterwards."""
    before = replace(tree.limits)
    yield tree.limits
    for entry in fields(before):
        setattr(tree.limits, entry.name, getattr(before, entry.name))


def pending(x: torch.Tensor) -> bool:
    return x.untyped_storage().state.trace is local.trace


def syncs() -> int:
    return int(lazycore.metrics()["syncs"])


def branch(x: torch.Tensor) -> str:
    return "positive" if (x.sum() > 0) else "negative"


OBSERVATIONS: dict[str, Callable[[torch.Tensor], Any]] = {
    "item": lambda x: x.sum().item(),
    "float": lambda x: float(x[0]),
    "int": lambda x: int(x[0]),
    "bool": lambda x: bool(x[0]),
    "if": branch,
    "index": lambda x: [10, 20, 30, 40][x[0].int()],
    "tolist": lambda x: x.tolist(),
    "cpu": lambda x: x.cpu(),
    "to": lambda x: x.to("cpu"),
    "numpy": lambda x: x.numpy(force=True),
    "print": str,
    "repr of a format": lambda x: f"{x[0]:.2f}",
    "equal": lambda x: torch.equal(x, x + 0),
    "allclose": lambda x: torch.allclose(x, x),
    "nonzero": lambda x: x.nonzero(),
    "mask": lambda x: x[x > 1],
    "unique": lambda x: x.unique(),
    "in": lambda x: 2.0 in x,
    "save": lambda x: x.clone().storage().tolist(),
    "copy to the host": lambda x: torch.empty(3).copy_(x),
    "dlpack": lambda x: torch.from_dlpack(x),
}


def content(result: Any) -> Any:
    if isinstance(result, torch.Tensor):
        return result.detach().cpu().tolist()
    if isinstance(result, str):
        return result.replace(", device='lazycore:0'", "")
    return result.tolist() if isinstance(result, np.ndarray) else result


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_an_observation_runs_what_it_waits_for(name: str) -> None:
    x = torch.tensor([1.0, 2.0, 3.0]).to("lazycore") * 1.0
    assert pending(x)
    observe = OBSERVATIONS[name]
    assert content(observe(x)) == content(observe(torch.tensor([1.0, 2.0, 3.0])))
    assert not pending(x)
    assert syncs() >= 1


NO_OBSERVATIONS: dict[str, Callable[[torch.Tensor], Any]] = {
    "shape": lambda x: (x.shape, x.dtype, x.device, x.stride(), x.numel(), len(x)),
    "views": lambda x: (x.t(), x[0], x.detach(), x.reshape(-1)),
    "iteration": list,
    "arithmetic": lambda x: (x @ x.t()).softmax(-1).sum(),
    "in place": lambda x: x.add_(1).mul_(2)[0].zero_(),
    "mask assignment": lambda x: x.masked_fill_(x > 1, 0.0),
    "boolean index assignment": lambda x: x.__setitem__(x > 1, 0.0),
    "argmax": lambda x: (x.argmax(), x.max(0), x.sort()),
    "backward": lambda x: x.clone().requires_grad_().sum().backward(),
    "where": lambda x: torch.where(x > 0, x, -x),
    "identity": lambda x: (x is x, id(x), hash(x)),
    "factories": lambda x: (torch.zeros_like(x), x.new_ones(3), torch.empty(2, device=x.device)),
}


@pytest.mark.parametrize("name", NO_OBSERVATIONS)
def test_anything_else_only_records(name: str) -> None:
    x = torch.ones(2, 3, device="lazycore") * 1.5
    NO_OBSERVATIONS[name](x)
    assert pending(x)
    assert syncs() == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda p: torch.optim.SGD(p, lr=0.1),
        lambda p: torch.optim.AdamW(p, lr=0.1),
        lambda p: torch.optim.Adagrad(p, lr=0.1, foreach=False),
    ],
)
def test_the_end_of_an_optimizer_step_is_a_barrier(make: Callable[[Any], torch.optim.Optimizer]) -> None:
    weight = torch.ones(3, device="lazycore", requires_grad=True)
    optimizer = make([weight])
    (weight * 2).sum().backward()
    assert syncs() == 0
    optimizer.step()
    assert not pending(weight)
    assert syncs() == 1


def test_sync_runs_everything_and_waits() -> None:
    x = torch.ones(3, device="lazycore") * 2
    lazycore.sync()
    assert not pending(x)
    lazycore.sync()
    assert syncs() == 1, "nothing was recorded in between"


def test_the_devices_own_synchronize_is_one_too() -> None:
    x = torch.ones(3, device="lazycore") * 2
    torch.lazycore.synchronize()  # type: ignore[attr-defined]
    assert not pending(x)


def test_a_copy_to_the_device_ends_a_trace_that_has_grown(limits: Any) -> None:
    limits.copy_ops = 4
    x = torch.ones(3, device="lazycore")
    for _ in range(2):
        x = x + 1
    torch.ones(3).to("lazycore")
    assert pending(x), "three ops are too few"
    x = x + 1
    torch.ones(3).to("lazycore")
    assert not pending(x)


@pytest.mark.parametrize("name", ["glu", "histc"])
def test_decomposes_in_the_middle_of_a_call_that_hides_tracing(limits: Any, name: str) -> None:
    """`torch.tensor` copies to the device with Python's keys left out, and the copy ends the trace."""
    ops = {"glu": torch.nn.functional.glu, "histc": lambda x: torch.histc(x, 3, 0, 3)}
    limits.copy_ops = 1
    x = torch.arange(6.0)
    y = ops[name](x.to("lazycore"))
    torch.tensor([], device="lazycore")
    assert not pending(y)
    assert not lazycore.metrics()["fallbacks"]
    torch.testing.assert_close(y.cpu(), ops[name](x))


def test_a_copy_to_the_device_inside_backward_does_not(limits: Any) -> None:
    limits.copy_ops = 1

    class Uploading(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:  # noqa: ARG004
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:  # noqa: ARG004
            return grad * torch.tensor([2.0, 3.0]).to("lazycore")

    x = torch.ones(2).to("lazycore").requires_grad_()
    Uploading.apply(x * 1.5).sum().backward()
    assert syncs() == 0
    assert x.grad is not None
    assert x.grad.tolist() == [3.0, 4.5]


def test_so_many_operations_are_a_barrier(limits: Any) -> None:
    limits.hard_ops = 50
    x = torch.zeros(2, device="lazycore")
    for i in range(500):
        x = x + float(i)
        assert local.trace.node.depth <= 50
    assert syncs() >= 9
    assert x.tolist() == [float(sum(range(500)))] * 2


def test_so_many_bytes_are_a_barrier(limits: Any) -> None:
    limits.nbytes = 10 * 4000
    x = torch.zeros(1000, device="lazycore")
    for _ in range(50):
        x = x + 1.5
        assert local.trace.node.nbytes <= 11 * 4000
    assert syncs() >= 4
    assert x[0].item() == 75.0


def settles(rounds: Callable[[], object], limits: Any, n: int = 60) -> list[int]:
    """Compilations after each of ``n`` rounds without an observation."""
    limits.soft_ops, limits.hard_ops = 40, 400
    counts = []
    for _ in range(n):
        rounds()
        assert local.trace.node.depth <= 400
        counts.append(lazycore.metrics()["compiles"])
    return counts


def test_a_loop_without_any_barrier_settles(limits: Any) -> None:
    x = torch.ones(4, device="lazycore")
    state = [torch.zeros(4, device="lazycore")]

    def body() -> None:
        state[0] = state[0] * 0.5 + x.sin().exp() - x.cos() * 0.25

    counts = settles(body, limits)
    assert counts[-1] == counts[30] <= 3, counts
    expected = torch.zeros(4)
    one = torch.ones(4)
    for _ in range(60):
        expected = expected * 0.5 + one.sin().exp() - one.cos() * 0.25
    torch.testing.assert_close(state[0].cpu(), expected)


def test_sgd_by_hand_settles(limits: Any) -> None:
    weight = torch.ones(3, device="lazycore", requires_grad=True)
    data = torch.tensor([1.0, 2.0, 3.0]).to("lazycore")

    def body() -> None:
        ((weight * data).sum() - 1).square().backward()
        with torch.no_grad():
            weight.sub_(weight.grad, alpha=0.01)
            weight.grad = None

    counts = settles(body, limits)
    assert counts[-1] == counts[30] <= 4, counts
    assert (weight * data).sum().item() == pytest.approx(1.0, abs=1e-3)


def test_clustering_settles(limits: Any) -> None:
    points = torch.cat([torch.randn(20, 2) * 0.1 + center for center in (-2.0, 0.0, 2.0)]).to("lazycore")
    centers = points[::20].clone()

    def body() -> None:
        nearest = torch.cdist(points, centers).argmin(1)
        members = torch.nn.functional.one_hot(nearest, 3).to(points.dtype)
        centers.copy_(members.t() @ points / members.sum(0).clamp(min=1).unsqueeze(1))

    counts = settles(body, limits)
    assert counts[-1] == counts[30], counts
    torch.testing.assert_close(centers.sum(1).cpu(), torch.tensor([-4.0, 0.0, 4.0]), atol=0.3, rtol=0)


def test_evaluation_settles(limits: Any) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)).to("lazycore").eval()
    correct = torch.zeros((), dtype=torch.int64, device="lazycore")
    seen = 0

    def body() -> None:
        nonlocal seen
        batch, labels = torch.randn(5, 4).to("lazycore"), torch.randint(0, 3, (5,)).to("lazycore")
        with torch.no_grad():
            correct.add_((model(batch).argmax(1) == labels).sum())
        seen += 5

    counts = settles(body, limits)
    assert counts[-1] == counts[30], counts
    assert 0 <= correct.item() <= seen


def test_an_inner_loop_of_varying_length_stays_bounded(limits: Any) -> None:
    x = torch.ones(2, device="lazycore")
    limits.soft_ops, limits.hard_ops = 30, 60
    for i in range(40):
        for _ in range(i % 7):
            x = x * 1.25 - 0.25
        x = x.tanh()
        assert local.trace.node.depth <= 60
    assert torch.isfinite(x).all()
