"""The third program at one place is worth a warning that says what differs and what to do."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable

import pytest
import torch

import lazycore
from lazycore.report.recompiles import RecompileWarning

DEVICE = "lazycore"


def warned(body: Callable[[int], object], times: int) -> list[warnings.WarningMessage]:
    """The warnings of ``body(0) … body(times - 1)``, with a barrier after each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(times):
            kept = body(i)
            lazycore.sync()
            del kept
    return [w for w in caught if issubclass(w.category, RecompileWarning)]


def line_of(body: Callable[..., object]) -> int:
    """The line after a one-line body's head."""
    return inspect.getsourcelines(body)[1] + 1


@pytest.mark.parametrize("backend", ["xla"], indirect=True)
def test_a_varying_shape_is_named_with_its_line() -> None:
    def body(i: int) -> torch.Tensor:
        return torch.ones(3 + i).to(DEVICE) * 2

    (warning,) = warned(body, 6)
    assert (warning.filename, warning.lineno) == (__file__, line_of(body))
    text = str(warning.message)
    for part in ("3 programs", "aten.mul.Tensor", "operand self", "f32[5]", "pad to a few sizes", "lazycore.explain()"):
        assert part in text


def test_sizes_that_one_executable_serves_are_no_reason() -> None:
    assert not warned(lambda i: torch.ones(3 + i).to(DEVICE) * 2, 6)
    assert lazycore.metrics()["compiles"] == 2


def test_a_dtype_has_other_advice() -> None:
    dtypes = [torch.float32, torch.int32, torch.float64]
    (warning,) = warned(lambda i: torch.ones(3, dtype=dtypes[i]).to(DEVICE) + 1, 3)
    assert "Bring it to one dtype" in str(warning.message)


def test_a_number_that_decides_a_shape_is_one() -> None:
    x = torch.ones(12).to(DEVICE)
    (warning,) = warned(lambda i: x.repeat(2 + i), 3)
    assert "few values" in str(warning.message)


def test_two_programs_are_no_reason() -> None:
    """A smaller last batch, an optimizer's first step."""
    assert not warned(lambda i: torch.ones(3 + i % 2).to(DEVICE) * 2, 8)


def test_numbers_that_vary_freely_are_none_either() -> None:
    x = torch.ones(3).to(DEVICE)
    assert not warned(lambda i: x * (0.5 + i), 8)


def test_different_programs_are_no_variants_of_one() -> None:
    x = torch.ones(3).to(DEVICE)
    bodies = [torch.sin, torch.cos, torch.exp, torch.tanh]
    assert not warned(lambda i: bodies[i](x), 4)


def test_training_with_a_schedule_warns_of_nothing() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.1), torch.nn.Linear(8, 2)).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)

    def body(_: int) -> None:
        optimizer.zero_grad()
        model(torch.randn(6, 4).to(DEVICE)).square().mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()

    assert not warned(body, 6)


def test_a_warning_that_is_an_error_loses_nothing() -> None:
    dtypes = [torch.float16, torch.float32, torch.float64]

    def doubled(i: int) -> torch.Tensor:
        return torch.ones(3, dtype=dtypes[i]).to(DEVICE) * 2

    with warnings.catch_warnings():
        warnings.simplefilter("error", RecompileWarning)
        results = [doubled(0)]
        lazycore.sync()
        results.append(doubled(1))
        lazycore.sync()
        results.append(doubled(2))
        with pytest.raises(RecompileWarning):
            lazycore.sync()
        lazycore.sync()
    assert [r.tolist() for r in results] == [[2.0] * 3] * 3
