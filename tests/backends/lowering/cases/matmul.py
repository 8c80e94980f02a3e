"""Matrix products."""

from __future__ import annotations

import torch

from lowering.case import ACCUMULATED, Case, case
from lowering.samples import NAN, floats, ints

_DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)


def _case(op: str, *args: object, **kwargs: object) -> Case:
    return case(f"aten.{op}.default", *args, tolerance=ACCUMULATED, **kwargs)  # type: ignore[arg-type]


PRODUCTS = [
    _case("mm", floats(3, 40, dtype=d, low=-1, high=1), floats(40, 5, dtype=d, low=-1, high=1)) for d in _DTYPES
]
PRODUCTS += [
    _case("mm", floats(0, 4), floats(4, 3)),
    _case("mm", floats(2, 0), floats(0, 3)),
    _case("mm", ints(3, 4), ints(4, 5)),
    _case("mm", ints(3, 4, dtype=torch.int32), ints(4, 5, dtype=torch.int32)),
    _case("bmm", floats(2, 3, 4), floats(2, 4, 5)),
    _case("bmm", floats(2, 3, 4, dtype=torch.bfloat16), floats(2, 4, 5, dtype=torch.bfloat16)),
    _case("bmm", floats(0, 3, 4), floats(0, 4, 5)),
    _case("bmm", ints(2, 3, 4), ints(2, 4, 5)),
    _case("mv", floats(3, 4), floats(4)),
    _case("mv", floats(3, 0), floats(0)),
    _case("mv", ints(3, 4), ints(4)),
    _case("dot", floats(9), floats(9, seed=1)),
    _case("dot", floats(0), floats(0)),
    _case("dot", ints(9), ints(9, seed=1)),
]
FUSED = [
    _case("addmm", bias, floats(3, 4), floats(4, 5), **scales)
    for bias in (floats(5), floats(3, 5), floats(3, 1), floats(), torch.full((5,), NAN))
    for scales in ({}, {"beta": 0}, {"beta": 0.5, "alpha": 2.0}, {"alpha": -1.5})
]
FUSED += [
    _case(
        "addmm", floats(5, dtype=torch.bfloat16), floats(3, 4, dtype=torch.bfloat16), floats(4, 5, dtype=torch.bfloat16)
    ),
    _case("addmm", ints(5), ints(3, 4), ints(4, 5), beta=2, alpha=3),
    _case("addmm", floats(5), floats(3, 0), floats(0, 5)),
    _case("baddbmm", floats(2, 3, 5), floats(2, 3, 4), floats(2, 4, 5)),
    _case("baddbmm", floats(5), floats(2, 3, 4), floats(2, 4, 5), beta=0.3, alpha=0.7),
    _case("baddbmm", torch.full((5,), NAN), floats(2, 3, 4), floats(2, 4, 5), beta=0),
    _case("addbmm", floats(3, 5), floats(2, 3, 4), floats(2, 4, 5)),
    _case("addbmm", floats(5), floats(2, 3, 4), floats(2, 4, 5), beta=0.3, alpha=0.7),
    _case("addmv", floats(3), floats(3, 4), floats(4)),
    _case("addmv", floats(), floats(3, 4), floats(4), beta=0.3, alpha=0.7),
    _case("addr", floats(3, 4), floats(3), floats(4)),
    _case("addr", floats(4), floats(3), floats(4), beta=0.3, alpha=0.7),
    _case("addr", torch.full((4,), NAN), floats(3), floats(4), beta=0),
]


def _ends(*ends: int) -> torch.Tensor:
    return torch.tensor(ends, dtype=torch.int32)


def _transposed(x: torch.Tensor) -> torch.Tensor:
    # PyTorch wants the strides of both operands to be multiples of 16 bytes.
    return x.mT.contiguous().mT


GROUPED = [
    _case("_grouped_mm", floats(*a, dtype=d, low=-1, high=1), floats(*b, dtype=d, seed=1, low=-1, high=1), ends)
    for d in (torch.float32, torch.bfloat16, torch.float16)
    for a, b, ends in (
        ((200, 16), (3, 16, 8), _ends(130, 130, 200)),
        ((8, 16), (3, 16, 8), _ends(0, 3, 8)),
        ((16, 200), (200, 8), _ends(70, 70, 200)),
        ((3, 16, 8), (8, 200), _ends(16, 16, 200)),
        ((3, 16, 8), (3, 8, 8), None),
    )
]
GROUPED += [
    _case("_grouped_mm", floats(8, 16), _transposed(floats(2, 16, 8)), _ends(3, 8)),
    # A group's NaN stays in its group.
    _case("_grouped_mm", floats(8, 16), torch.stack([floats(16, 8), torch.full((16, 8), NAN)]), _ends(3, 8)),
    _case("_grouped_mm", torch.cat([floats(4, 8), torch.full((4, 8), NAN)], 1), floats(16, 8), _ends(8, 16)),
]

CASES = [*PRODUCTS, *FUSED, *GROUPED]
