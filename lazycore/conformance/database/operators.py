"""One op and dtype of PyTorch's OpInfo database, run on CPU and on the device."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import torch

import lazycore
from lazycore.conformance.database.compare import Differs
from lazycore.conformance.database.internals import operator_entries
from lazycore.conformance.database.outcome import Outcome
from lazycore.conformance.database.tolerances import tolerance_of
from lazycore.conformance.database.trial import Trial, seed
from lazycore.conformance.database.witness import Witness

__all__ = ["database", "name_of", "run", "run_together"]

SAMPLES = 30


def name_of(info: Any) -> str:
    """The name that tells variants of one op apart."""
    name: str = info.name
    return f"{name}.{info.variant_test_name}" if info.variant_test_name else name


@cache
def database() -> dict[str, Any]:
    """All ops by name. Raises Moved."""
    return {name_of(info): info for info in operator_entries()}


def run(info: Any, dtype: torch.dtype, backward: bool, limit: int = SAMPLES, witness: Witness | None = None) -> Outcome:
    """Run up to ``limit`` samples, evenly chosen, one after the other. Nothing is raised: failures are in the outcome.
    Where there is a ``witness``, its phases tell what ran where."""
    outcome = _begun(info, dtype)
    differentiable = _differentiable(info, dtype, backward)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            trials = _trials(outcome, info, dtype, differentiable, limit)
        except Exception as error:  # the database cannot make samples of this dtype here
            outcome.fail("samples", error)
            return outcome
        for trial in trials:
            _one(outcome, trial, differentiable, witness)
    return outcome


def run_together(info: Any, dtype: torch.dtype, backward: bool, limit: int = SAMPLES) -> Outcome | None:
    """The same, with all samples recorded before anything is computed: one program instead of many, which compilers
    take a fraction of the time for. None where anything is wrong, or fell back: by itself, each sample tells what."""
    outcome = _begun(info, dtype)
    differentiable = _differentiable(info, dtype, backward)
    lazycore.sync()
    lazycore.reset_metrics()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            trials = [t for t in _trials(outcome, info, dtype, differentiable, limit) if t.expect()]
            for trial in trials:
                trial.forward()
            outcome.backward = sum(trial.backward() for trial in trials) if differentiable else 0
            for trial in trials:
                trial.compare_forward()
                trial.compare_backward()
        except (Exception, Differs):
            return None
    outcome.samples = outcome.forward = outcome.native = len(trials)
    return None if lazycore.metrics()["fallbacks"] else outcome


def _begun(info: Any, dtype: torch.dtype) -> Outcome:
    return Outcome(name_of(info), str(dtype).removeprefix("torch."))


def _differentiable(info: Any, dtype: torch.dtype, backward: bool) -> bool:
    return backward and dtype is torch.float32 and bool(info.supports_autograd)


def _trials(outcome: Outcome, info: Any, dtype: torch.dtype, differentiable: bool, limit: int) -> list[Trial]:
    seed()
    samples = list(info.sample_inputs("cpu", dtype, requires_grad=differentiable))
    step = max(1.0, len(samples) / limit)
    chosen = [samples[int(position * step)] for position in range(min(limit, len(samples)))]
    tolerance = tolerance_of(outcome.op, outcome.dtype)
    return [Trial(info, sample, tolerance) for sample in chosen]


def _one(outcome: Outcome, trial: Trial, differentiable: bool, witness: Witness | None) -> None:
    if not trial.expect():
        return
    outcome.samples += 1
    lazycore.reset_metrics()
    if witness is not None:
        witness.begin()
    try:
        trial.forward()
        trial.compare_forward()
        outcome.forward += 1
        _settle(witness, outcome, "forward")
    except (Exception, Differs) as error:
        outcome.fail("forward", error)
        return
    if differentiable:
        _differentiate(outcome, trial, witness)
    outcome.fallbacks.update(lazycore.metrics()["fallbacks"])
    outcome.native += not lazycore.metrics()["fallbacks"]


def _differentiate(outcome: Outcome, trial: Trial, witness: Witness | None) -> None:
    try:
        if trial.backward():
            trial.compare_backward()
            outcome.backward += 1
            _settle(witness, outcome, "backward")
    except (Exception, Differs) as error:
        outcome.fail("backward", error)


def _settle(witness: Witness | None, outcome: Outcome, phase: str) -> None:
    if witness is not None:
        witness.settle(outcome.phase(phase))
        witness.begin()
