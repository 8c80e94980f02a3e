"""Whether a result on the device is CPU eager's: structure, dtype, shape, values."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree

from lazycore.conformance.database.exact import Exact, as_near
from lazycore.conformance.database.tolerances import Tolerance

DEVICE = "lazycore"


class Differs(Exception):
    """A result is not CPU's; the message says where and how."""


def compare(
    expected: Any,
    actual: Any,
    what: str,
    values: bool = True,
    tolerance: Tolerance | None = None,
    exact: Exact | None = None,
) -> None:
    """Raise Differs unless ``actual`` is ``expected`` on the device. ``values=False`` compares geometry only;
    ``tolerance`` replaces torch's own; ``exact``: the same in double precision, which decides between the two."""
    left, right = pytree.tree_leaves(expected), pytree.tree_leaves(actual)
    if len(left) != len(right):
        raise Differs(f"{what}: {len(right)} results where CPU has {len(left)}")
    for place, (a, b) in enumerate(zip(left, right, strict=True)):
        if not isinstance(a, torch.Tensor):
            if a != b and not (a != a and b != b):
                raise Differs(f"{what}: {b!r} where CPU has {a!r}")
            continue
        _compare_geometry(a, b, what)
        if values and a.layout is torch.strided and not a.is_quantized:
            difference = _difference(a.detach(), b.detach().cpu(), tolerance)
            if difference and not (exact and as_near(exact.leaf(place, len(left)), a, b.detach().cpu())):
                raise Differs(f"{what}: {difference}")


def _compare_geometry(a: torch.Tensor, b: Any, what: str) -> None:
    if not isinstance(b, torch.Tensor):
        raise Differs(f"{what}: {type(b).__name__} where CPU has a tensor")
    for name in ("dtype", "shape", "layout"):
        if getattr(a, name) != getattr(b, name):
            raise Differs(f"{what}: {name} {getattr(b, name)} where CPU has {getattr(a, name)}")


def _difference(a: torch.Tensor, b: torch.Tensor, tolerance: Tolerance | None) -> str:
    """How b differs from a, by torch's tolerance or a row's; empty where it does not."""
    if a.dtype is torch.complex32:
        a, b = a.to(torch.complex64), b.to(torch.complex64)
    try:
        limits: dict[str, Any] = {}
        if tolerance is not None and (a.is_floating_point() or a.is_complex()):
            limits = {"rtol": tolerance.rtol, "atol": tolerance.atol}
        torch.testing.assert_close(b, a, equal_nan=True, **limits)
    except AssertionError as error:
        return " ".join(str(error).split())[:300]
    return ""
