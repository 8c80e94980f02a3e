"""The database's error inputs: what CPU refuses, the device refuses with the same type and message.

``python -m tests.opinfo.errors --backend reference``
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.opinfo.workers import Failure, run_cases

TARGET = 650


@dataclass
class Refusals:
    """One op: how many inputs CPU refuses, how many of them the device refuses alike, and what it says otherwise."""

    op: str
    inputs: int = 0
    alike: int = 0
    otherwise: list[str] = field(default_factory=list)


def refusals(info: Any) -> Refusals:
    """Try all error inputs of an op on both."""
    import torch

    found = Refusals(info.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for wrong in info.error_inputs(torch.device("cpu")):
            _try(found, info, wrong.sample_input)
    return found


def _try(found: Refusals, info: Any, sample: Any) -> None:
    from tests.opinfo.moving import copied, moved

    given = (sample.input, sample.args, sample.kwargs)
    expected = _error(info, copied, given)
    if expected is None:
        return  # only another device refuses it
    found.inputs += 1
    actual = _error(info, moved, given)
    if actual is not None and type(actual) is type(expected) and _text(actual) == _text(expected):
        found.alike += 1
    else:
        found.otherwise.append(f"{_described(actual)} where CPU has {_described(expected)}")


def _error(info: Any, place: Callable[[Any], Any], given: tuple[Any, ...]) -> Exception | None:
    """What the op raises on one of the devices, at the latest where its result is waited for."""
    import lazycore

    try:
        x, args, kwargs = place(given)
        result = info.op(x, *args, **kwargs)
        lazycore.sync()
        del result
    except Exception as error:
        return error
    return None


def _text(error: Exception) -> str:
    """The first line, with one name for both devices and without the place in the program that ours adds."""
    first = str(error).split("\n")[0].replace("lazycore:0", "cpu").replace("lazycore", "cpu")
    return re.sub(r" \(aten\.[^()]* at [^()]*\)$", "", first)


def _described(error: Exception | None) -> str:
    return "no error" if error is None else f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"


def all_refusals(jobs: int) -> list[Refusals]:
    """All ops that have error inputs; one that gives no result counts as one input refused otherwise."""
    from torch.testing._internal.common_methods_invocations import op_db

    import lazycore  # noqa: F401

    ops = [info for info in op_db if info.error_inputs_func is not None]
    work = [(str(i), ops[i].name) for i in range(len(ops))]
    results = []
    for case, result in run_cases(lambda case: asdict(refusals(ops[int(case[0])])), work, jobs, 120):
        broken = Refusals(case[1], 1, 0, [f"{result}"]) if isinstance(result, Failure) else Refusals(**result)
        results.append(broken)
    return results


def main() -> int:
    """Run all; exits with 1 below the target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="reference")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options = parser.parse_args()
    os.environ["LAZYCORE_BACKEND"] = options.backend
    results = all_refusals(options.jobs)
    for found in results:
        for text in found.otherwise:
            print(f"{found.op}: {text}")
    alike, inputs = sum(r.alike for r in results), sum(r.inputs for r in results)
    print(f"error inputs: {alike} of {inputs} refused alike")
    return 0 if alike >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
