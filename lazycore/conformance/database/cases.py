"""The databases as cases: ``opinfo/op/dtype`` forward, ``grad/op`` and ``module/name`` backward."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from lazycore.conformance.case import Case, Failed, Outcome, Status
from lazycore.conformance.context import Context
from lazycore.conformance.database import outcome as database_outcome
from lazycore.conformance.database.internals import Moved
from lazycore.conformance.database.tolerances import LOOSENED, tolerance_of
from lazycore.conformance.placement import placement_of
from lazycore.frontend.refusals import KINDS

__all__ = ["cases", "run"]

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "bool", "complex64")
# Samples of a case, evenly chosen. In float32 they show an operator's arguments and shapes; another dtype is another
# kernel for the same, and a gradient, or a module in each of its modes, another composition of what was shown.
SAMPLES, SAMPLES_OF_OTHERS = 12, 4
SAMPLES_OF_GRADIENTS, SAMPLES_OF_MODULES = 6, 6
_MOVED = Case(1, "opinfo/unavailable")
# No backend is asked about kinds of tensor that the device does not have.
_LACKS = "|".join(kind for kind, _ in KINDS.values())
_REFUSAL = re.compile(f"NotImplementedError: lazycore (has no ({_LACKS})|takes dense strided tensors)")


@cache
def cases() -> list[Case]:
    """All of them; where torch has moved its databases, one that fails and says so."""
    try:
        return [*_operators(), *_modules()]
    except Moved:
        return [_MOVED]


def _operators() -> list[Case]:
    import torch

    from lazycore.conformance.database.operators import database

    found = []
    for name, info in database().items():
        supported = info.supported_dtypes("cpu")
        found += [Case(1, f"opinfo/{name}/{d}") for d in DTYPES if getattr(torch, d) in supported]
        if torch.float32 in supported and info.supports_autograd:
            found.append(Case(2, f"grad/{name}"))
    return found


def _modules() -> list[Case]:
    from lazycore.conformance.database.modules import modules

    return [Case(2, f"module/{name}") for name in modules()]


def run(case: Case, context: Context) -> Outcome:
    """All samples of an op or a module on the device. Raises Failed where torch has moved its databases."""
    placement = placement_of(context.selection, lambda: context.foreign)
    _ = context.oracle
    LOOSENED.update(context.profile.tolerances)
    placement.begin()
    try:
        found = _run(case)
    except Moved as error:
        raise Failed(str(error)) from error
    outcome = _judged(found)
    placement.settle(outcome, found.fallbacks)
    return outcome


def _run(case: Case) -> Any:
    import torch

    from lazycore.conformance.database import modules, operators

    if case == _MOVED:
        operators.database()
    if case.group == "module":
        return modules.run(modules.modules()[case.name], case.name, SAMPLES_OF_MODULES)
    name, _, dtype = case.name.rpartition("/") if case.group == "opinfo" else (case.name, "", "float32")
    info = operators.database()[name]
    arguments = info, getattr(torch, dtype), case.group == "grad", _samples(case.group, dtype)
    return operators.run_together(*arguments) or operators.run(*arguments)


def _samples(group: str, dtype: str) -> int:
    if group == "grad":
        return SAMPLES_OF_GRADIENTS
    return SAMPLES if dtype == "float32" else SAMPLES_OF_OTHERS


def _judged(found: database_outcome.Outcome) -> Outcome:
    outcome = Outcome(samples=found.samples)
    for error in found.errors:
        outcome.fail(error)
    if not found.samples and not found.errors:
        outcome.status, outcome.message = Status.skipped, "the CPU computes none of its samples"
    elif not found.native and not found.errors:
        outcome.status = Status.unclaimed
        outcome.message = "no sample ran without " + ", ".join(sorted(found.fallbacks)[:5])
    if found.errors and all(_REFUSAL.search(error) for error in found.errors):
        outcome.status, outcome.message = Status.skipped, found.errors[0]
    tolerance = tolerance_of(found.op, found.dtype)
    if tolerance is not None:
        outcome.tolerances[f"{found.op} {found.dtype}"] = (tolerance.rtol, tolerance.atol)
    return outcome
