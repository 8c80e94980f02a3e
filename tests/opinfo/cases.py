"""One op and dtype of PyTorch's OpInfo database, run on CPU and on the device."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

import lazycore
from tests.opinfo.compare import DEVICE, Differs, compare
from tests.opinfo.moving import copied, moved, tensors
from tests.opinfo.outcome import Outcome
from tests.opinfo.ties import FREE_VECTORS, resolve
from tests.opinfo.tolerances import tolerance_of

__all__ = ["database", "name_of", "run"]

SAMPLES = 30
# Their content is whatever memory held; geometry is all that can be compared.
_UNINITIALIZED = ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")


def name_of(info: Any) -> str:
    """The name that tells variants of one op apart."""
    return info.name + (f".{info.variant_test_name}" if info.variant_test_name else "")


def database() -> dict[str, Any]:
    """All ops by name."""
    return {name_of(info): info for info in op_db}


def run(info: Any, dtype: torch.dtype, backward: bool, limit: int = SAMPLES) -> Outcome:
    """Run up to ``limit`` samples, evenly chosen. Nothing is raised: failures are in the outcome."""
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
            _one(outcome, info, samples[int(position * step)], differentiable)
    return outcome


def _seed() -> None:
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)


def _one(outcome: Outcome, info: Any, sample: Any, differentiable: bool) -> None:
    given = (sample.input, sample.args, sample.kwargs)
    here = copied(given)
    _seed()
    try:
        expected = info.op(here[0], *here[1], **here[2])
    except Exception:  # CPU refuses the sample: another table compares errors
        return
    outcome.samples += 1
    lazycore.reset_metrics()
    there = moved(given)
    if "tensor_split" in info.name:
        there = (there[0], *pytree.tree_map(_to_cpu, there[1:]))
    tolerance = tolerance_of(outcome.op, outcome.dtype)
    _seed()
    try:
        actual = info.op(there[0], *there[1], **there[2])
        values = info.name.rpartition(".")[2] not in _UNINITIALIZED
        results = resolve(info.name, here, expected), resolve(info.name, there, actual)
        if info.name in FREE_VECTORS:
            results = sample.output_process_fn_grad(expected), sample.output_process_fn_grad(actual)
        compare(*results, "forward", values, tolerance)
        compare(_plain(here), _plain(there), "inputs afterwards", tolerance=tolerance)
        outcome.forward += 1
    except (Exception, Differs) as error:
        outcome.fail("forward", error)
        return
    if differentiable:
        _differentiate(outcome, sample, (expected, here), (actual, there))
    outcome.fallbacks.update(lazycore.metrics()["fallbacks"])
    outcome.native += not lazycore.metrics()["fallbacks"]


def _differentiate(outcome: Outcome, sample: Any, cpu: tuple[Any, Any], device: tuple[Any, Any]) -> None:
    outputs = [t for t in tensors(sample.output_process_fn_grad(cpu[0])) if t.requires_grad]
    outputs = [t for t in outputs if t.layout is torch.strided]
    inputs = [t for t in tensors(cpu[1]) if t.requires_grad and t.is_leaf]
    if not outputs or not inputs:
        return
    torch.manual_seed(1)
    seeds = [torch.randn(t.shape, dtype=t.dtype) for t in outputs]
    try:
        expected = torch.autograd.grad(outputs, inputs, seeds, allow_unused=True)
    except Exception:  # not differentiable on CPU either
        return
    try:
        lazy = [t for t in tensors(sample.output_process_fn_grad(device[0])) if t.requires_grad]
        leaves = [t for t in tensors(device[1]) if t.requires_grad and t.is_leaf]
        actual = torch.autograd.grad(lazy, leaves, [s.to(DEVICE) for s in seeds], allow_unused=True)
        compare(expected, actual, "backward", tolerance=tolerance_of(outcome.op, outcome.dtype))
        outcome.backward += 1
    except (Exception, Differs) as error:
        outcome.fail("backward", error)


def _plain(tree: Any) -> list[torch.Tensor]:
    return [t.detach() for t in tensors(tree) if not t.is_sparse and t.layout is torch.strided]


def _to_cpu(x: Any) -> Any:
    return x.cpu() if isinstance(x, torch.Tensor) else x
