"""Ways to run one operator by itself: each gives a call that returns when the result exists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import torch

import lazycore
from bench.op_cases import Case

__all__ = ["WAYS", "Call"]


@dataclass(frozen=True)
class Call:
    """``run()``: the operator, waited for; ``results``: what it gave, on the CPU. Both within ``setting()``."""

    run: Callable[[], Any]
    results: Callable[[], list[torch.Tensor]]
    setting: Callable[[], AbstractContextManager[Any]] = nullcontext


def _first(results: Any) -> Any:
    return results[0] if isinstance(results, (tuple, list)) else results


def _torch(case: Case, gradient: bool, device: str, compiled: bool, wait: Callable[[], object]) -> Call:
    operands = [t.to(device) for t in case.tensors()]
    leaves = [t.requires_grad_() for t in operands if t.is_floating_point()] if gradient else []
    last: list[Any] = []

    def operator(*operands: torch.Tensor) -> Any:
        return case.operator(*operands)

    chosen = torch.compile(operator, dynamic=False) if compiled else operator
    with torch.no_grad():
        seed = torch.ones_like(_first(case.operator(*operands))) if gradient else None

    def forward() -> None:
        with torch.no_grad():
            last[:] = [chosen(*operands)]
        wait()

    def both() -> None:
        result = _first(chosen(*operands))
        last[:] = [result.detach(), *torch.autograd.grad(result, leaves, seed)]
        wait()

    return Call(both if gradient else forward, lambda: [t.cpu() for t in _flat(last)])


def _flat(results: Any) -> Iterator[Any]:
    for result in results:
        if isinstance(result, (tuple, list)):
            yield from _flat(result)
        else:
            yield result


def eager(case: Case, gradient: bool) -> Call:
    """PyTorch on CPU."""
    return _torch(case, gradient, "cpu", False, lambda: None)


def compiled(case: Case, gradient: bool) -> Call:
    """``torch.compile`` of the operator."""
    return _torch(case, gradient, "cpu", True, lambda: None)


def lazy(backend: str) -> Callable[[Case, bool], Call]:
    """lazycore on one backend: the operator is recorded, launched and waited for."""

    @contextmanager
    def setting() -> Iterator[None]:
        with lazycore.use_backend(backend):
            yield

    def make(case: Case, gradient: bool) -> Call:
        with setting():
            call = _torch(case, gradient, "lazycore", False, lazycore.sync)
        return Call(call.run, call.results, setting)

    return make


def by_hand(case: Case, gradient: bool) -> Call:
    """``jax.jit`` of the operator, or of it and its gradients."""
    operands = [jax.device_put(t.numpy()) for t in case.tensors()]
    wanted = [i for i, x in enumerate(operands) if np.issubdtype(x.dtype, np.floating)]
    # The gradient's seed is an argument, so that XLA cannot fold it into the program.
    seeds = [jax.numpy.ones_like(_first(case.by_hand(*operands)))] if gradient else []
    last: list[Any] = []

    def both(seed: jax.Array, *operands: jax.Array) -> Any:
        def of(*leaves: jax.Array) -> Any:
            filled = list(operands)
            for position, leaf in zip(wanted, leaves, strict=True):
                filled[position] = leaf
            return _first(case.by_hand(*filled))

        result, pull = jax.vjp(of, *(operands[i] for i in wanted))
        return [result, *pull(seed)]

    jitted = jax.jit(both if gradient else case.by_hand)

    def run() -> None:
        last[:] = [jax.block_until_ready(jitted(*seeds, *operands))]

    return Call(run, lambda: [torch.from_numpy(np.array(a)) for a in jax.tree_util.tree_leaves(last)])


WAYS: Mapping[str, Callable[[Case, bool], Call]] = {
    "eager": eager,
    "torch.compile": compiled,
    "jax": by_hand,
    "lazycore": lazy("xla"),
    "lazycore, reference": lazy("reference"),
    "lazycore, tvm": lazy("tvm"),
}
