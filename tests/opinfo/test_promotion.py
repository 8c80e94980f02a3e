"""Type promotion: every pair of dtypes, as dimensioned tensors, 0-d tensors, CPU 0-d tensors and Python numbers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
import torch

import lazycore
from lazycore.conformance.database.compare import DEVICE

DTYPES = (
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
    torch.float32, torch.float64, torch.complex32, torch.complex64, torch.complex128,
)  # fmt: skip
NUMBERS: dict[str, Any] = {"True": True, "3": 3, "2.5": 2.5, "2j": 2j}
OPS = ("add", "sub", "mul", "div", "true_divide", "eq", "lt", "maximum", "where", "atan2", "bitwise_and", "cat")


@pytest.fixture(autouse=True)
def reference() -> Iterator[None]:
    with lazycore.use_backend("reference"):
        yield


def _operands(dtype: torch.dtype) -> dict[str, torch.Tensor]:
    return {"1-d": torch.tensor([1, 2, 3]).to(dtype), "0-d": torch.tensor(2).to(dtype)}


def _apply(op: str, a: Any, b: Any) -> Any:
    if op == "where":
        return torch.where(torch.tensor([True, False, True], device=getattr(a, "device", b)), a, b)
    if op == "cat":
        return torch.cat([a.reshape(-1), b.reshape(-1)])
    return getattr(torch, op)(a, b)


def _outcome(op: str, a: Any, b: Any) -> Any:
    """The result on the CPU, or the type of the error."""
    try:
        return _apply(op, a, b).cpu()
    except (RuntimeError, TypeError, NotImplementedError) as error:
        return type(error)


def _same(expected: Any, actual: Any) -> bool:
    if not isinstance(expected, torch.Tensor) or not isinstance(actual, torch.Tensor):
        return expected is actual
    if expected.dtype is not actual.dtype or expected.shape != actual.shape:
        return False
    return torch.allclose(expected, actual, rtol=1e-3, atol=1e-3, equal_nan=True)


def _right(op: str) -> Iterator[tuple[str, Any, Any]]:
    """Right operands: their name, as the CPU gets them and as the device gets them."""
    for dtype in DTYPES:
        operands = _operands(dtype)
        for kind in ("1-d", "0-d"):
            yield f"{kind} {dtype}", operands[kind], operands[kind].to(DEVICE)
        if op not in ("cat",):
            yield f"CPU 0-d {dtype}", operands["0-d"], operands["0-d"]
    if op not in ("cat", "maximum", "atan2", "where"):
        for name, number in NUMBERS.items():
            yield name, number, number


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("left", DTYPES, ids=str)
def test_result_and_dtype_are_the_cpus(op: str, left: torch.dtype) -> None:
    wrong = []
    for (kind, x), (name, on_cpu, on_device) in product(_operands(left).items(), _right(op)):
        expected, actual = _outcome(op, x, on_cpu), _outcome(op, x.to(DEVICE), on_device)
        if not _same(expected, actual):
            wrong.append(f"{op}({kind} {left}, {name}): {actual!r} where CPU has {expected!r}")
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:20])
