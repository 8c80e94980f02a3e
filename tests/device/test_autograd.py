"""Autograd on the device: graphs, leaves, versions, modes."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint

DEVICE = "lazycore"


def leaf(*values: float, device: str = DEVICE) -> torch.Tensor:
    return torch.tensor(values, device=device, requires_grad=True)


class Exp(torch.autograd.Function):
    """exp with its own backward."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        (y,) = ctx.saved_tensors
        return grad * y


class InPlace(torch.autograd.Function):
    """x + 1 in place, with a gradient of 2."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:  # noqa: ARG004
        return grad * 2


class Nested(torch.autograd.Function):
    """x**2, whose backward runs a backward of its own."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            inner = x.detach().requires_grad_()
            (inner**2).sum().backward()
        assert inner.grad is not None
        return grad * inner.grad


def test_double_backward() -> None:
    x = leaf(2.0, 3.0)
    (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert (first.tolist(), second.tolist()) == ([12, 27], [12, 18])


def test_gradient_penalty() -> None:
    def gradient(device: str) -> torch.Tensor:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).to(device)
        x = torch.ones(2, 3, device=device, requires_grad=True)
        (g,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
        (g.norm(2, dim=1) - 1).square().mean().backward()
        return model[0].weight.grad.cpu()

    torch.testing.assert_close(gradient(DEVICE), gradient("cpu"))


def test_retaining_and_freeing_graphs() -> None:
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4, 8]
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    z = x * 2
    z.retain_grad()
    z.sum().backward()
    assert z.grad.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("function", "value", "gradient"), [(Exp, 0.0, 1.0), (Nested, 3.0, 6.0), (InPlace, 1.0, 2.0)], ids=str
)
def test_custom_functions(function: Any, value: float, gradient: float) -> None:
    x = leaf(value, value)
    function.apply(x * 1).sum().backward()
    assert x.grad.tolist() == [gradient, gradient]


def test_a_custom_function_s_mistakes() -> None:
    class TooMany(Exp):
        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> Any:  # noqa: ARG004
            return grad, grad

    class WrongShape(Exp):
        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> Any:  # noqa: ARG004
            return grad[:1].expand(3)

    for function, message in ((TooMany, "incorrect number of gradients"), (WrongShape, "invalid gradient at index 0")):
        with pytest.raises(RuntimeError, match=message):
            function.apply(leaf(1.0, 1.0)).sum().backward()


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpointing_replays_the_random_numbers(reentrant: bool) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 2)).to(DEVICE)

    def gradients(forward: Callable[[torch.Tensor], torch.Tensor]) -> list[torch.Tensor]:
        model.zero_grad()
        torch.manual_seed(1)
        forward(torch.ones(3, 4, device=DEVICE, requires_grad=True)).sum().backward()
        return [p.grad.cpu() for p in model.parameters()]

    plain = gradients(model)
    replayed = gradients(lambda x: checkpoint(model, x, use_reentrant=reentrant))
    torch.testing.assert_close(replayed, plain)


def test_graphs_that_cross_the_border() -> None:
    x = torch.ones(2, requires_grad=True)
    ((x.to(DEVICE) * 2).cpu() * 3).sum().backward()
    assert (x.grad.device.type, x.grad.tolist()) == ("cpu", [6, 6])
    y = leaf(1.0, 1.0)
    (y.cpu() * 2).to(DEVICE).sum().backward()
    assert (y.grad.device.type, y.grad.tolist()) == (DEVICE, [2, 2])


def test_writes_that_autograd_forbids() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        x.add_(1)
    y = x.exp()
    z = y * 1
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        (z + y.detach()).sum().backward()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        x[0] = 5


def test_versions_count_as_on_the_cpu() -> None:
    def versions(device: str) -> list[int]:
        x = torch.ones(4, device=device)
        counts = [x._version]
        writes: list[Callable[[], object]] = [
            lambda: x.add_(1), lambda: x.copy_(torch.zeros(4)), x.zero_, lambda: x.fill_(2), x.uniform_,
            lambda: x[0].mul_(3), lambda: x[1:].copy_(torch.ones(3, device=device)), lambda: x.detach().add_(1),
            lambda: torch.mul(x, 2, out=x), lambda: torch._foreach_add_([x], 1.0), lambda: x.data.add_(1),
            lambda: x.index_put_((torch.tensor([0]),), torch.tensor(1.0)), lambda: x.masked_fill_(x > 0, 1),
        ]  # fmt: skip
        for write in writes:
            write()
            counts.append(x._version)
        return counts

    assert versions(DEVICE) == versions("cpu")


def test_gradients_of_views_and_in_place_writes() -> None:
    def gradient(device: str) -> list[float]:
        x = torch.arange(6.0, device=device, requires_grad=True)
        y = x * 1
        y[2:4].mul_(3)
        y.view(2, 3)[1].add_(y[0])
        y[::2] = y[1::2] * 2
        y.sum().backward()
        return x.grad.tolist()

    assert gradient(DEVICE) == gradient("cpu")


def test_grad_modes() -> None:
    x = leaf(1.0, 2.0)
    with torch.no_grad():
        assert not (x * 2).requires_grad
        x.add_(1)
    assert x.tolist() == [2, 3]
    with torch.inference_mode():
        y = torch.ones(2, device=DEVICE) * 2
        moved = torch.ones(2).to(DEVICE)
        y.add_(1)
        assert (y.is_inference(), moved.is_inference(), y.view(2).is_inference()) == (True, True, True)
    assert y.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        (x * y).sum().backward()
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        y.add_(1)


def test_assigning_gradients() -> None:
    x = leaf(1.0, 2.0)
    x.grad = torch.ones(2, device=DEVICE)
    x.sum().backward()
    assert x.grad.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="assign a gradient with device type 'cpu'"):
        x.grad = torch.ones(2)
    with pytest.raises(RuntimeError, match="assign a gradient of size"):
        x.grad = torch.ones(3, device=DEVICE)


def test_anomaly_mode_names_the_forward_op() -> None:
    with warnings.catch_warnings(), torch.autograd.detect_anomaly():
        warnings.simplefilter("ignore")
        y = leaf(-1.0).sqrt()
        with pytest.raises(RuntimeError, match="SqrtBackward0"):
            y.sum().backward()


@pytest.mark.parametrize("fast", [False, True])
def test_gradcheck(fast: bool) -> None:
    x = torch.randn(2, 3, dtype=torch.float64, device=DEVICE, requires_grad=True)
    w = torch.randn(2, 3, dtype=torch.float64, device=DEVICE, requires_grad=True)
    assert torch.autograd.gradcheck(torch.nn.functional.linear, (x, w), fast_mode=fast)
    assert torch.autograd.gradgradcheck(lambda t: (t.sin() * t).sum(), (x,), fast_mode=fast)


def test_accumulated_gradients_are_separate_tensors() -> None:
    x = leaf(1.0, 2.0)
    x.sum().backward()
    first = x.grad
    kept = copy.deepcopy(first)
    (x * 2).sum().backward()
    assert x.grad is first
    assert (first.tolist(), kept.tolist()) == ([3, 3], [1, 1])
