"""One sample of PyTorch's OpInfo database: called on the CPU, called on the device, compared."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

from lazycore.conformance.database.compare import compare
from lazycore.conformance.database.exact import Exact, widened
from lazycore.conformance.database.moving import copied, moved, tensors
from lazycore.conformance.database.ties import FREE_VECTORS, resolve
from lazycore.conformance.database.tolerances import Tolerance

__all__ = ["Trial", "seed"]

# Their content is whatever memory held; geometry is all that can be compared.
_UNINITIALIZED = ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")


def seed() -> None:
    """Begin all streams of random numbers anew."""
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)


class Trial:
    """Its steps, in this order: what is right, forward on the device, backward on the device. Nothing is observed on
    the device before it is compared, so that many trials can be one program."""

    def __init__(self, info: Any, sample: Any, tolerance: Tolerance | None) -> None:
        self._info, self._sample, self._tolerance = info, sample, tolerance
        self._given = (sample.input, sample.args, sample.kwargs)
        self._here = copied(self._given)
        self._right: Any = None
        self._there: Any = None
        self._mine: Any = None
        self._slopes: tuple[Any, Any] | None = None

    def expect(self) -> bool:
        """Call it on the CPU. False where that refuses the sample: another table compares errors."""
        try:
            self._right = self._call(self._here)
        except Exception:
            return False
        return True

    def forward(self) -> None:
        """Call it on the device. Raises what that does."""
        there = moved(self._given)
        if "tensor_split" in self._info.name:
            there = (there[0], *pytree.tree_map(_to_cpu, there[1:]))
        self._there = there
        self._mine = self._call(there)

    def compare_forward(self) -> None:
        """Raises Differs where results, or the inputs afterwards, are not the CPU's."""
        values = self._info.name.rpartition(".")[2] not in _UNINITIALIZED
        results = self._comparable(self._here, self._right), self._comparable(self._there, self._mine)
        compare(*results, "forward", values, self._tolerance, Exact(self._exact))
        left = _plain(self._here), _plain(self._there)
        compare(*left, "inputs afterwards", tolerance=self._tolerance, exact=Exact(self._exact_inputs))

    def backward(self) -> bool:
        """Differentiate here and there. False where the CPU cannot. Raises what the device does."""
        try:
            expected = self._gradients(self._right, self._here)
        except Exception:
            return False
        if expected is None:
            return False
        self._slopes = expected, self._gradients(self._mine, self._there)
        return True

    def compare_backward(self) -> None:
        """Raises Differs where the gradients are not the CPU's; nothing where there are none."""
        if self._slopes is not None:
            compare(*self._slopes, "backward", tolerance=self._tolerance, exact=Exact(self._exact_gradients))

    def _call(self, arguments: Any) -> Any:
        seed()
        return self._info.op(arguments[0], *arguments[1], **arguments[2])

    def _comparable(self, arguments: Any, result: Any) -> Any:
        """The result less what the op leaves open."""
        if self._info.name in FREE_VECTORS:
            return self._sample.output_process_fn_grad(result)
        return resolve(self._info.name, arguments, result)

    def _exact(self) -> Any:
        wide = widened(copied(self._given))
        return self._comparable(wide, self._call(wide))

    def _exact_inputs(self) -> Any:
        """The inputs after the call, some of which it may write."""
        wide = widened(copied(self._given))
        self._call(wide)
        return _plain(wide)

    def _exact_gradients(self) -> Any:
        wide = widened(copied(self._given))
        return self._gradients(self._call(wide), wide)

    def _gradients(self, result: Any, arguments: Any) -> Any:
        """The gradients of all inputs for a fixed gradient of the results, the same on both devices and in any
        precision; None where nothing is differentiable."""
        outputs = [t for t in tensors(self._sample.output_process_fn_grad(result)) if t.requires_grad]
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
