"""What the device does not have: refused by name, with what to do instead."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

DEVICE = "lazycore"
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def ones() -> torch.Tensor:
    return torch.ones(2, 2, device=DEVICE)


def ragged() -> torch.Tensor:
    return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], device=DEVICE)


def sparse_embedding() -> None:
    layer = torch.nn.Embedding(3, 2, sparse=True, device=DEVICE)
    layer(torch.tensor([1], device=DEVICE)).sum().backward()


KINDS: dict[str, tuple[Callable[[], object], str]] = {
    "to_sparse": (lambda: ones().to_sparse(), "to_dense|convert on the CPU"),
    "sparse_coo_tensor": (lambda: torch.sparse_coo_tensor((2, 2), device=DEVICE), r"to_dense\(\)"),
    "sparse to the device": (lambda: torch.eye(2).to_sparse().to(DEVICE), r"to_dense\(\)"),
    "sparse operand": (lambda: torch.eye(2).to_sparse() @ ones(), r"to_dense\(\)"),
    "sparse gradients": (sparse_embedding, "pass sparse=False"),
    "to_sparse_csr": (lambda: ones().to_sparse_csr(), "to_dense|convert on the CPU"),
    "compressed": (lambda: torch.eye(2).to_sparse_csr().to(DEVICE).sum(), r"to_dense\(\)"),
    "sparse layout": (lambda: torch.zeros(2, 2, layout=torch.sparse_coo, device=DEVICE), r"to_dense\(\)"),
    "nested": (lambda: ragged() + 1, "layout=torch.jagged"),
    "nested to the device": (
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]).to(DEVICE), "layout=torch.jagged"
    ),
    "quantize": (lambda: torch.quantize_per_tensor(ones(), 1.0, 0, torch.quint8), "no torch.quint8 tensors; convert"),
    "quantized to the device": (
        lambda: torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.quint8).to(DEVICE), r"dequantize\(\)"
    ),
    "another float8": (lambda: ones().to(torch.float8_e5m2fnuz), "no torch.float8_e5m2fnuz tensors; convert"),
    "bits": (lambda: torch.empty(2, dtype=torch.bits8, device=DEVICE), "no torch.bits8 tensors; convert"),
    "mkldnn": (lambda: ones().to_mkldnn(), "convert on the CPU"),
    "meta": (lambda: torch.ones(2, device="meta").to(DEVICE), "no data"),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_kinds_of_tensors(name: str) -> None:
    make, advice = KINDS[name]
    with pytest.raises(NotImplementedError, match=advice):
        make()


SECOND: dict[str, Callable[[], object]] = {
    "factory": lambda: torch.ones(2, device="lazycore:1"),
    "empty": lambda: torch.empty(2, device="lazycore:1"),
    "arange": lambda: torch.arange(2, device="lazycore:1"),
    "random": lambda: torch.rand(2, device="lazycore:1"),
    "python numbers": lambda: torch.tensor([1], device="lazycore:1"),
    "from the CPU": lambda: torch.ones(2).to("lazycore:1"),
    "from the first": lambda: ones().to("lazycore:1"),
    "like": lambda: torch.zeros_like(ones(), device="lazycore:1"),
    "module": lambda: torch.nn.Linear(2, 2).to("lazycore:1"),
    "context": lambda: torch.lazycore.device(1),
    "current": lambda: torch.lazycore.set_device("lazycore:1"),
}


@pytest.mark.parametrize("name", SECOND)
def test_a_second_device(name: str) -> None:
    with pytest.raises(RuntimeError, match=r"one device, lazycore:0; there is no lazycore:1"):
        SECOND[name]()


MIXED: dict[str, Callable[[], object]] = {
    "right": lambda: ones() + torch.ones(2, 2),
    "left": lambda: torch.ones(2, 2) + ones(),
    "matmul": lambda: torch.ones(2, 2) @ ones(),
    "list": lambda: torch.cat([ones(), torch.ones(2, 2)]),
    "module": lambda: torch.nn.Linear(2, 2).to(DEVICE)(torch.ones(1, 2)),
    "in place": lambda: ones().add_(torch.ones(2, 2)),
    "into the CPU": lambda: torch.ones(2, 2).add_(ones()),
    "where": lambda: torch.where(ones() > 0, torch.ones(2, 2), ones()),
    "foreach": lambda: torch._foreach_add([ones()], [torch.ones(2, 2)]),
    "out on the device": lambda: torch.add(torch.ones(2), 1, out=torch.empty(2, device=DEVICE)),
    "out on the CPU": lambda: torch.add(ones(), 1, out=torch.empty(2, 2)),
    "index on the device": lambda: torch.ones(2, 2)[torch.tensor([0], device=DEVICE)],
    "equal": lambda: torch.equal(ones(), torch.ones(2, 2)),
}


@pytest.mark.parametrize("name", MIXED)
def test_tensors_of_two_devices(name: str) -> None:
    with pytest.raises(RuntimeError, match=r"(?i)same device|to have device|device of the indexed"):
        MIXED[name]()


def test_a_cpu_number_mixes_with_the_device() -> None:
    assert (ones() * torch.tensor(2.0)).tolist() == [[2, 2], [2, 2]]
    assert torch.where(ones() > 0, torch.tensor(3.0), ones()).tolist() == [[3, 3], [3, 3]]


def test_jagged_nested_tensors_work() -> None:
    parts = [torch.ones(2, 3, device=DEVICE), torch.ones(3, 3, device=DEVICE)]
    assert (torch.nested.nested_tensor(parts, layout=torch.jagged) * 2).sum().item() == 30


def test_another_device_s_tensors_go_through_the_cpu() -> None:
    with pytest.raises(NotImplementedError, match=r"from the CPU only.*\.cpu\(\)|no data"):
        torch.ones(2, 2, device=DEVICE).copy_(torch.ones(2, 2, device="meta"))


def frozen(written: bool) -> torch.Tensor:
    """The gradient by what a dense layer of frozen weight reads, which a ReLU overwrites or not."""
    x = ones().requires_grad_()
    hidden = x * 3
    y = torch.nn.functional.linear(hidden, ones())
    (y.sum() + torch.relu_(hidden).sum() if written else y.sum() + torch.relu(hidden).sum()).backward()
    assert x.grad is not None
    return x.grad


def wide_bias(inside: bool) -> torch.Tensor:
    bias = torch.ones(1, 2, device=DEVICE, requires_grad=True)
    linear = torch.nn.functional.linear
    (linear(ones(), ones(), bias) if inside else linear(ones(), ones()) + bias).sum().backward()
    assert bias.grad is not None
    return bias.grad


REFUSED = """
import sys
sys.path.insert(0, sys.argv[1])
import lazycore, test_limits

for function, given in ((test_limits.frozen, {"written": True}), (test_limits.wide_bias, {"inside": True})):
    try:
        function(**given)
    except RuntimeError as error:
        print(error)
"""


def test_what_dense_layers_refuse() -> None:
    """In a process of its own: after a program has asked for tangents, layers come in parts, which allow it."""
    command = [sys.executable, "-c", REFUSED, str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "modified by an inplace operation" in done.stdout
    assert "invalid gradient" in done.stdout


def test_what_a_dense_layer_has_read_is_written_after_backward() -> None:
    assert frozen(written=False).tolist() == [[9, 9], [9, 9]]


def test_a_wide_bias_is_added_outside() -> None:
    assert wide_bias(inside=False).tolist() == [[2, 2]]
