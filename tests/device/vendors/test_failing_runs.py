"""A backend that fails while running loses nothing that was there before, and the program can go on."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
import torch
from lazycore_plugin_api import BackendError, HostBuffer, PluginError

import lazycore

from .conftest import Control


def fail_once(control: Control, at: int = 1) -> None:
    """Let the launch number ``at`` from now on raise."""
    due = control.runs + at

    def run(inner: Any, inputs: Any) -> Any:
        if control.runs == due:
            raise ValueError("the device caught fire")
        return inner.run(inputs)

    control.on_run = run


def step(weight: torch.Tensor, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    (weight * torch.tensor([1.0, 2.0]).to("lazycore")).square().sum().backward()
    optimizer.step()


@pytest.mark.usefixtures("in_use")
def test_a_first_run_that_fails_keeps_the_parameters(control: Control) -> None:
    control.donation = True
    weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]).to("lazycore"))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    lazycore.sync()
    fail_once(control)
    with pytest.raises(BackendError, match="the device caught fire"):
        step(weight, optimizer)
    assert weight.tolist() == [1.0, 2.0]
    step(weight, optimizer)
    torch.testing.assert_close(weight.detach().cpu(), torch.tensor([0.8, 0.4]))


@pytest.mark.usefixtures("in_use")
def test_the_error_names_backend_ops_and_line(control: Control) -> None:
    fail_once(control)
    x = torch.ones(2).to("lazycore").sin()
    with pytest.raises(BackendError) as caught:
        lazycore.sync()
    text = str(caught.value)
    assert "acme" in text
    assert "aten.sin.default" in text
    assert "test_failing_runs.py" in text
    assert isinstance(caught.value.__cause__, ValueError)
    with pytest.raises(BackendError):
        x.tolist()


@pytest.mark.usefixtures("in_use")
def test_values_of_a_failed_trace_raise_its_error_and_nothing_else_does(control: Control) -> None:
    base = torch.tensor([1.0, 2.0]).to("lazycore")
    old = base * 2
    lazycore.sync()
    fail_once(control)
    lost = [base + 1, old * 3]
    with pytest.raises(BackendError, match="the device caught fire"):
        lazycore.sync()
    lazycore.sync()
    for value in lost:
        for observe in (lambda x: x.tolist(), lambda x: x[0].item(), lambda x: (x + 1).cpu(), str):
            with pytest.raises(BackendError, match="the device caught fire"):
                observe(value)
    assert base.tolist() == [1.0, 2.0]
    assert old.tolist() == [2.0, 4.0]
    assert (base + old).tolist() == [3.0, 6.0]


@pytest.mark.usefixtures("in_use")
def test_printing_a_lost_value_leaves_the_program_as_it_was(control: Control) -> None:
    """An error that kept the frames it came through would keep the state that they restore when they end."""
    fail_once(control)
    lost = torch.ones(3).to("lazycore") * 2
    with pytest.raises(BackendError):
        lazycore.sync()
    keys = str(torch._C._dispatch_tls_local_exclude_set())
    held = Held()
    watched = weakref.ref(held)
    with pytest.raises(BackendError):
        show(lost, held)
    del held
    gc.collect()
    assert watched() is None
    assert str(torch._C._dispatch_tls_local_exclude_set()) == keys
    rows = torch.arange(6.0).reshape(3, 2)
    picked = torch.func.vmap(lambda row: torch.index_select(row, 0, torch.tensor([1, 1])))(rows)
    assert picked.tolist() == [[1, 1], [3, 3], [5, 5]]


class Held:
    """Something that can be seen to go."""


def show(lost: torch.Tensor, held: Held) -> str:
    return f"{held}{lost}"


@pytest.mark.usefixtures("in_use")
def test_a_lost_value_can_be_written_anew(control: Control) -> None:
    fail_once(control)
    lost = torch.ones(3).to("lazycore") * 2
    with pytest.raises(BackendError):
        lazycore.sync()
    with pytest.raises(BackendError):
        lost.add_(1)
    lost.copy_(torch.tensor([4.0, 5.0, 6.0]))
    assert lost.tolist() == [4.0, 5.0, 6.0]
    lost.fill_(2.5)
    assert lost.add_(1).tolist() == [3.5] * 3


@pytest.mark.usefixtures("in_use")
def test_the_shape_of_a_lost_value_is_still_known(control: Control) -> None:
    fail_once(control)
    lost = torch.ones(3, 2).to("lazycore").t() * 2
    with pytest.raises(BackendError):
        lazycore.sync()
    assert (lost.shape, lost.dtype, lost.device.type) == ((2, 3), torch.float32, "lazycore")
    assert lost.t().shape == (3, 2)


@pytest.mark.usefixtures("in_use")
@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_training_goes_on_after_a_failed_step(control: Control, at: int) -> None:
    control.donation = True

    def train(device: str) -> torch.Tensor:
        torch.manual_seed(0)
        model = torch.nn.Linear(2, 2).to(device)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        lazycore.sync()
        if device == "lazycore":
            fail_once(control, at)
        done = 0
        while done < 5:
            optimizer.zero_grad()
            model(torch.ones(3, 2).to(device)).square().sum().backward()
            try:
                optimizer.step()
            except BackendError:
                undo(optimizer, first=done == 0)
            else:
                done += 1
        return model.weight.detach().cpu()

    expected, got = train("cpu"), train("lazycore")
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-6)


def undo(optimizer: torch.optim.Optimizer, first: bool) -> None:
    """Take back what of a failed step did not fail: the step counts, which live on the CPU, and moments that were made
    in it, which hold nothing."""
    if first:
        optimizer.state.clear()
    for state in optimizer.state.values():
        state["step"] -= 1


@pytest.mark.usefixtures("in_use")
def test_an_interruption_while_running_is_one(control: Control) -> None:
    def interrupt(inner: Any, inputs: Any) -> Any:  # noqa: ARG001
        raise KeyboardInterrupt

    base = torch.tensor([1.0, 2.0]).to("lazycore")
    weight = base.clone()
    lazycore.sync()
    control.on_run = interrupt
    weight.add_(1)
    lost = base * 2
    with pytest.raises(KeyboardInterrupt):
        lazycore.sync()
    control.on_run = None
    assert weight.tolist() == [1.0, 2.0]
    with pytest.raises(lazycore_error(), match="KeyboardInterrupt"):
        lost.tolist()
    assert (base + weight).tolist() == [2.0, 4.0]


def lazycore_error() -> type[Exception]:
    from lazycore_plugin_api import LazycoreError

    return LazycoreError


def returns_input(inner: Any, inputs: Any) -> Any:
    outputs = list(inner.run(inputs))
    return [inputs[0], *outputs[1:]]


def returns_twice(inner: Any, inputs: Any) -> Any:
    outputs = list(inner.run(inputs))
    return [outputs[0]] * len(outputs)


def returns_too_few(inner: Any, inputs: Any) -> Any:
    return list(inner.run(inputs))[:-1]


def returns_arrays(inner: Any, inputs: Any) -> Any:
    return [b.to_host() for b in inner.run(inputs)]


def returns_other_shapes(inner: Any, inputs: Any) -> Any:
    return [HostBuffer(b.to_host().reshape(1, -1)) for b in inner.run(inputs)]


@pytest.mark.usefixtures("in_use")
@pytest.mark.parametrize(
    ("misdeed", "text"),
    [
        (returns_input, "an input, or the same buffer twice"),
        (returns_twice, "an input, or the same buffer twice"),
        (returns_too_few, "1 outputs where 2"),
        (returns_arrays, "which is no Buffer"),
        (returns_other_shapes, "is due"),
    ],
)
def test_a_broken_contract_is_named_on_the_first_run(control: Control, misdeed: Any, text: str) -> None:
    x = torch.ones(3).to("lazycore")
    kept = [x * 2.5, x + 1.5]
    control.on_run = misdeed
    with pytest.raises(PluginError, match=text):
        lazycore.sync()
    control.on_run = None
    with pytest.raises(PluginError):
        kept[0].tolist()
    assert (x * 2.5).tolist() == [2.5] * 3


@pytest.mark.usefixtures("in_use")
def test_a_failure_in_backward_s_trace_surfaces_at_the_observation(control: Control) -> None:
    x = torch.ones(2).to("lazycore").requires_grad_()
    loss = (x * 3).sum()
    lazycore.sync()
    fail_once(control)
    loss.backward()
    assert x.grad is not None
    with pytest.raises(BackendError, match="the device caught fire"):
        x.grad.tolist()
    x.grad = None
    (x * 4).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]
