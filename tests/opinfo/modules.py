"""PyTorch's module database: each module forward and backward in training and evaluation, against CPU.

``python -m tests.opinfo.modules --backend reference``
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.opinfo.workers import Failure, run_cases

TARGET = 112


@dataclass
class Module:
    """One module: inputs tried, inputs right, what went wrong."""

    name: str
    inputs: int = 0
    right: int = 0
    errors: list[str] = field(default_factory=list)


def run(info: Any) -> Module:
    """All inputs of a module. Nothing is raised: failures are in the result."""
    import torch

    found = Module(info.module_cls.__name__)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for training in (True, False):
            inputs = info.module_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=True, training=training
            )
            for given in inputs:
                if given.forward_input is not None:
                    _one(found, info.module_cls, given, training)
    return found


def _one(found: Module, cls: Any, given: Any, training: bool) -> None:
    import torch

    from tests.opinfo.moving import copied, moved

    here, there = _pair(cls, given.constructor_input, training)
    forward = (given.forward_input.args, given.forward_input.kwargs)
    on_cpu, on_device = copied(forward), moved(forward)
    torch.manual_seed(1)
    try:
        expected = here(*on_cpu[0], **on_cpu[1])
    except Exception:  # CPU refuses the input: another table compares errors
        return
    found.inputs += 1
    torch.manual_seed(1)
    try:
        _check((here, on_cpu, expected), (there, on_device, there(*on_device[0], **on_device[1])))
        found.right += 1
    except Exception as error:
        found.errors.append(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")


def _pair(cls: Any, constructor: Any, training: bool) -> tuple[Any, Any]:
    """The module on CPU, and one with equal parameters moved to the device."""
    import torch

    from tests.opinfo.compare import DEVICE
    from tests.opinfo.moving import moved

    torch.manual_seed(0)
    here = cls(*constructor.args, **constructor.kwargs).train(training)
    torch.manual_seed(0)
    there = cls(*constructor.args, **moved(dict(constructor.kwargs))).train(training).to(DEVICE)
    return here, there


def _check(cpu: tuple[Any, Any, Any], device: tuple[Any, Any, Any]) -> None:
    """Compare results and, where they have any, all gradients. Raises Differs."""
    from tests.opinfo.compare import compare
    from tests.opinfo.moving import tensors

    compare(cpu[2], device[2], "forward")
    results = [[t for t in tensors(side[2]) if t.requires_grad] for side in (cpu, device)]
    if not results[0]:
        return
    for side in results:
        sum((t * t).sum() for t in side).backward()  # type: ignore[union-attr]
    gradients = [
        [p.grad for p in (*side[0].parameters(), *(t for t in tensors(side[1]) if t.is_leaf))] for side in (cpu, device)
    ]
    compare(*gradients, "backward")


def all_modules(jobs: int) -> list[Module]:
    """The whole database; a module that gives no result counts as one wrong input."""
    from torch.testing._internal.common_modules import module_db

    import lazycore  # noqa: F401

    work = [(str(i), info.module_cls.__name__) for i, info in enumerate(module_db)]
    results = []
    for case, result in run_cases(lambda case: asdict(run(module_db[int(case[0])])), work, jobs, 240):
        broken = Module(case[1], 1, 0, [f"{result}"]) if isinstance(result, Failure) else Module(**result)
        results.append(broken)
    return results


def main() -> int:
    """Run all; exits with 1 below the target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="reference")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options = parser.parse_args()
    os.environ["LAZYCORE_BACKEND"] = options.backend
    os.environ["LAZYCORE_RNG"] = "cpu"
    results = all_modules(options.jobs)
    for found in results:
        for text in dict.fromkeys(found.errors):
            print(f"{found.name} ({found.right} of {found.inputs} right): {text}")
    right = sum(not r.errors for r in results)
    print(f"modules: {right} of {len(results)} right")
    return 0 if right >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
