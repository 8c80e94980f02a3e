"""torch.func, forward mode and torch.autograd.functional on the device."""

from __future__ import annotations

import pytest
import torch
import torch.autograd.forward_ad as forward
from torch import func
from torch.autograd import functional

DEVICE = "lazycore"


def point() -> torch.Tensor:
    return torch.tensor([1.0, 2.0], device=DEVICE)


def cubes(x: torch.Tensor) -> torch.Tensor:
    return (x**3).sum()


def test_gradients() -> None:
    x = point()
    assert func.grad(cubes)(x).tolist() == [3, 12]
    assert func.grad(func.grad(lambda t: t**3))(x[1]).item() == 12
    gradient, value = func.grad_and_value(cubes)(x)
    assert (gradient.tolist(), value.item()) == ([3, 12], 9)


def test_products() -> None:
    x = point()
    assert func.jvp(cubes, (x,), (torch.ones_like(x),))[1].item() == 15
    _, pull = func.vjp(torch.square, x)
    assert pull(torch.ones_like(x))[0].tolist() == [2, 4]
    value, linear = func.linearize(torch.square, x)
    assert (value.tolist(), linear(torch.ones_like(x)).tolist()) == ([1, 4], [2, 4])


@pytest.mark.parametrize("jacobian", [func.jacrev, func.jacfwd])
def test_jacobians(jacobian: object) -> None:
    assert jacobian(torch.square)(point()).tolist() == [[2, 0], [0, 4]]  # type: ignore[operator]


def test_hessian() -> None:
    assert func.hessian(cubes)(point()).tolist() == [[6, 0], [0, 12]]


def test_vmap() -> None:
    x = torch.arange(6.0, device=DEVICE).view(3, 2)
    assert func.vmap(lambda row: row * 2 + row.sum())(x).tolist() == [[1, 3], [9, 11], [17, 19]]
    assert func.vmap(torch.dot, in_dims=(0, None))(x, x[1]).tolist() == [3, 13, 23]
    assert func.vmap(lambda c: c.sum(), in_dims=1)(x).tolist() == [6, 9]


def test_vmap_s_randomness() -> None:
    zeros = torch.zeros(3, 4, device=DEVICE)
    same = func.vmap(lambda row: row + torch.rand(4, device=DEVICE), randomness="same")(zeros)
    assert torch.equal(same[0], same[1])
    different = func.vmap(lambda row: row + torch.rand(4, device=DEVICE), randomness="different")(zeros)
    assert not torch.equal(different[0], different[1])
    with pytest.raises(RuntimeError, match="randomness"):
        func.vmap(lambda row: row + torch.rand(4, device=DEVICE))(zeros)


def test_gradients_per_sample() -> None:
    model = torch.nn.Linear(2, 1).to(DEVICE)
    weights = {name: p.detach() for name, p in model.named_parameters()}
    x = torch.arange(6.0, device=DEVICE).view(3, 2)

    def loss(parameters: dict[str, torch.Tensor], sample: torch.Tensor) -> torch.Tensor:
        return func.functional_call(model, parameters, (sample,)).sum()

    gradients = func.vmap(func.grad(loss), in_dims=(None, 0))(weights, x)
    assert gradients["weight"].squeeze(1).tolist() == x.tolist()


def test_ensembles() -> None:
    models = [torch.nn.Linear(2, 1).to(DEVICE) for _ in range(3)]
    parameters, buffers = func.stack_module_state(models)
    x = point()
    stacked = func.vmap(lambda p, b: func.functional_call(models[0], (p, b), (x,)))(parameters, buffers)
    torch.testing.assert_close(stacked.cpu(), torch.stack([m(x) for m in models]).cpu())


def test_forward_mode() -> None:
    with forward.dual_level():
        x = forward.make_dual(point(), torch.ones(2, device=DEVICE))
        y = forward.unpack_dual(x**2 * 3)
        assert (y.primal.tolist(), y.tangent.tolist()) == ([3, 12], [6, 12])


def test_functional() -> None:
    x = point()
    assert functional.jacobian(torch.square, x).tolist() == [[2, 0], [0, 4]]
    assert functional.jacobian(torch.square, x, vectorize=True).tolist() == [[2, 0], [0, 4]]
    assert functional.hessian(cubes, x).tolist() == [[6, 0], [0, 12]]
    assert functional.vhp(cubes, x, torch.ones_like(x))[1].tolist() == [6, 12]
    assert functional.jvp(torch.square, x, torch.ones_like(x))[1].tolist() == [2, 4]


def test_linearizing_a_training_step_matches_the_engine() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1)).to(DEVICE)
    weights = {name: p.detach() for name, p in model.named_parameters()}
    x = torch.arange(6.0, device=DEVICE).view(3, 2)
    gradients = func.grad(lambda p: func.functional_call(model, p, (x,)).square().mean())(weights)
    model(x).square().mean().backward()
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(gradients[name].cpu(), parameter.grad.cpu())
