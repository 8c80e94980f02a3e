"""PyTorch's module database: each module forward and backward in training and evaluation, against CPU.

``python -m tests.opinfo.modules --backend reference``
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

from tests.opinfo.command import arguments, run
from tests.opinfo.outcome import Outcome

KIND = "module"


def outcome_of(info: Any, name: str) -> Outcome:
    """All inputs of a module. Nothing is raised: failures are in the outcome."""
    import torch

    found = Outcome(name, KIND)
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


def _one(found: Outcome, cls: Any, given: Any, training: bool) -> None:
    import torch

    import lazycore
    from tests.opinfo.compare import Differs
    from tests.opinfo.moving import copied, moved

    here, there = _pair(cls, given.constructor_input, training)
    forward = (given.forward_input.args, given.forward_input.kwargs)
    on_cpu, on_device = copied(forward), moved(forward)
    torch.manual_seed(1)
    try:
        expected = here(*on_cpu[0], **on_cpu[1])
    except Exception:  # CPU refuses the input: another table compares errors
        return
    found.samples += 1
    lazycore.reset_metrics()
    torch.manual_seed(1)
    try:
        _check(found, (here, on_cpu, expected), (there, on_device, there(*on_device[0], **on_device[1])))
    except (Exception, Differs) as error:
        found.fail("training" if training else "evaluation", error)
    found.fallbacks.update(lazycore.metrics()["fallbacks"])
    found.native += not lazycore.metrics()["fallbacks"]


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


def _check(found: Outcome, cpu: tuple[Any, Any, Any], device: tuple[Any, Any, Any]) -> None:
    """Compare results and, where they have any, all gradients. Raises Differs."""
    from tests.opinfo.compare import compare
    from tests.opinfo.moving import tensors
    from tests.opinfo.tolerances import tolerance_of

    tolerance = tolerance_of(found.op, KIND)
    compare(cpu[2], device[2], "forward", tolerance=tolerance)
    results = [[t for t in tensors(side[2]) if t.requires_grad] for side in (cpu, device)]
    if results[0]:
        for side in results:
            sum((t * t).sum() for t in side).backward()  # type: ignore[union-attr]
        compare(_gradients(cpu), _gradients(device), "backward", tolerance=tolerance)
        found.backward += 1
    found.forward += 1


def _gradients(side: tuple[Any, Any, Any]) -> list[Any]:
    from tests.opinfo.moving import tensors

    return [p.grad for p in (*side[0].parameters(), *(t for t in tensors(side[1]) if t.is_leaf))]


def _named() -> dict[str, Any]:
    from torch.testing._internal.common_modules import module_db

    return {info.module_cls.__name__: info for info in module_db}


def main() -> int:
    """Parse the command line, run, report."""

    def one(case: tuple[str, str]) -> dict[str, Any]:
        return outcome_of(_named()[case[0]], case[0]).row()

    return run(arguments(__doc__, "opinfo-modules.jsonl", 240).parse_args(), [KIND], _cases, one)


def _cases() -> list[tuple[str, str]]:
    import lazycore  # noqa: F401 - before the workers fork

    return [(name, KIND) for name in _named()]


if __name__ == "__main__":
    sys.exit(main())
