"""Moving modules between the CPU and the device: what the program holds stays what it holds."""

from __future__ import annotations

import weakref

import pytest
import torch
from torch import nn

DEVICE = "lazycore"


class Tied(nn.Module):
    """An embedding and a head that share one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(5, 3)
        self.head = nn.Linear(3, 5, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.embed(tokens))


class Buffers(nn.Module):
    """One buffer of each kind."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("counts", torch.arange(4))
        self.register_buffer("scratch", torch.ones(2), persistent=False)
        self.register_buffer("absent", None)


def devices(module: nn.Module) -> set[str]:
    return {t.device.type for t in [*module.parameters(), *module.buffers()]}


@pytest.mark.parametrize("target", [DEVICE, "lazycore:0", torch.device(DEVICE)])
def test_parameters_keep_identity_both_ways(target: str | torch.device) -> None:
    module = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    before = list(module.parameters())
    values = [p.detach().clone() for p in before]
    assert module.to(target) is module
    assert devices(module) == {DEVICE}
    assert all(p is q and type(p) is nn.Parameter for p, q in zip(module.parameters(), before, strict=True))
    module.cpu()
    assert devices(module) == {"cpu"}
    assert all(p is q for p, q in zip(module.parameters(), before, strict=True))
    assert all(torch.equal(p, v) for p, v in zip(before, values, strict=True))


def test_tied_weights_stay_tied() -> None:
    module = Tied().to(DEVICE)
    assert module.head.weight is module.embed.weight
    module.to(torch.float64)
    assert module.head.weight is module.embed.weight
    module.cpu()
    assert module.head.weight is module.embed.weight
    module.to(DEVICE, torch.float32)
    assert module.head.weight is module.embed.weight
    assert module.head.weight.dtype is torch.float32


def test_tied_weights_train_as_on_the_cpu() -> None:
    def train(device: str) -> torch.Tensor:
        torch.manual_seed(0)
        module = Tied().to(device)
        optimizer = torch.optim.SGD(module.parameters(), 0.1)
        tokens = torch.tensor([0, 1, 4], device=device)
        for _ in range(3):
            optimizer.zero_grad()
            module(tokens).square().sum().backward()
            optimizer.step()
        return module.embed.weight.detach().cpu()

    torch.testing.assert_close(train(DEVICE), train("cpu"))


def test_an_optimizer_made_before_the_move_trains_the_moved_model() -> None:
    module = nn.Linear(3, 4)
    optimizer = torch.optim.Adam(module.parameters())
    module.to(DEVICE)
    before = module.weight.detach().cpu()
    module(torch.ones(1, 3, device=DEVICE)).sum().backward()
    optimizer.step()
    assert not torch.equal(module.weight.detach().cpu(), before)
    assert optimizer.param_groups[0]["params"][0] is module.weight


def test_gradients_move_and_keep_identity() -> None:
    module = nn.Linear(3, 4)
    module(torch.ones(1, 3)).sum().backward()
    grad, value = module.weight.grad, module.weight.grad.clone()
    module.to(DEVICE)
    assert module.weight.grad is grad
    assert grad.device.type == DEVICE
    module.cpu()
    assert module.weight.grad is grad
    assert torch.equal(grad, value)


def test_attributes_hooks_and_weak_references_stay() -> None:
    module = nn.Linear(3, 4)
    calls: list[str] = []
    module.weight.note = "mine"  # type: ignore[attr-defined]
    module.weight.register_hook(lambda _: calls.append("grad"))
    module.weight.register_post_accumulate_grad_hook(lambda _: calls.append("accumulated"))
    reference = weakref.ref(module.weight)
    module.to(DEVICE)
    module(torch.ones(1, 3, device=DEVICE)).sum().backward()
    assert calls == ["grad", "accumulated"]
    assert module.weight.note == "mine"
    assert reference() is module.weight


def test_a_frozen_parameter_stays_frozen() -> None:
    module = nn.Linear(3, 4)
    module.weight.requires_grad_(False)
    module.to(DEVICE)
    assert (module.weight.requires_grad, module.bias.requires_grad) == (False, True)


def test_an_integer_parameter_moves() -> None:
    module = nn.Module()
    module.table = nn.Parameter(torch.arange(3), requires_grad=False)
    assert module.to(DEVICE).table.tolist() == [0, 1, 2]


def test_buffers_move_and_keep_their_dtype() -> None:
    module = Buffers()
    held = module.counts
    module.to(DEVICE)
    assert (module.counts.device.type, module.scratch.device.type, module.absent) == (DEVICE, DEVICE, None)
    assert held.device.type == "cpu", "a buffer is replaced, as on every device"
    module.half()
    assert (module.counts.dtype, module.scratch.dtype) == (torch.int64, torch.float16)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_dtype_and_device_at_once(dtype: torch.dtype) -> None:
    module = nn.Linear(3, 4)
    weight, expected = module.weight, module.weight.detach().to(dtype)
    module.to(DEVICE, dtype)
    assert module.weight is weight
    assert torch.equal(weight.detach().cpu(), expected)


def test_module_like_a_tensor() -> None:
    module = nn.Linear(3, 4).to(torch.ones(1, device=DEVICE, dtype=torch.float64))
    assert (module.weight.device.type, module.weight.dtype) == (DEVICE, torch.float64)


def test_channels_last() -> None:
    module = nn.Conv2d(3, 4, 3).to(DEVICE, memory_format=torch.channels_last)
    assert module.weight.is_contiguous(memory_format=torch.channels_last)


def test_to_empty_from_meta_and_from_cpu() -> None:
    with torch.device("meta"):
        module = nn.Linear(3, 4)
    for source in (module, nn.Linear(3, 4)):
        source.to_empty(device=DEVICE)
        nn.init.ones_(source.weight)
        assert source.weight.sum().item() == 12


@pytest.mark.parametrize("initialized", [False, True])
def test_lazy_modules(initialized: bool) -> None:
    module = nn.Sequential(nn.LazyLinear(4), nn.LazyBatchNorm1d()).to(DEVICE)
    weight = module[0].weight
    if initialized:
        module(torch.ones(2, 3, device=DEVICE))
        assert module[0].weight is weight
        assert devices(module) == {DEVICE}
    module.cpu()
    module(torch.ones(2, 3))
    assert devices(module) == {"cpu"}
    assert module[0].weight is weight


@pytest.mark.parametrize("name", ["weight_norm", "spectral_norm", "orthogonal"])
def test_parametrized_modules(name: str) -> None:
    module = getattr(nn.utils.parametrizations, name)(nn.Linear(4, 4)).to(DEVICE)
    module(torch.ones(1, 4, device=DEVICE)).sum().backward()
    assert devices(module) == {DEVICE}
    assert devices(module.cpu()) == {"cpu"}


def test_recurrent_modules_survive_the_way_there_and_back() -> None:
    module = nn.LSTM(3, 4, batch_first=True)
    x = torch.ones(2, 5, 3)
    expected, _ = module(x)
    moved, _ = module.to(DEVICE)(x.to(DEVICE))
    torch.testing.assert_close(moved.cpu(), expected)
    back, _ = module.cpu()(x)
    assert torch.equal(back, expected)


def test_a_scripted_module_moves() -> None:
    module = torch.jit.script(nn.Linear(3, 4))
    x = torch.ones(1, 3)
    expected = module(x)
    torch.testing.assert_close(module.to(DEVICE)(x.to(DEVICE)).cpu(), expected)


def test_torch_s_own_swapping_is_left_to_it() -> None:
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        module = nn.Linear(3, 4)
        weight = module.weight
        assert module.to(DEVICE).weight is weight
        assert weight.device.type == DEVICE
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)


def test_a_graph_from_before_the_move_refuses_instead_of_losing_gradients() -> None:
    module = nn.Linear(3, 4)
    loss = module(torch.ones(1, 3, requires_grad=True)).sum()
    module.to(DEVICE)
    with pytest.raises(RuntimeError, match=r"before its parameter moved from cpu to lazycore"):
        loss.backward()


def test_conversions_of_cpu_modules_are_torch_s() -> None:
    module = nn.Linear(3, 4)
    weight = module.weight
    assert module.half().float().share_memory().weight is weight
    assert module.to("meta").weight.device.type == "meta"
