"""Reductions, scans and softmax."""

from __future__ import annotations

import torch

from lowering.case import ACCUMULATED, EXACT, Case, Tolerance, case
from lowering.samples import INF, bools, floats, ints, special

_B, _H = torch.bfloat16, torch.float16
_TIES = torch.tensor([[1.0, 3.0, 3.0], [float("nan"), 2.0, float("nan")], [-INF, -INF, -INF]])


def _case(op: str, *args: object, **kwargs: object) -> Case:
    return case(op, *args, tolerance=ACCUMULATED, **kwargs)  # type: ignore[arg-type]


_WHOLE = [
    floats(3, 4),
    floats(),
    floats(0, 3),
    special(),
    ints(3, 4),
    bools(3, 4),
    floats(50, dtype=_B),
    floats(50, dtype=_H),
]
_WHOLE += [ints(9, dtype=torch.int8, low=-128, high=128), floats(3000, low=0, high=1)]
_DIMS: list[object] = [[0], [1], [-1], [0, 2], None, [], [0, 1, 2]]

SUMS = [_case("aten.sum.default", x) for x in _WHOLE]
SUMS += [_case("aten.prod.default", x) for x in _WHOLE if x.dtype not in (_B, _H)]
# PyTorch rounds a product of 16-bit floats after each factor.
SUMS += [case("aten.prod.default", floats(12, dtype=d), tolerance=Tolerance(rtol=0.05)) for d in (_B, _H)]
SUMS += [_case("aten.mean.default", x) for x in _WHOLE if x.is_floating_point()]
SUMS += [
    _case(f"aten.{name}", x, dims, keep)
    for name in ("sum.dim_IntList", "mean.dim")
    for dims in _DIMS
    for keep in (False, True)
    for x in (floats(2, 3, 4), floats(2, 0, 4))
]
SUMS += [
    _case("aten.sum.dim_IntList", ints(3, 4), [1]),
    _case("aten.sum.dim_IntList", bools(3, 4), [0], True),
    _case("aten.sum.dim_IntList", floats(), [0]),
    _case("aten.sum.dim_IntList", floats(3, 200, dtype=_B), [1]),
    _case("aten.sum.dim_IntList", floats(3, 200, dtype=_H), [-1]),
    _case("aten.sum.dim_IntList", floats(3, 4, dtype=_H), [-1], dtype=torch.float32),
    _case("aten.sum.default", ints(3, 4, dtype=torch.int32), dtype=torch.int32),
    _case("aten.sum.default", floats(3, 4), dtype=torch.float64),
    _case("aten.mean.default", ints(3, 4), dtype=torch.float32),
    _case("aten.mean.dim", floats(), [0]),
    _case("aten.mean.dim", floats(3, 200, dtype=_B), [1]),
    _case("aten.prod.dim_int", floats(3, 4), 1),
    _case("aten.prod.dim_int", floats(3, 4), -2, True),
    _case("aten.prod.dim_int", ints(3, 4), 0),
    _case("aten.prod.dim_int", floats(3, 0), 1),
    _case("aten.prod.dim_int", floats(), 0),
    _case("aten.prod.default", floats(5), dtype=torch.float64),
]

# A mean is a sum divided, not a sum times a reciprocal: that of ones is 1.
SUMS += [case("aten.mean.default", torch.ones(n), tolerance=EXACT) for n in (3, 41, 49)]
SUMS += [case("aten.mean.dim", torch.ones(4, n), [1], tolerance=EXACT) for n in (41, 49)]

_ORDERED = [floats(2, 3, 4), special(), ints(3, 4), bools(3, 4), floats(3, 4, dtype=_B), _TIES, floats()]
EXTREMA = [
    _case(f"aten.{name}.default", x)
    for name in ("max", "min", "argmax", "argmin")
    for x in _ORDERED
    if x.dtype != torch.bool
]
EXTREMA += [_case(f"aten.{name}.default", bools(3, 4)) for name in ("max", "min")]
EXTREMA += [
    _case(f"aten.{name}.dim", x, -1, keep) for name in ("max", "min") for x in _ORDERED for keep in (False, True)
]
EXTREMA += [
    case(f"aten.{name}.dim", torch.tensor([[-0.0, 0.0, -0.0], [0.0, -0.0, 0.0]]), dim, tolerance=EXACT)
    for name in ("max", "min")
    for dim in (0, 1)
]
EXTREMA += [_case(f"aten.{name}.dim", floats(2, 3, 4), 1) for name in ("max", "min")]
EXTREMA += [_case(f"aten.{name}.dim", floats(0, 3), 1) for name in ("max", "min")]
EXTREMA += [
    _case(f"aten.{name}.default", x, dims, keep)
    for name in ("amax", "amin")
    for x in _ORDERED
    for dims in ([-1], [0], [])
    for keep in (False, True)
]
EXTREMA += [_case(f"aten.{name}.default", floats(2, 3, 4), [0, -1]) for name in ("amax", "amin")]
EXTREMA += [
    _case(f"aten.{name}.default", x, dim, keep)
    for name in ("argmax", "argmin")
    for x in _ORDERED
    for dim in (-1, 0)
    for keep in (False, True)
    if x.dtype != torch.bool
]
EXTREMA += [_case(f"aten.{name}.default", floats(3, 4), None, True) for name in ("argmax", "argmin")]

_TRUTHS = [bools(2, 3), floats(2, 3).round(), ints(2, 3, low=0, high=2), bools(0, 3), bools(), special()]
LOGIC = [_case(f"aten.{name}.default", x) for name in ("any", "all") for x in _TRUTHS]
LOGIC += [_case(f"aten.{name}.dim", x, -1, keep) for name in ("any", "all") for x in _TRUTHS for keep in (False, True)]
LOGIC += [_case(f"aten.{name}.dims", bools(2, 3, 4), dims) for name in ("any", "all") for dims in ([0, 1], [-1], None)]
LOGIC += [_case(f"aten.{name}.default", torch.tensor([0, 3], dtype=torch.uint8)) for name in ("any", "all")]
LOGIC += [
    _case("aten.count_nonzero.dim_IntList", x, [-1])
    for x in (bools(2, 3), floats(2, 3).round(), ints(2, 3, low=0, high=2))
]
LOGIC += [_case("aten.count_nonzero.dim_IntList", floats(2, 3, 4).round(), [0, 2])]

MOMENTS = [
    _case(f"aten.{name}.correction", x, dims, correction=correction, keepdim=keep)
    for name in ("var", "std", "var_mean")
    for x, dims in (
        (floats(3, 4, 5), [1]),
        (floats(3, 4, 5), [0, -1]),
        (floats(3, 4, 5), None),
        (floats(6, 40, dtype=_B), [-1]),
    )
    for correction in (0, 1, None)
    for keep in (False, True)
]
MOMENTS += [
    _case("aten.var.correction", floats(5) + 1000, [0], correction=1),
    _case("aten.var.correction", floats(1), [0], correction=1),
]
MOMENTS += [
    _case("aten.logsumexp.default", x, [-1], keep) for x in (floats(3, 4), floats(3, 4) * 100) for keep in (False, True)
]
MOMENTS += [
    _case("aten.logsumexp.default", torch.tensor([[-INF, -INF], [INF, 1.0]]), [1]),
    _case("aten.logsumexp.default", floats(2, 3, 4), [0, 2]),
    _case("aten.logsumexp.default", floats(), [0]),
]
NORMS = [
    _case("aten.linalg_vector_norm.default", floats(3, 4), order, dims, keep)
    for order in (2, 1, INF, -INF, 0, 3.5)
    for dims, keep in (([1], False), (None, False), ([0, 1], True))
]
NORMS += [
    _case("aten.linalg_vector_norm.default", floats(3, 4, dtype=_B), 2),
    _case("aten.linalg_vector_norm.default", floats(0), 2),
]
NORMS += [_case("aten.norm.Scalar", floats(3, 4), p) for p in (2, 1, 3)]
NORMS += [
    _case("aten.norm.ScalarOpt_dim", floats(3, 4), p, [dim], keep)
    for p in (2, 1, None)
    for dim in (0, -1)
    for keep in (True, False)
]

SCANS = [
    _case(f"aten.{name}.default", x, dim)
    for name in ("cumsum", "cumprod")
    for x, dim in (
        (floats(3, 4), 0),
        (floats(3, 4), -1),
        (floats(), 0),
        (floats(0, 2), 0),
        (ints(3, 4), 1),
        (bools(3), 0),
    )
]
SCANS += [
    _case("aten.cumsum.default", floats(40, dtype=_B), 0),
    _case("aten.cumsum.default", ints(3), 0, dtype=torch.float32),
]

_LOGITS = [
    (floats(3, 5), -1),
    (floats(3, 5, 2), 1),
    (floats(3, 5) * 50, 0),
    (floats(), 0),
    (floats(0, 5), 1),
    (floats(4, 9, dtype=_B), 1),
]
_LOGITS += [(torch.tensor([[1.0, -INF, 2.0], [-INF, -INF, -INF]]), 1), (floats(4, 9, dtype=torch.float64), 0)]
SOFTMAX = [_case(f"aten.{name}.default", x, dim, False) for name in ("_softmax", "_log_softmax") for x, dim in _LOGITS]
SOFTMAX += [
    _case("aten._softmax_backward_data.default", floats(*x.shape, dtype=x.dtype, seed=9), x.softmax(dim), dim, x.dtype)
    for x, dim in _LOGITS
]
SOFTMAX += [
    _case(
        "aten._log_softmax_backward_data.default",
        floats(*x.shape, dtype=x.dtype, seed=9),
        x.log_softmax(dim),
        dim,
        x.dtype,
    )
    for x, dim in _LOGITS
]

CASES = [*SUMS, *EXTREMA, *LOGIC, *MOMENTS, *NORMS, *SCANS, *SOFTMAX]
