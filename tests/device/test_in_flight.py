"""Recording the next step goes on while the device still computes the last one."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import pytest
import torch

import lazycore
from lazycore.frontend.local import local


def heavy(x: torch.Tensor) -> torch.Tensor:
    """Some hundred milliseconds of products, few ops."""
    for _ in range(6):
        x = (x @ x).mul(1e-3).tanh()
    return x


@pytest.mark.parametrize("backend", ["xla"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_a_step_is_recorded_and_launched_while_the_last_one_runs() -> None:
    x = torch.rand(900, 900).to("lazycore")
    for _ in range(3):
        heavy(x).sum().item()
    start = time.perf_counter()
    first = heavy(x)
    lazycore.sync()
    whole = time.perf_counter() - start

    timeline = []
    first = launched(heavy(x))
    timeline.append(("first step launched, ready", ready(first)))
    second = heavy(x)
    timeline.append(("second step recorded, first ready", ready(first)))
    assert local.trace.node.depth > 10
    lazycore.sync()
    timeline.append(("after sync, first ready", ready(first)))
    assert timeline == [
        ("first step launched, ready", False),
        ("second step recorded, first ready", False),
        ("after sync, first ready", True),
    ], f"{timeline}, one step takes {whole:.3f} s"
    torch.testing.assert_close(first.cpu(), second.cpu(), rtol=0, atol=0)


@pytest.mark.parametrize("backend", ["xla"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_a_loss_is_there_before_the_rest_of_its_step() -> None:
    weight = torch.rand(900, 900).to("lazycore")
    for _ in range(3):
        loss, rest = step(weight)
        assert loss.item() > 0
        assert not ready(rest)
        lazycore.sync()
        assert ready(rest)
    torch.testing.assert_close(rest.cpu(), heavy(weight.cpu()), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("backend", ["xla"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_two_steps_are_in_flight_at_most_though_their_results_are_gone() -> None:
    weight = torch.rand(600, 600).to("lazycore")
    arrays = [dropping(weight) for _ in range(6)]
    lazycore.sync()
    arrays = []
    for _ in range(6):
        arrays.append(dropping(weight))
        assert all(array.is_ready() for array in arrays[:-2])
    assert not arrays[-1].is_ready()
    lazycore.sync()
    assert arrays[-1].is_ready()


def dropping(weight: torch.Tensor) -> Any:
    """Overwrite a weight as an optimizer does, so that the next step takes its memory; the jax array of a result that
    the program drops at once."""
    result = heavy(weight).sum(0)
    weight.mul_(0.5).add_(result)
    result = launched(result)
    (buffer,) = result.untyped_storage().state.value.buffers.values()  # type: ignore[attr-defined]
    return buffer.array


@pytest.mark.parametrize("backend", ["xla"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_a_launch_that_one_thread_waits_for_is_waited_for_by_others_too() -> None:
    weight = torch.rand(600, 600).to("lazycore")
    for _ in range(2):
        array = dropping(weight)
        waiting = threading.Thread(target=lazycore.sync)
        waiting.start()
        lazycore.sync()
        assert array.is_ready()
        waiting.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*fork.*:RuntimeWarning")
@pytest.mark.parametrize("backend", ["xla"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_a_forked_child_reads_what_was_in_flight() -> None:
    weight = torch.rand(900, 900).to("lazycore")
    expected = heavy(weight.cpu())
    for _ in range(2):
        loss, rest = step(weight)
        loss.item()
        assert not ready(rest)
        child = os.fork()
        if not child:
            torch.set_num_threads(1)  # PyTorch's own threads do not survive a fork either
            signal.alarm(30)  # it would wait for threads that it does not have
            os._exit(0 if torch.allclose(rest.cpu(), expected, rtol=1e-4, atol=1e-4) else 1)
        assert os.waitpid(child, 0)[1] == 0


def step(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A number, and what takes long and is not asked for."""
    loss, rest = (weight @ weight).sum(), heavy(weight)
    return loss, launched(rest)


def launched(x: torch.Tensor) -> torch.Tensor:
    """End the trace without waiting for it, as ``optimizer.step()`` does."""
    from lazycore.frontend.sync import barrier

    barrier("a test")
    return x


def ready(x: torch.Tensor) -> bool:
    """Whether the buffer of a launched tensor holds its result."""
    state = x.untyped_storage().state  # type: ignore[attr-defined]
    return all(buffer.array.is_ready() for buffer in state.value.buffers.values())
