"""Python's protocols on device tensors: numbers, truth, length, iteration, comparison."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

DEVICE = "lazycore"


def matrix() -> torch.Tensor:
    return torch.arange(6.0, device=DEVICE).view(2, 3)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(2.5, torch.float32), (2.5, torch.bfloat16), (7, torch.int64), (255, torch.uint8), (True, torch.bool),
     (1 + 2j, torch.complex64)],
)  # fmt: skip
def test_item(value: complex, dtype: torch.dtype) -> None:
    item = torch.tensor(value, dtype=dtype, device=DEVICE).item()
    assert item == value
    assert type(item) is type(value)


def test_numbers() -> None:
    x = matrix()
    assert (float(x[0, 1]), int(x[1, 0]), complex(x[0, 2]), bool(x[0, 0])) == (1.0, 3, 2 + 0j, False)
    assert range(10)[torch.tensor(4, device=DEVICE)] == 4
    assert [round(float(v), 1) for v in x[0]] == [0.0, 1.0, 2.0]


def test_sequence() -> None:
    x = matrix()
    assert len(x) == 2
    assert [row.tolist() for row in x] == [[0, 1, 2], [3, 4, 5]]
    first, second = x
    assert second.tolist() == [3, 4, 5]
    assert first.device.type == DEVICE
    assert (3.0 in x, 9.0 in x) == (True, False)
    assert (sum(x[0]).item(), max(x[0]).item()) == (3, 2)
    assert [v.item() for v in sorted(x[0], reverse=True)] == [2, 1, 0]


ERRORS: dict[str, Callable[[torch.Tensor], object]] = {
    "item": lambda x: x.item(),
    "bool": bool,
    "int": int,
    "length of a number": lambda x: len(x[0, 0]),
    "iteration over a number": lambda x: list(x[0, 0]),
    "index": lambda x: range(3)[x[0, 0]],
    "attribute": lambda x: x.nothing,
    "row too far": lambda x: x[5],
    "too many indices": lambda x: x[0, 0, 0],
}


@pytest.mark.parametrize("name", ERRORS)
def test_mistakes_are_refused_as_on_the_cpu(name: str) -> None:
    with pytest.raises(Exception) as expected:  # noqa: PT011 - whatever the CPU raises
        ERRORS[name](torch.arange(6.0).view(2, 3))
    with pytest.raises(expected.type) as found:
        ERRORS[name](matrix())
    assert str(found.value) == str(expected.value)


def test_operators() -> None:
    x, c = matrix() + 1, torch.arange(6.0).view(2, 3) + 1
    operators: list[Callable[[torch.Tensor], torch.Tensor]] = [
        lambda t: -t, abs, lambda t: t**2, lambda t: 2**t, lambda t: t // 2, lambda t: 7 // t, lambda t: t % 2,
        lambda t: 7 % t, lambda t: 1 / t, lambda t: 1 - t, lambda t: t @ t.T, lambda t: ~(t > 1),
        lambda t: (t > 1) & (t < 3), lambda t: (t > 1) | (t < 3), lambda t: (t > 1) ^ (t < 3),
        lambda t: t.long() << 1, lambda t: t.long() >> 1, lambda t: 5 & t.long(), lambda t: reversed(t),
    ]  # fmt: skip
    for operator in operators:
        torch.testing.assert_close(operator(x).cpu(), operator(c))


def test_attributes() -> None:
    x = matrix()
    assert (x.get_device(), x.is_cpu, x.is_leaf, x.element_size(), x.nbytes, x.layout) == (
        0, False, True, 4, 24, torch.strided
    )  # fmt: skip
    assert {x: "found"}[x] == "found"


def test_equality() -> None:
    x, nan = matrix(), torch.tensor([float("nan")], device=DEVICE)
    assert torch.equal(x, x.clone())
    assert not torch.equal(x, x + 1)
    assert not torch.equal(x, x[0])
    assert not torch.equal(nan, nan.clone())
    assert torch.equal(torch.empty(0, device=DEVICE), torch.empty(0, device=DEVICE))
    assert torch.allclose(x, x + 1e-9)
    assert not torch.allclose(nan, nan)
    assert torch.allclose(nan, nan, equal_nan=True)
    torch.testing.assert_close(x, x.clone())
    with pytest.raises(AssertionError, match="not close"):
        torch.testing.assert_close(x, x + 1)
    with pytest.raises(RuntimeError, match="same device"):
        torch.equal(x, x.cpu())


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.float64])
def test_nothing_joins_anything(dtype: torch.dtype) -> None:
    """`cat` leaves out tensors of shape (0,), whatever the others' shape: what caches of transformers begin with."""
    nothing, x = torch.empty(0, dtype=dtype), torch.arange(6.0).view(2, 3)
    for dim in (-2, 1):
        joined = torch.cat([nothing.to(DEVICE), x.to(DEVICE), x.to(DEVICE)], dim)
        torch.testing.assert_close(joined.cpu(), torch.cat([nothing, x, x], dim), rtol=0, atol=0)
    weight = x.to(DEVICE).requires_grad_()
    torch.cat([nothing.to(DEVICE), weight], dim=-2).sum().backward()
    assert weight.grad.tolist() == [[1, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize("exponent", [True, False, 2, 0])
@pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
@pytest.mark.filterwarnings("error::lazycore.compiler.failures.BackendWarning")
@pytest.mark.usefixtures("backend")
def test_truth_to_the_power_of_a_number(exponent: int) -> None:
    """torch's Meta kernel says int64 of what the CPU makes a bool."""
    truth = torch.tensor([True, False])
    torch.testing.assert_close((truth.to(DEVICE) ** exponent).cpu(), truth**exponent, rtol=0, atol=0)


@pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_bytes_are_blended_by_the_weights_and_rounded() -> None:
    image = torch.tensor([[[[10, 200], [30, 255]]]], dtype=torch.uint8)
    for size in ((3, 3), (5, 2), (1, 1)):
        expected = torch.nn.functional.interpolate(image, size, mode="bilinear")
        got = torch.nn.functional.interpolate(image.to(DEVICE), size, mode="bilinear")
        torch.testing.assert_close(got.cpu(), expected, rtol=0, atol=1)
