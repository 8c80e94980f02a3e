"""Dtypes that the CPU refuses: the device refuses them too, with the same exception and when the op is called."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

import lazycore
from lazycore.conformance.database.moving import copied, moved

__all__ = ["DTYPES", "Difference", "differences", "refused_dtypes"]

DTYPES = (
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
    torch.float32, torch.float64, torch.complex64, torch.complex128,
)  # fmt: skip


@dataclass(frozen=True)
class Difference:
    """``how``: computed (and it says no), late (not before the result is read), another error."""

    how: str
    expected: str
    actual: str


def refused_dtypes(info: Any) -> list[torch.dtype]:
    """Those that the database does not list for the CPU."""
    return [dtype for dtype in DTYPES if dtype not in info.supported_dtypes("cpu")]


def differences(info: Any, dtype: torch.dtype, limit: int = 2) -> tuple[int, list[Difference]]:
    """How many of some samples the CPU refuses, and where the device does not do the same."""
    found, refusals = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for given in _samples(info, dtype, limit):
            expected, _ = _error(info, copied(given))
            if expected is None:
                continue
            refusals += 1
            difference = _compare(expected, *_error(info, moved(given)))
            if difference is not None:
                found.append(difference)
    return refusals, found


def _samples(info: Any, dtype: torch.dtype, limit: int) -> Iterator[tuple[Any, ...]]:
    """Of the dtype, where the database can make any, else of another one, converted."""
    made: list[Any] = []
    source = dtype
    for source in (dtype, torch.float32, *sorted(info.supported_dtypes("cpu"), key=str)):
        with suppress(Exception):
            torch.manual_seed(0)
            made = list(info.sample_inputs("cpu", source, requires_grad=False))
        if made:
            break
    for position in {0: 0, len(made) // 2: 0}:
        if position < min(len(made), limit * len(made)):
            sample = made[position]
            given = (sample.input, sample.args, sample.kwargs)
            yield pytree.tree_map(lambda x: _converted(x, source, dtype), given)


def _converted(x: Any, source: torch.dtype, dtype: torch.dtype) -> Any:
    if isinstance(x, torch.Tensor) and x.dtype is source:
        return x.detach().to(dtype)
    return dtype if x is source else x


def _error(info: Any, given: tuple[Any, ...]) -> tuple[Exception | None, bool]:
    """What the op raises, and whether not before its result was waited for."""
    called = False
    try:
        x, args, kwargs = given
        result = info.op(x, *args, **kwargs)
        called = True
        lazycore.sync()
        del result
    except Exception as error:
        # What else is wrong with this input must not be taken for the next one's.
        with suppress(Exception):
            lazycore.sync()
        return error, called
    return None, called


def _compare(expected: Exception, actual: Exception | None, late: bool) -> Difference | None:
    if actual is None:
        return Difference("computed", _described(expected), "")
    if late:
        return Difference("late", _described(expected), _described(actual))
    if type(actual) is not type(expected):
        return Difference("another error", _described(expected), _described(actual))
    return None


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0][:140] if str(error) else ''}"
