"""Who holds a value: copies keep what they copied, and a buffer is overwritten only when nobody else has it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import lazycore
from lazycore.runtime import executor

BOTH = pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)

COPIES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "clone": lambda x: x.clone(),
    "copy_": lambda x: torch.empty_like(x).copy_(x),
    "to": lambda x: x.to(x.dtype, copy=True),
    "contiguous": lambda x: x.t().contiguous(),
    "deepcopy": lambda x: copy.deepcopy(x.detach()),
    "cpu": lambda x: x.cpu(),
    "plus zero": lambda x: x + 0,
    "stack": lambda x: torch.stack([x])[0],
    "reshape": lambda x: x.t().reshape(-1),
    "new tensor": lambda x: x.new_tensor(x.tolist()),
    "slice": lambda x: x[:1].clone(),
    "numpy": lambda x: torch.from_numpy(x.numpy(force=True)),
}


@BOTH
@pytest.mark.parametrize("settled", [False, True], ids=("pending", "settled"))
@pytest.mark.parametrize("name", COPIES)
def test_a_copy_and_its_original_go_separate_ways(name: str, settled: bool) -> None:
    expected = torch.arange(4.0).reshape(2, 2)
    x, y = expected.to("lazycore") + 0.0, None
    if settled:
        lazycore.sync()
    y = COPIES[name](x)
    kept = COPIES[name](expected).clone()
    for _ in range(3):
        x.add_(1.5)
        lazycore.sync()
    torch.testing.assert_close(y.cpu(), kept)
    changed = x.cpu()
    for _ in range(3):
        y.mul_(-2.5)
        lazycore.sync()
    torch.testing.assert_close(x.cpu(), changed)
    torch.testing.assert_close(x.cpu(), expected + 4.5)
    torch.testing.assert_close(y.cpu(), kept * -15.625)


@BOTH
def test_another_name_is_the_same_tensor() -> None:
    x = torch.ones(2).to("lazycore")
    y = x
    detached = x.detach()
    view = x.view(2, 1)
    for _ in range(3):
        x.add_(1)
        lazycore.sync()
    assert y.tolist() == detached.tolist() == view.flatten().tolist() == [4.0, 4.0]


@BOTH
def test_copies_taken_each_step_keep_their_step() -> None:
    weight = torch.zeros(3).to("lazycore")
    history = []
    for _ in range(6):
        weight.add_(1)
        history.append(weight.clone())
        lazycore.sync()
    assert [h[0].item() for h in history] == [1, 2, 3, 4, 5, 6]


@BOTH
def test_an_average_of_weights_and_the_weights() -> None:
    def train(device: str) -> list[torch.Tensor]:
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 2).to(device)
        average = torch.optim.swa_utils.AveragedModel(model)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        best = copy.deepcopy(model.state_dict())
        for i in range(6):
            optimizer.zero_grad()
            model(torch.ones(4, 3, device=device) * i).square().sum().backward()
            optimizer.step()
            average.update_parameters(model)
            if i == 2:
                best = copy.deepcopy(model.state_dict())
            if i == 3:
                saved = {k: v.clone() for k, v in optimizer.state[model.weight].items() if torch.is_tensor(v)}
        states = [model.weight, average.module.weight, best["weight"], saved["exp_avg"]]
        return [t.detach().cpu() for t in states]

    for got, expected in zip(train("lazycore"), train("cpu"), strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-6)


@BOTH
def test_a_cpu_tensor_is_not_shared_with_the_device() -> None:
    source = torch.ones(3)
    x = source.to("lazycore")
    source.fill_(7)
    assert x.tolist() == [1.0, 1.0, 1.0]
    back = x.cpu()
    back.fill_(9)
    array = x.numpy(force=True)
    array[:] = 8
    for _ in range(3):
        x.add_(1)
        lazycore.sync()
    assert x.tolist() == [4.0, 4.0, 4.0]
    assert back.tolist() == [9.0] * 3
    assert np.array_equal(array, [8.0] * 3)


@BOTH
def test_the_same_result_twice_is_two_storages() -> None:
    x = torch.ones(3).to("lazycore")
    a, b = torch.zeros_like(x), torch.zeros_like(x)
    c = x.clone()
    for _ in range(3):
        a.add_(1)
        c.mul_(2)
        lazycore.sync()
    assert (a.tolist(), b.tolist(), c.tolist(), x.tolist()) == ([3.0] * 3, [0.0] * 3, [8.0] * 3, [1.0] * 3)


@pytest.fixture
def donated(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many plan inputs each run gave away."""
    counts: list[int] = []
    give = executor._give_away

    def count(step: Any, slots: Any, arguments: Any, exclusive: Any) -> None:
        counts.append(sum(d.is_plan_input and d.slot in exclusive for d in step.donations))
        give(step, slots, arguments, exclusive)

    monkeypatch.setattr(executor, "_give_away", count)
    return counts


XLA = pytest.mark.parametrize("backend", ["xla"], indirect=True)


@XLA
def test_what_is_overwritten_is_donated_from_the_second_run_on(donated: list[int]) -> None:
    x = torch.ones(1000).to("lazycore")
    for _ in range(4):
        x.mul_(1.5)
        lazycore.sync()
    assert donated == [0, 1, 1, 1]
    assert x[0].item() == 1.5**4


@XLA
def test_what_another_storage_holds_is_not_donated(donated: list[int]) -> None:
    x = torch.ones(1000).to("lazycore")
    for _ in range(3):
        x.mul_(1.5)
        lazycore.sync()
    copied = x.clone()
    lazycore.sync()
    donated.clear()
    x.mul_(1.5)
    lazycore.sync()
    assert donated == [0]
    assert copied[0].item() == 1.5**3
    del copied
    x.mul_(1.5)
    lazycore.sync()
    assert donated == [0, 1]
    assert x[0].item() == 1.5**5


@XLA
def test_what_a_program_reads_later_is_not_donated(donated: list[int]) -> None:
    x = torch.ones(1000).to("lazycore")
    for _ in range(4):
        before = x.clone()
        x.mul_(1.5)
        difference = x - before
        lazycore.sync()
    assert difference[0].item() == pytest.approx(1.5**4 - 1.5**3)
    assert before[0].item() == 1.5**3
    assert set(donated) <= {0, 1}


@XLA
def test_parameters_moments_and_gradients_are_donated(donated: list[int]) -> None:
    model = torch.nn.Linear(8, 8).to("lazycore")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    data = torch.randn(4, 8).to("lazycore")
    for _ in range(6):
        optimizer.zero_grad()
        model(data).square().mean().backward()
        optimizer.step()
    # Weight and bias, and two moments of each.
    assert max(donated) >= 6, donated


@XLA
def test_an_open_trace_of_the_value_is_a_holder(donated: list[int]) -> None:
    x = torch.ones(10).to("lazycore")
    twin = x.clone()
    for _ in range(3):
        x.mul_(2)
        lazycore.sync()
    assert twin.tolist() == [1.0] * 10
    assert x.tolist() == [8.0] * 10
    assert donated


@XLA
def test_what_is_overwritten_stays_where_it_is() -> None:
    """The gradient has the parameter's type and is computed first; it must not take the parameter's memory."""
    weight = torch.zeros(32, 32).to("lazycore")
    places = set()
    for step in range(6):
        gradient = torch.full((32, 32), float(step)).to("lazycore") * 2
        # Two writes: what the storage holds last is what replaces it.
        weight.mul_(1.0)
        weight.sub_(gradient)
        lazycore.sync()
        # Neither the first run of a plan nor an upload's buffer is overwritten.
        if step > 2:
            places.add(_address(weight))
            assert _address(gradient) not in places
    assert len(places) == 1
    assert weight[0, 0].item() == -2.0 * sum(range(6))


def _address(x: torch.Tensor) -> int:
    (buffer,) = x.untyped_storage().state.value.buffers.values()  # type: ignore[attr-defined]
    return int(buffer.array.unsafe_buffer_pointer())
