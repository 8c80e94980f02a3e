"""Whether a result that is not the CPU's is as right as the CPU's: both are measured against double precision.

Sums in another order, products kept in float32 where the CPU rounds each to 16 bits: such results differ from the CPU's
by more than torch's usual tolerance without being worse. A result is accepted where no element is farther from the
exact one than torch's tolerance and four times the CPU's own greatest error together allow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

__all__ = ["Exact", "as_near", "widened"]

# Sums of 30 to 1000 numbers in two random orders are equally good: over 4 to 30 such sums the greatest error of the one
# is more than twice the other's in 5 to 18 of 100 cases, and more than four times in 3 at most.
MARGIN = 4.0
# A CPU result farther from the exact one than this part of its size is no rounding: another draw, another branch.
NOISE = 0.1
_WIDE = {
    torch.float32: torch.float64, torch.float16: torch.float64, torch.bfloat16: torch.float64,
    torch.complex64: torch.complex128,
}  # fmt: skip


class Exact:
    """Results in double precision, computed when they are first asked for."""

    def __init__(self, compute: Callable[[], Any]) -> None:
        self._compute = compute
        self._leaves: list[Any] | None = None

    def leaf(self, place: int, count: int) -> Any:
        """One of ``count`` results, or None where the op does not compute in double precision."""
        if self._leaves is None:
            try:
                self._leaves = pytree.tree_leaves(self._compute())
            except Exception:  # without an exact result, torch's tolerance decides
                self._leaves = []
        return self._leaves[place] if len(self._leaves) == count else None


def widened(tree: Any) -> Any:
    """The same structure in double precision: tensors, and dtypes named in it."""
    return pytree.tree_map(_wide, tree)


def _wide(x: Any) -> Any:
    if isinstance(x, torch.dtype):
        return _WIDE.get(x, x)
    if not isinstance(x, torch.Tensor) or x.dtype not in _WIDE:
        return x
    return x.detach().to(_WIDE[x.dtype]).requires_grad_(x.requires_grad)


def as_near(exact: Any, cpu: torch.Tensor, device: torch.Tensor) -> bool:
    """Whether ``device`` is ``exact``, or no farther from it than rounding explains; all are on the CPU.

    False where the exact result is not to be had: of another shape or dtype, or not what the CPU computed.
    """
    target = _WIDE.get(cpu.dtype)
    if target is None or not isinstance(exact, torch.Tensor) or exact.dtype is not target or exact.shape != cpu.shape:
        return False
    cpu, device, exact = cpu.detach(), device.detach(), exact.detach()
    rtol, atol = torch.testing._comparison.default_tolerances(cpu)
    if torch.allclose(device.to(target), exact, rtol, atol, equal_nan=True):
        return True  # whatever made the CPU overflow or cancel
    finite = torch.isfinite(cpu)
    if not finite.any() or not torch.equal(torch.isfinite(device), finite):
        return False
    if not torch.allclose(cpu[~finite], device[~finite], equal_nan=True):
        return False
    cpu, device, exact = (x[finite].to(target) for x in (cpu, device, exact))
    error, size = (cpu - exact).abs().max(), exact.abs()
    if not error <= NOISE * size.max():
        return False
    return bool(((device - exact).abs() <= atol + rtol * size + MARGIN * error).all())
