"""What cannot be exported is refused in words, and nothing is left behind: no file, no change, no broken device."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lazycore_plugin_api import LazycoreError
from torch import nn

import lazycore
from lazycore.frontend.local import local, tree


class Does(nn.Module):
    """A module whose forward is the function."""

    def __init__(self, function: Callable[[nn.Module, torch.Tensor], Any]) -> None:
        super().__init__()
        self.function = function
        self.state = nn.Buffer(torch.zeros(3))
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(self, x)


def _caught(_: nn.Module, x: torch.Tensor) -> torch.Tensor:
    try:
        return x * x.sum().item()
    except LazycoreError:
        return x


def _written(module: Any, x: torch.Tensor) -> torch.Tensor:
    module.state.add_(x)
    return module.state * 2


def _raises(_module: nn.Module, _x: torch.Tensor) -> torch.Tensor:
    raise ZeroDivisionError("the model's own")


REFUSED: dict[str, tuple[Callable[[Any, torch.Tensor], Any], type[Exception], str]] = {
    "item": (lambda _, x: x * x.sum().item(), LazycoreError, "looks at a value while it is exported"),
    "a branch": (lambda _, x: x + 1 if (x + 1).sum() > 0 else x, LazycoreError, "looks at a value"),
    "a shape of values": (lambda _, x: (x + 1).nonzero(), LazycoreError, "looks at a value"),
    "the CPU": (lambda _, x: (x + 1).cpu() + 1, LazycoreError, "looks at a value"),
    "a look that is caught": (_caught, LazycoreError, "looks at a value"),
    "random numbers": (lambda _, x: nn.functional.dropout(x), LazycoreError, "draws random numbers: call the module"),
    "a write into a buffer": (_written, LazycoreError, r"writes into state, and an exported program keeps no state"),
    "a write into a weight": (lambda m, x: m.weight.data.mul_(2) + x, LazycoreError, "writes into weight"),
    "a set": (lambda _, x: {x}, TypeError, "the module returns a builtins.set; an exported program returns tensors"),
    "keys that are no strings": (lambda _, x: {1: x}, TypeError, "returns a dict whose keys are not all strings"),
    "an error of its own": (_raises, ZeroDivisionError, "the model's own"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _device_is_sound() -> Iterator[None]:
    limits, rng, fast = tree.limits, lazycore.config.rng, torch.backends.mha.get_fastpath_enabled()
    pending = torch.ones(3, device="lazycore") * 2
    yield
    assert (tree.limits, lazycore.config.rng, torch.backends.mha.get_fastpath_enabled()) == (limits, rng, fast)
    assert type(local.trace).__name__ == "Trace"
    assert (pending + 1).tolist() == [3, 3, 3]


@pytest.mark.parametrize("kind", REFUSED)
def test_is_refused(kind: str, path: Path) -> None:
    function, error, message = REFUSED[kind]
    module = Does(function)
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    with pytest.raises(error, match=message):
        lazycore.export(module, torch.ones(3), path, backend="reference")
    assert list(path.parent.iterdir()) == []
    for name, tensor in module.state_dict().items():
        assert tensor.device.type == "cpu"
        torch.testing.assert_close(tensor, before[name])


@pytest.mark.parametrize("layer", [nn.Dropout(0.5), nn.BatchNorm1d(3)])
def test_training_mode_is_refused_and_eval_mode_is_not(layer: nn.Module, roundtrip: Any) -> None:
    module = nn.Sequential(nn.Linear(3, 3), layer)
    x = torch.randn(4, 3)
    with pytest.raises(LazycoreError, match=re.escape("call the module's eval() first")):
        roundtrip(module, x)
    program = roundtrip(module.eval(), x)
    np.testing.assert_allclose(program(x.numpy()), module(x).detach().numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("thing", [lambda x: x, torch.relu, 3])
def test_only_modules_are_exported(thing: Any, path: Path) -> None:
    with pytest.raises(TypeError, match=r"takes a torch\.nn\.Module, not a"):
        lazycore.export(thing, torch.ones(3), path)


def test_a_file_that_cannot_be_written_is_an_os_error(tmp_path: Path, linear: nn.Module) -> None:
    with pytest.raises(OSError, match="none"):
        lazycore.export(linear, torch.ones(3), tmp_path / "none" / "program.lcp", backend="reference")


def test_a_failed_export_leaves_the_file_that_was_there(path: Path, linear: nn.Module) -> None:
    lazycore.export(linear, torch.ones(3), path, backend="reference")
    before = path.read_bytes()
    with pytest.raises(LazycoreError):
        lazycore.export(Does(REFUSED["item"][0]), torch.ones(3), path, backend="reference")
    assert path.read_bytes() == before


def test_equal_programs_make_equal_files(path: Path, linear: nn.Module) -> None:
    files = set()
    for _ in range(2):
        lazycore.export(linear, torch.ones(3), path, backend="reference")
        files.add(path.read_bytes())
    assert len(files) == 1


def test_what_a_module_keeps_of_the_call_can_be_computed(path: Path) -> None:
    kept = []

    def keeps(module: Any, x: torch.Tensor) -> torch.Tensor:
        kept.append(x + module.weight)
        return x * 2

    lazycore.export(Does(keeps), torch.ones(3), path, backend="reference")
    assert kept[0].tolist() == [2, 2, 2]


def test_a_module_on_the_device_and_its_arguments_stay_as_they_are(roundtrip: Any) -> None:
    module = nn.Linear(3, 2).to("lazycore")
    weight = module.weight
    x = torch.ones(4, 3, device="lazycore").t().contiguous().t()
    program = roundtrip(module, x)
    assert module.weight is weight
    assert weight.device.type == "lazycore"
    np.testing.assert_allclose(program(np.ones((4, 3), np.float32)), module(x).detach().cpu().numpy(), rtol=1e-6)


def test_long_models_are_one_program(roundtrip: Any) -> None:
    """Where a training loop's trace would long have been cut: rounds, copies to the device, very many ops."""

    def rounds(_: nn.Module, x: torch.Tensor) -> torch.Tensor:
        for i in range(1500):
            x = x + torch.tensor(float(i), device=x.device).sign() if i % 100 == 0 else x * 1.001 - 0.001
        return x

    module = Does(rounds)
    x = torch.rand(3)
    program = roundtrip(module, x)
    np.testing.assert_allclose(program(x.numpy()), module(x).numpy(), rtol=1e-4)
