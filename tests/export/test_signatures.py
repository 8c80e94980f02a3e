"""What goes in and what comes out: names, nesting, dtypes, and results that are no computation."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from lazycore_loader import InvalidInput, Program
from torch import nn

Roundtrip = Callable[..., Program]


class Calls(nn.Module):
    """A module whose forward is the function; it has one weight, ``weight``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.arange(3.0))
        self.function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(self, *args, **kwargs)


def same(got: Any, expected: Any) -> None:
    """Equal in structure, types, shapes, dtypes and elements."""
    if isinstance(expected, torch.Tensor):
        assert type(got) is np.ndarray
        assert got.shape == tuple(expected.shape)
        assert str(got.dtype) == str(expected.dtype).removeprefix("torch.")
        plain = got.astype(np.float32) if got.dtype == ml_dtypes.bfloat16 else got
        wide = expected.detach().float() if expected.dtype is torch.bfloat16 else expected.detach()
        np.testing.assert_array_equal(plain, wide.resolve_conj().resolve_neg().numpy())
    elif isinstance(expected, (tuple, list)):
        assert type(got) is (tuple if isinstance(expected, tuple) else list)
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            same(one, other)
    elif isinstance(expected, dict):
        assert type(got) is dict
        assert list(got) == list(expected)
        for key in expected:
            same(got[key], expected[key])
    else:
        assert (type(got), repr(got)) == (type(expected), repr(expected))


Pair = namedtuple("Pair", "first second")

RESULTS: dict[str, Callable[[Calls, torch.Tensor], Any]] = {
    "a tuple": lambda m, x: (x + 1, x * m.weight),
    "nested": lambda _, x: {"a": [x + 1, (x,)], "b": {"c": x.sum()}},
    "an ordered dict": lambda m, x: OrderedDict(z=x, a=x + m.weight),
    "a named tuple": lambda _, x: Pair(x + 1, x + 2),
    "plain values": lambda _, x: (x, None, True, 3, float("nan"), 0.5, "text"),
    "the argument": lambda _, x: x,
    "the weight": lambda m, _: m.weight,
    "one result twice": lambda _, x: [y := x + 1, y],
    "views": lambda _, x: (x.T, x[1], x[:, 1:], x.expand(2, *x.shape), x.flatten()[::2]),
    "views of a result": lambda _, x: ((x + 1).T, (x + 1)[0, 2]),
    "a constant of the device": lambda _, x: x + torch.tensor([1.0, 2.0, 3.0]).to(x.device),
    "a constant of the CPU": lambda _, x: (x, torch.arange(4)),
    "nothing of the argument": lambda _, x: torch.ones(2, dtype=torch.int32, device=x.device),
    "an empty tensor": lambda _, x: x[:, :0],
    "a number as a tensor": lambda _, x: x.mean(),
    "other dtypes": lambda _, x: (x.to(torch.bfloat16) * 2, x > 1, x.long(), x.half(), x.double(), x.to(torch.int8)),
    "complex numbers": lambda _, x: (torch.complex(x, x), torch.complex(x, x + 1).conj(), torch.complex(x, x).imag),
    "a write into the argument": lambda _, x: x.mul_(2) + 1,
    "a write into a copy": lambda _, x: torch.zeros(3, device=x.device).index_fill_(0, torch.tensor(1).to(x.device), 2),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_results(kind: str, roundtrip: Roundtrip) -> None:
    module = Calls(RESULTS[kind])
    x = torch.arange(6.0).reshape(2, 3)
    program = roundtrip(module, x.clone())
    for shift in (0, 1):
        given = (x + shift).numpy()
        with torch.no_grad():
            expected = module(x + shift)
        same(program(given), expected)
        np.testing.assert_array_equal(given, (x + shift).numpy(), err_msg="the caller's array was written")


def test_results_are_the_caller_s_own(roundtrip: Roundtrip) -> None:
    program = roundtrip(Calls(lambda m, x: (x, m.weight)), torch.ones(3))
    given = np.ones(3, np.float32)
    first = program(given)
    for array in first:
        array += 5
    second = program(given)
    np.testing.assert_array_equal(second[0], np.ones(3))
    np.testing.assert_array_equal(second[1], np.arange(3))


class Model(nn.Module):
    def forward(self, x: torch.Tensor, pair: Any, scale: float = 1.0, *, extra: dict[str, Any]) -> torch.Tensor:
        return (x + pair[0] - pair[1]["deep"]) * scale + extra["bias"] * extra["factor"]


def test_arguments_are_named_and_nested(roundtrip: Roundtrip) -> None:
    x, one, two, bias = (torch.full((2,), float(i)) for i in range(4))
    args, kwargs = (x, (one, {"deep": two}), 3.0), {"extra": {"bias": bias, "factor": 2}}
    program = roundtrip(Model(), args, kwargs=kwargs)
    assert repr(program) == "Program(x: f32[2], pair.0: f32[2], pair.1.deep: f32[2], extra.bias: f32[2])"
    arrays = {"x": x, "pair.0": one, "pair.1.deep": two, "extra.bias": bias}
    expected = Model()(*args, **kwargs)
    same(program(*(a.numpy() for a in arrays.values())), expected)
    same(program(x.numpy(), **{n: a.numpy() for n, a in arrays.items() if n != "x"}), expected)


@pytest.mark.parametrize(
    ("arrays", "named", "error", "message"),
    [
        (0, {}, TypeError, "missing a, b; the program takes a, b"),
        (1, {}, TypeError, "missing b; the program takes a, b"),
        (3, {}, TypeError, "got 3 arguments; the program takes a, b"),
        (1, {"c": np.zeros(3)}, TypeError, "unexpected or repeated argument 'c'"),
        (2, {"a": np.zeros(3)}, TypeError, "unexpected or repeated argument 'a'"),
        (1, {"b": np.zeros(3, np.int64)}, InvalidInput, r"b must be float32\[3\], and is int64\[3\]"),
        (1, {"b": np.zeros((3, 1), np.float32)}, ValueError, r"b must be float32\[3\], and is float32\[3, 1\]"),
        (1, {"b": np.float32(2)}, InvalidInput, r"b must be float32\[3\], and is float32\[\]"),
        (1, {"b": np.array(["x"] * 3)}, InvalidInput, r"b must be float32\[3\], and is <U1\[3\]"),
        (1, {"b": None}, InvalidInput, r"b must be float32\[3\], and is object\[\]"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_told(arrays: int, named: Any, error: Any, message: str, roundtrip: Roundtrip) -> None:
    class Two(nn.Module):
        def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return a + b

    program = roundtrip(Two(), (torch.ones(3), torch.ones(3)))
    with pytest.raises(error, match=message):
        program(*[np.zeros(3, np.float32)] * arrays, **named)
    np.testing.assert_array_equal(program(np.ones(3, np.float32), np.ones(3, np.float32)), [2, 2, 2])


def test_arrays_of_any_layout_are_taken(roundtrip: Roundtrip) -> None:
    program = roundtrip(Calls(lambda _, x: x * 2), torch.ones(2, 3))
    for array in (
        np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
        np.zeros((4, 6), np.float32)[::2, ::2],
    ):
        np.testing.assert_array_equal(program(array), array * 2)


class Looks(nn.Module):
    """A table looked up by the argument, and by what is computed of it."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(5, 2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.table(ids) + self.table(ids + 2)


def test_indices_out_of_range_raise_as_in_eager(backend: str, roundtrip: Roundtrip) -> None:
    module = Looks()
    program = roundtrip(module, torch.tensor([0, 1]), backend)
    same(program(np.array([2, 1])), module(torch.tensor([2, 1])))
    for wrong in ([0, 5], [-1, 0], [3, 0]):
        with pytest.raises(
            IndexError, match=r"index out of range in self \(aten.embedding.default at test_signatures.py:"
        ):
            program(np.array(wrong))
    same(program(np.array([0, 0])), module(torch.tensor([0, 0])))
