"""Integers divided by zero raise what CPU raises, and quotients have CPU's dtypes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import torch

import lazycore

Divide = Callable[[torch.Tensor, Any], torch.Tensor]

DIVISIONS: dict[str, Divide] = {
    "//": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    "fmod": lambda x, y: torch.fmod(x, y),
    "floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "//=": lambda x, y: x.clone().floor_divide_(y),
    "%=": lambda x, y: x.clone().remainder_(y),
}
TURNED: dict[str, Divide] = {"3 //": lambda x, y: 3 // y, "3 %": lambda x, y: 3 % y}  # noqa: ARG005
EACH = pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
# The guards are in the graph: one of each kind is enough for a compiler that takes its time.
EVERY = [("reference", name) for name in (*DIVISIONS, *TURNED)] + [("xla", name) for name in ("//", "fmod", "3 %")]


def outcome(divide: Divide, device: str, divisors: torch.Tensor) -> Any:
    """The quotients on the CPU, or the exception."""
    x, y = torch.tensor([7, -7, 9]).to(device), divisors.to(device)
    try:
        return divide(x, y).cpu()
    except RuntimeError as error:
        return error


@pytest.mark.parametrize(("backend", "name"), EVERY, indirect=["backend"])
def test_a_zero_among_the_divisors_is_the_cpus_error(name: str) -> None:
    divide = (DIVISIONS | TURNED)[name]
    for divisors in (torch.tensor([2, 0, -2]), torch.tensor([0], dtype=torch.int32), torch.tensor(0)):
        expected, got = outcome(divide, "cpu", divisors), outcome(divide, "lazycore", divisors)
        assert str(expected) == "ZeroDivisionError"
        assert type(got) is RuntimeError
        assert str(got).startswith("ZeroDivisionError")
        assert "test_integer_division.py" in str(got), "the line that asked for it"
    good = torch.tensor([2, -3, 4])
    assert outcome(divide, "lazycore", good).equal(outcome(divide, "cpu", good)), "the next step works"


@pytest.mark.parametrize("name", DIVISIONS)
def test_numbers_that_vary_are_looked_at_each_time(name: str) -> None:
    divide = DIVISIONS[name]
    for number in (3, 5, -2, 4, 0, 7):
        x = torch.tensor([7, -7, 9])
        if number:
            assert divide(x.to("lazycore"), number).cpu().equal(divide(x, number))
            continue
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            divide(x.to("lazycore"), number).cpu()


@EACH
@pytest.mark.parametrize("shape", [(3,), (1,), ()])
def test_nothing_is_divided_where_there_is_nothing(shape: tuple[int, ...]) -> None:
    nothing, zeros = torch.zeros(0, 3, dtype=torch.int64).to("lazycore"), torch.zeros(shape, dtype=torch.int64)
    for divide in DIVISIONS.values():
        assert divide(nothing, zeros.to("lazycore")).cpu().shape == (0, 3)
        assert divide(nothing, zeros.to("lazycore") * 1).cpu().shape == (0, 3)
    lazycore.sync()


def test_floats_are_divided_by_zero() -> None:
    x, y = torch.tensor([7.0, -7.0, 0.0]), torch.zeros(3)
    for name in ("//", "floor", "trunc", "%"):
        expected, got = outcome_of(name, x, y), outcome_of(name, x.to("lazycore"), y.to("lazycore"))
        torch.testing.assert_close(got, expected, equal_nan=True, rtol=0, atol=0)


def outcome_of(name: str, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return DIVISIONS[name](x, y).cpu()


@EACH
def test_rounded_quotients_promote_as_on_the_cpu() -> None:
    operands: list[Any] = [torch.tensor([7, -7, 9]).to(d) for d in (torch.int64, torch.uint8, torch.float32)]
    operands += [torch.tensor([2.0, -3.0, 4.0], dtype=torch.bfloat16), torch.tensor(2), 3, 2.5]
    for x, y, mode in product(operands[:3], operands, (None, "floor", "trunc")):
        on_device = y.to("lazycore") if isinstance(y, torch.Tensor) else y
        expected = torch.div(x, y, rounding_mode=mode)
        torch.testing.assert_close(torch.div(x.to("lazycore"), on_device, rounding_mode=mode).cpu(), expected)
