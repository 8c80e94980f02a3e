"""Hooks of every kind run, and an exception inside one reaches the program as it was raised."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint

DEVICE = "lazycore"
Arm = Callable[[Callable[..., Any]], Callable[[], object]]


class Trouble(Exception):
    """What a hook of the program raises; it has an attribute of its own."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


def trouble(*_: Any, **__: Any) -> None:
    raise Trouble("from a hook", 7)


def leaf() -> torch.Tensor:
    return torch.ones(2, device=DEVICE, requires_grad=True)


def on_result(hook: Callable[..., Any]) -> Callable[[], object]:
    y = leaf() * 2
    y.register_hook(hook)
    return y.sum().backward


def on_leaf(hook: Callable[..., Any]) -> Callable[[], object]:
    x = leaf()
    x.register_hook(hook)
    return x.sum().backward


def after_accumulation(hook: Callable[..., Any]) -> Callable[[], object]:
    x = leaf()
    x.register_post_accumulate_grad_hook(hook)
    return x.sum().backward


def on_node(hook: Callable[..., Any]) -> Callable[[], object]:
    y = leaf() * 2
    y.grad_fn.register_hook(hook)
    return y.sum().backward


def before_node(hook: Callable[..., Any]) -> Callable[[], object]:
    y = leaf() * 2
    y.grad_fn.register_prehook(hook)
    return y.sum().backward


def on_several(hook: Callable[..., Any]) -> Callable[[], object]:
    a, b = leaf(), leaf()
    torch.autograd.graph.register_multi_grad_hook((a, b), hook)
    return (a * b).sum().backward


def on_unpacking(hook: Callable[..., Any]) -> Callable[[], object]:
    x = leaf()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, hook):
        y = (x * x).sum()
    return y.backward


def on_packing(hook: Callable[..., Any]) -> Callable[[], object]:
    def multiply() -> None:
        x = leaf()
        with torch.autograd.graph.saved_tensors_hooks(hook, lambda t: t):
            x * x

    return multiply


def of_module(register: str) -> Arm:
    def arm(hook: Callable[..., Any]) -> Callable[[], object]:
        module = torch.nn.Linear(2, 2).to(DEVICE)
        getattr(module, register)(hook)
        return lambda: module(torch.ones(1, 2, device=DEVICE, requires_grad=True)).sum().backward()

    return arm


def in_function(hook: Callable[..., Any]) -> Callable[[], object]:
    class Hooked(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:  # noqa: ARG004
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:  # noqa: ARG004
            hook(grad)
            return grad

    return Hooked.apply(leaf()).sum().backward


def in_recomputation(hook: Callable[..., Any]) -> Callable[[], object]:
    calls: list[int] = []

    def block(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        if len(calls) > 1:
            hook(x)
        return x.exp() * x

    return checkpoint(block, leaf(), use_reentrant=True).sum().backward


PLACES: dict[str, Arm] = {
    "result": on_result, "leaf": on_leaf, "accumulation": after_accumulation, "node": on_node,
    "before node": before_node,
    "several": on_several, "unpacking": on_unpacking, "packing": on_packing, "function": in_function,
    "recomputation": in_recomputation,
    **{name: of_module(f"register_{name}") for name in (
        "forward_hook", "forward_pre_hook", "full_backward_hook", "full_backward_pre_hook"
    )},
}  # fmt: skip
KINDS = [
    KeyboardInterrupt, SystemExit, StopIteration, GeneratorExit, AssertionError, KeyError, SystemError, MemoryError
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_hooks_run(place: str) -> None:
    seen: list[Any] = []

    def hook(*args: Any) -> Any:
        seen.append(args)
        return args[0] if place in ("unpacking", "packing") else None

    PLACES[place](hook)()
    assert seen


@pytest.mark.parametrize("place", PLACES)
def test_an_exception_in_a_hook_reaches_the_program(place: str) -> None:
    run = PLACES[place](trouble)
    with pytest.raises(Trouble, match="from a hook") as found:
        run()
    assert found.value.code == 7
    assert any(frame.name == "trouble" for frame in traceback.extract_tb(found.value.__traceback__))
    x = leaf()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3, 3], "the device works on"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_exception_keeps_its_type(kind: type[BaseException]) -> None:
    def hook(_: torch.Tensor) -> None:
        raise kind("mine")

    with pytest.raises(kind, match="mine") as found:
        on_result(hook)()
    assert type(found.value) is kind


def test_causes_and_contexts_are_kept() -> None:
    def chained(_: torch.Tensor) -> None:
        try:
            raise KeyError("cause")
        except KeyError as error:
            raise ValueError("effect") from error

    def nested(_: torch.Tensor) -> None:
        try:
            raise KeyError("context")
        except KeyError:
            raise ValueError("effect")  # noqa: B904 - the point

    with pytest.raises(ValueError, match="effect") as found:
        on_result(chained)()
    assert isinstance(found.value.__cause__, KeyError)
    with pytest.raises(ValueError, match="effect") as found:
        on_result(nested)()
    assert isinstance(found.value.__context__, KeyError)


@pytest.mark.parametrize(
    "call", [lambda y, _: torch.autograd.backward(y), torch.autograd.grad, lambda y, _: y.backward(gradient=y.detach())]
)
def test_every_entry_to_the_engine(call: Callable[[torch.Tensor, torch.Tensor], object]) -> None:
    x = leaf()
    y = x * 2
    y.register_hook(trouble)
    with pytest.raises(Trouble):
        call(y.sum(), x)


def test_an_exception_inside_a_nested_pass_can_be_caught() -> None:
    def hook(_: torch.Tensor) -> None:
        with torch.enable_grad():
            run = on_result(trouble)
        with pytest.raises(Trouble):
            run()

    x = leaf()
    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_failed_pass_can_be_repeated() -> None:
    x = leaf()
    y = x * 2
    handle = y.register_hook(trouble)
    with pytest.raises(Trouble):
        y.sum().backward(retain_graph=True)
    handle.remove()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_hooks_that_change_gradients() -> None:
    x = leaf()
    x.register_hook(lambda grad: grad * 3)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [6, 6]


def test_an_optimizer_step_inside_the_pass() -> None:
    x = leaf()
    optimizer = torch.optim.SGD([x], 0.5)

    def step(_: torch.Tensor) -> None:
        optimizer.step()
        optimizer.zero_grad()

    x.register_post_accumulate_grad_hook(step)
    for _ in range(3):
        (x * 2).sum().backward()
    assert x.tolist() == [-2, -2]


@pytest.mark.parametrize("pin", [False, True])
def test_saved_tensors_kept_on_the_cpu(pin: bool) -> None:
    x = leaf()
    with torch.autograd.graph.save_on_cpu(pin_memory=pin):
        y = (x.sin() * x).sum()
    y.backward()
    torch.testing.assert_close(x.grad.cpu(), torch.ones(2).sin() + torch.ones(2).cos())
