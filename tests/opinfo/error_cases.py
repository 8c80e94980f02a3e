"""The error inputs of one op of PyTorch's OpInfo database, refused by CPU and by the device."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import lazycore
from lazycore.conformance.database.moving import copied, moved
from lazycore.conformance.database.outcome import Outcome

__all__ = ["refusals"]


def refusals(info: Any, name: str) -> Outcome:
    """Try all error inputs of an op on both: ``samples`` are what CPU refuses, ``forward`` what the device refuses
    alike."""
    found = Outcome(name, "errors")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # The name of a device, as torch's own tests have it: some inputs are made by what it starts with.
        for wrong in info.error_inputs("cpu"):
            _try(found, info, wrong.sample_input)
    return found


def _try(found: Outcome, info: Any, sample: Any) -> None:
    given = (sample.input, sample.args, sample.kwargs)
    expected = _error(info, copied, given)
    if expected is None:
        return  # only another device refuses it
    lazycore.reset_metrics()
    found.samples += 1
    actual = _error(info, moved, given)
    if actual is not None and type(actual) is type(expected) and _text(actual) == _text(expected):
        found.forward += 1
    else:
        found.note(f"{_described(actual)} where CPU has {_described(expected)}")
    found.fallbacks.update(lazycore.metrics()["fallbacks"])
    found.native += not lazycore.metrics()["fallbacks"]


def _error(info: Any, place: Callable[[Any], Any], given: tuple[Any, ...]) -> Exception | None:
    """What the op raises on one of the devices, at the latest where its result is waited for."""
    try:
        x, args, kwargs = place(given)
        result = info.op(x, *args, **kwargs)
        lazycore.sync()
        del result
    except Exception as error:
        # What else is wrong with this input must not be taken for the next one's.
        with suppress(Exception):
            lazycore.sync()
        return error
    return None


def _text(error: Exception) -> str:
    """The first line, with one name for both devices and without the place in the program that ours adds."""
    first = str(error).split("\n")[0].replace("lazycore:0", "cpu")
    return re.sub(r" \((aten|lazycore)\.[^()]* at [^()]*\)$", "", first).replace("lazycore", "cpu")


def _described(error: Exception | None) -> str:
    return "no error" if error is None else f"{type(error).__name__}: {str(error).split(chr(10))[0][:160]}"
