"""State dicts, copies, and assignments between a module on the CPU and one on the device."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

DEVICE = "lazycore"


def trained() -> tuple[nn.Module, torch.optim.Optimizer]:
    """A model on the device, and an optimizer with state."""
    module = nn.Linear(3, 4).to(DEVICE)
    optimizer = torch.optim.Adam(module.parameters())
    module(torch.ones(1, 3, device=DEVICE)).sum().backward()
    optimizer.step()
    return module, optimizer


def equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.equal(a.detach().cpu(), b.detach().cpu())


@pytest.mark.parametrize(("source", "target"), [("cpu", DEVICE), (DEVICE, "cpu"), (DEVICE, DEVICE)])
def test_load_state_dict_between_devices(source: str, target: str) -> None:
    a, b = nn.Linear(3, 4).to(source), nn.Linear(3, 4).to(target)
    b.load_state_dict(a.state_dict())
    assert equal(a.weight, b.weight)
    assert b.weight.device.type == torch.device(target).type
    with torch.no_grad():
        b.weight.add_(1)
    assert not equal(a.weight, b.weight)


def test_load_state_dict_by_assignment() -> None:
    with torch.device("meta"):
        module = nn.Linear(3, 4)
    state = nn.Linear(3, 4).to(DEVICE).state_dict()
    module.load_state_dict(state, assign=True)
    assert equal(module.weight, state["weight"])
    assert module(torch.ones(1, 3, device=DEVICE)).device.type == DEVICE


def test_a_state_dict_on_the_cpu_is_a_snapshot() -> None:
    module, optimizer = trained()
    snapshot = {name: t.cpu() for name, t in module.state_dict().items()}
    before = {name: t.clone() for name, t in snapshot.items()}
    for _ in range(3):
        optimizer.step()
    assert all(torch.equal(snapshot[name], before[name]) for name in before)


def test_optimizer_state_loads_onto_the_parameters_device() -> None:
    module, optimizer = trained()
    on_cpu = torch.optim.Adam(nn.Linear(3, 4).parameters())
    on_cpu.load_state_dict(optimizer.state_dict())
    assert on_cpu.state[on_cpu.param_groups[0]["params"][0]]["exp_avg"].device.type == "cpu"
    back = torch.optim.Adam(module.parameters())
    back.load_state_dict(on_cpu.state_dict())
    assert back.state[module.weight]["exp_avg"].device.type == DEVICE
    back.step()
    optimizer.step()
    assert equal(back.state[module.weight]["exp_avg"], optimizer.state[module.weight]["exp_avg"])


def test_deepcopy_of_model_and_optimizer() -> None:
    module, optimizer = trained()
    twin, twin_optimizer = copy.deepcopy((module, optimizer))
    assert twin_optimizer.param_groups[0]["params"][0] is twin.weight
    assert twin.weight.device.type == DEVICE
    assert equal(twin.weight, module.weight)
    before = module.weight.detach().cpu()
    twin.weight.grad = torch.ones_like(twin.weight)
    twin_optimizer.step()
    assert not equal(twin.weight, module.weight)
    assert torch.equal(module.weight.detach().cpu(), before)


def test_deepcopy_keeps_shared_storages_shared() -> None:
    a = torch.arange(6.0, device=DEVICE)
    b, c = copy.deepcopy((a, a[2:]))
    c.add_(1)
    assert b.tolist() == [0, 1, 3, 4, 5, 6]
    assert a.tolist() == [0, 1, 2, 3, 4, 5]


def test_deepcopy_of_a_pending_value_and_of_a_result() -> None:
    a = torch.ones(3, device=DEVICE) * 2
    assert copy.deepcopy(a).tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(torch.ones(2, device=DEVICE, requires_grad=True) * 2)


def test_copy_shares_the_storage() -> None:
    a = torch.ones(3, device=DEVICE)
    copy.copy(a).add_(1)
    assert a.tolist() == [2, 2, 2]


def test_averaged_model() -> None:
    module, optimizer = trained()
    average = torch.optim.swa_utils.AveragedModel(module)
    average.update_parameters(module)
    first = module.weight.detach().cpu()
    optimizer.step()
    average.update_parameters(module)
    torch.testing.assert_close(average.module.weight.detach().cpu(), (first + module.weight.detach().cpu()) / 2)


@pytest.mark.parametrize(("here", "there"), [("cpu", DEVICE), (DEVICE, "cpu")])
def test_data_takes_a_tensor_of_the_other_device(here: str, there: str) -> None:
    parameter = nn.Parameter(torch.ones(3, device=here))
    alias = parameter
    parameter.data = torch.zeros(2, device=there)
    assert alias is parameter
    assert (parameter.device.type, parameter.tolist()) == (torch.device(there).type, [0, 0])
    (parameter * 3).sum().backward()
    assert parameter.grad is not None
    assert parameter.grad.tolist() == [3, 3]


def test_data_of_a_result_cannot_cross() -> None:
    result = torch.ones(3, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match=r"x = x\.to\('lazycore:0'\)"):
        result.data = torch.zeros(3, device=DEVICE)


def test_parameters_as_one_vector() -> None:
    module, _ = trained()
    vector = nn.utils.parameters_to_vector(module.parameters())
    nn.utils.vector_to_parameters(vector * 0 + 1, module.parameters())
    assert module.weight.sum().item() == 12


def test_gradient_clipping() -> None:
    module, _ = trained()
    expected = torch.cat([p.grad.cpu().flatten() for p in module.parameters()]).norm()
    total = nn.utils.clip_grad_norm_(module.parameters(), 0.5)
    torch.testing.assert_close(total.cpu(), expected)
    clipped = torch.cat([p.grad.cpu().flatten() for p in module.parameters()])
    torch.testing.assert_close(clipped.norm(), torch.tensor(0.5))
    nn.utils.clip_grad_value_(module.parameters(), 0.01)
    assert max(p.grad.abs().max().item() for p in module.parameters()) <= 0.0101
