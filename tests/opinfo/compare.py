"""Whether a result on the device is CPU eager's: structure, dtype, shape, values."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree

from tests.opinfo.tolerances import Tolerance

DEVICE = "lazycore"


class Differs(Exception):
    """A result is not CPU's; the message says where and how."""


def compare(expected: Any, actual: Any, what: str, values: bool = True, tolerance: Tolerance | None = None) -> None:
    """Raise Differs unless ``actual`` is ``expected`` on the device. ``values=False`` compares geometry only;
    ``tolerance`` replaces torch's own."""
    left, right = pytree.tree_leaves(expected), pytree.tree_leaves(actual)
    if len(left) != len(right):
        raise Differs(f"{what}: {len(right)} results where CPU has {len(left)}")
    for a, b in zip(left, right, strict=True):
        if isinstance(a, torch.Tensor):
            _compare_tensors(a, b, what, values, tolerance)
        elif a != b and not (a != a and b != b):
            raise Differs(f"{what}: {b!r} where CPU has {a!r}")


def _compare_tensors(a: torch.Tensor, b: Any, what: str, values: bool, tolerance: Tolerance | None) -> None:
    if not isinstance(b, torch.Tensor):
        raise Differs(f"{what}: {type(b).__name__} where CPU has a tensor")
    for name in ("dtype", "shape", "layout"):
        if getattr(a, name) != getattr(b, name):
            raise Differs(f"{what}: {name} {getattr(b, name)} where CPU has {getattr(a, name)}")
    if values:
        _compare_values(a.detach(), b.detach().cpu(), what, tolerance)


def _compare_values(a: torch.Tensor, b: torch.Tensor, what: str, tolerance: Tolerance | None) -> None:
    if a.layout is not torch.strided or a.is_quantized:
        return
    if a.dtype is torch.complex32:
        a, b = a.to(torch.complex64), b.to(torch.complex64)
    try:
        wide = tolerance is not None and (a.is_floating_point() or a.is_complex())
        limits = {"rtol": tolerance.rtol, "atol": tolerance.atol} if tolerance is not None and wide else {}
        torch.testing.assert_close(b, a, equal_nan=True, **limits)
    except AssertionError as error:
        raise Differs(f"{what}: {' '.join(str(error).split())[:300]}") from None
