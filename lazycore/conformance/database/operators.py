"""One op and dtype of PyTorch's OpInfo database, run on CPU and on the device."""

from __future__ import annotations

import random
import warnings
from functools import cache
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

import lazycore
from lazycore.conformance.database.compare import Differs, compare
from lazycore.conformance.database.exact import Exact, widened
from lazycore.conformance.database.internals import operator_entries
from lazycore.conformance.database.moving import copied, moved, tensors
from lazycore.conformance.database.outcome import Outcome
from lazycore.conformance.database.ties import FREE_VECTORS, resolve
from lazycore.conformance.database.tolerances import tolerance_of
from lazycore.conformance.database.witness import Witness

__all__ = ["database", "name_of", "run"]

SAMPLES = 30
# Their content is whatever memory held; geometry is all that can be compared.
_UNINITIALIZED = ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")


def name_of(info: Any) -> str:
    """The name that tells variants of one op apart."""
    name: str = info.name
    return f"{name}.{info.variant_test_name}" if info.variant_test_name else name


@cache
def database() -> dict[str, Any]:
    """All ops by name. Raises Moved."""
    return {name_of(info): info for info in operator_entries()}


def run(info: Any, dtype: torch.dtype, backward: bool, limit: int = SAMPLES, witness: Witness | None = None) -> Outcome:
    """Run up to ``limit`` samples, evenly chosen. Nothing is raised: failures are in the outcome. Where there is a
    ``witness``, its phases tell what ran where."""
    outcome = Outcome(name_of(info), str(dtype).removeprefix("torch."))
    differentiable = backward and dtype is torch.float32 and info.supports_autograd
    _seed()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            samples = list(info.sample_inputs("cpu", dtype, requires_grad=differentiable))
        except Exception as error:  # the database cannot make samples of this dtype here
            outcome.fail("samples", error)
            return outcome
        step = max(1.0, len(samples) / limit)
        for position in range(min(limit, len(samples))):
            _one(outcome, info, samples[int(position * step)], differentiable, witness)
    return outcome


def _seed() -> None:
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)


def _one(outcome: Outcome, info: Any, sample: Any, differentiable: bool, witness: Witness | None) -> None:
    given = (sample.input, sample.args, sample.kwargs)
    here = copied(given)
    try:
        expected = _call(info, here)
    except Exception:  # CPU refuses the sample: another table compares errors
        return
    outcome.samples += 1
    lazycore.reset_metrics()
    if witness is not None:
        witness.begin()
    there = moved(given)
    if "tensor_split" in info.name:
        there = (there[0], *pytree.tree_map(_to_cpu, there[1:]))
    tolerance = tolerance_of(outcome.op, outcome.dtype)
    try:
        actual = _call(info, there)
        values = info.name.rpartition(".")[2] not in _UNINITIALIZED
        results = _comparable(info, sample, here, expected), _comparable(info, sample, there, actual)
        compare(*results, "forward", values, tolerance, _exact(info, sample, given))
        left = _exact_inputs(info, given)
        compare(_plain(here), _plain(there), "inputs afterwards", tolerance=tolerance, exact=left)
        outcome.forward += 1
        _settle(witness, outcome, "forward")
    except (Exception, Differs) as error:
        outcome.fail("forward", error)
        return
    if differentiable:
        _differentiate(outcome, info, sample, (expected, here), (actual, there), witness)
    outcome.fallbacks.update(lazycore.metrics()["fallbacks"])
    outcome.native += not lazycore.metrics()["fallbacks"]


def _settle(witness: Witness | None, outcome: Outcome, phase: str) -> None:
    if witness is not None:
        witness.settle(outcome.phase(phase))
        witness.begin()


def _call(info: Any, arguments: Any) -> Any:
    _seed()
    return info.op(arguments[0], *arguments[1], **arguments[2])


def _comparable(info: Any, sample: Any, arguments: Any, result: Any) -> Any:
    """The result less what the op leaves open."""
    if info.name in FREE_VECTORS:
        return sample.output_process_fn_grad(result)
    return resolve(info.name, arguments, result)


def _exact(info: Any, sample: Any, given: Any) -> Exact:
    def compute() -> Any:
        wide = widened(copied(given))
        return _comparable(info, sample, wide, _call(info, wide))

    return Exact(compute)


def _exact_inputs(info: Any, given: Any) -> Exact:
    """The inputs after the call, some of which it may write."""

    def compute() -> Any:
        wide = widened(copied(given))
        _call(info, wide)
        return _plain(wide)

    return Exact(compute)


def _differentiate(
    outcome: Outcome,
    info: Any,
    sample: Any,
    cpu: tuple[Any, Any],
    device: tuple[Any, Any],
    witness: Witness | None,
) -> None:
    try:
        expected = _gradients(sample, *cpu)
    except Exception:  # not differentiable on CPU either
        return
    if expected is None:
        return

    def compute() -> Any:
        wide = widened(copied((sample.input, sample.args, sample.kwargs)))
        return _gradients(sample, _call(info, wide), wide)

    try:
        actual = _gradients(sample, *device)
        tolerance = tolerance_of(outcome.op, outcome.dtype)
        compare(expected, actual, "backward", tolerance=tolerance, exact=Exact(compute))
        outcome.backward += 1
        _settle(witness, outcome, "backward")
    except (Exception, Differs) as error:
        outcome.fail("backward", error)


def _gradients(sample: Any, result: Any, arguments: Any) -> Any:
    """The gradients of all inputs for a fixed gradient of the results, the same on both devices and in any precision;
    None where nothing is differentiable."""
    outputs = [t for t in tensors(sample.output_process_fn_grad(result)) if t.requires_grad]
    outputs = [t for t in outputs if t.layout is torch.strided]
    inputs = [t for t in tensors(arguments) if t.requires_grad and t.is_leaf]
    if not outputs or not inputs:
        return None
    torch.manual_seed(1)
    seeds = [_slope(t) for t in outputs]
    return torch.autograd.grad(outputs, inputs, seeds, allow_unused=True)


def _slope(output: torch.Tensor) -> torch.Tensor:
    """Random numbers in single precision; in the dtype of an output that has more."""
    kind = torch.complex64 if output.is_complex() else torch.float32
    return torch.randn(output.shape, dtype=kind).to(output.dtype).to(output.device)


def _plain(tree: Any) -> list[torch.Tensor]:
    return [t.detach() for t in tensors(tree) if not t.is_sparse and t.layout is torch.strided]


def _to_cpu(x: Any) -> Any:
    return x.cpu() if isinstance(x, torch.Tensor) else x
