"""Writing through indices, and the gradients of reads."""

from __future__ import annotations

from typing import Any

import torch

from lowering.case import ACCUMULATED, EXACT, Case, case, each
from lowering.samples import bools, floats, ints, permutation, special

_T = torch.tensor
_INDEX = _T([[0, 2, 1], [1, 0, 2]])


def dynamic_slice(x: torch.Tensor, starts: list[Any], sizes: list[int]) -> torch.Tensor:
    """``x[starts : starts + sizes]`` in every dimension."""
    return x[tuple(slice(int(s), int(s) + n) for s, n in zip(starts, sizes, strict=True))].clone()


def dynamic_update_slice(x: torch.Tensor, update: torch.Tensor, starts: list[Any]) -> torch.Tensor:
    """``x`` with ``update`` written at ``starts``."""
    result = x.clone()
    result[tuple(slice(int(s), int(s) + n) for s, n in zip(starts, update.shape, strict=True))] = update
    return result


def _own(op: str, reference: Any, *args: Any) -> Case:
    return Case(f"lazycore.{op}.default", args, tolerance=EXACT, reference=reference)


LAZYCORE = [
    _own("dynamic_slice", dynamic_slice, floats(5, 6), [_T(1), _T(2)], [2, 4]),
    _own("dynamic_slice", dynamic_slice, floats(5, 6), [_T(3), 0], [2, 6]),
    _own("dynamic_slice", dynamic_slice, ints(5), [_T(0)], [0]),
    _own("dynamic_slice", dynamic_slice, floats(), [], []),
    _own("dynamic_slice", dynamic_slice, floats(5, dtype=torch.bfloat16), [_T(4)], [1]),
    _own("dynamic_update_slice", dynamic_update_slice, floats(5, 6), floats(2, 4, seed=1), [_T(1), _T(2)]),
    _own("dynamic_update_slice", dynamic_update_slice, floats(5, 6), floats(1, 6, seed=1), [_T(4), 0]),
    _own("dynamic_update_slice", dynamic_update_slice, floats(), floats(seed=1), []),
    _own("dynamic_update_slice", dynamic_update_slice, ints(5), ints(0), [_T(2)]),
]

WRITES = [
    *each(
        "aten.scatter.src",
        (floats(3, 4), 0, _INDEX, floats(2, 3, seed=1)),
        (floats(3, 4), -1, _T([[3, 0], [1, 2]]), floats(3, 4, seed=1)),
        (ints(3, 4), 1, _T([[3, 0]]), ints(1, 2, seed=1)),
        (floats(), 0, _T(0), floats(seed=1)),
        (floats(3, 4), 0, torch.zeros(0, 4, dtype=torch.int64), floats(0, 4)),
        (floats(5), 0, torch.zeros(2, 0, dtype=torch.int64), floats(2, 0)),
        tolerance=EXACT,
    ),
    *each(
        "aten.scatter.value",
        (floats(3, 4), 0, _INDEX, 2.5),
        (ints(3, 4), 1, _T([[3, 3]]), 7),
        (bools(3, 4), 1, _T([[3, 0]]), True),
        tolerance=EXACT,
    ),
    *each(
        "aten.index_copy.default",
        (floats(4, 3), 0, _T([3, 0]), floats(2, 3, seed=1)),
        (floats(4, 3), -1, _T([2, 0]), floats(4, 2, seed=1)),
        (floats(), 0, _T([0]), floats(1)),
        tolerance=EXACT,
    ),
    *each(
        "aten.index_fill.int_Scalar",
        (floats(4, 3), 0, _T([3, 0]), 1.5),
        (ints(4, 3), -1, _T([1]), 4),
        (floats(4, 3), 1, _T([], dtype=torch.int64), 4.0),
        (floats(4, 3), 1, _T(2), 4.0),
        tolerance=EXACT,
    ),
    *each("aten.put.default", (floats(3, 4), _T([0, 7, -1]), floats(3, seed=1)), tolerance=EXACT),
    *each("aten.put.default", (floats(3, 4), _T([[0, 7], [7, 7]]), floats(2, 2, seed=1), True)),
    *each("aten.put.default", (floats(3, 4), _T([], dtype=torch.int64), floats(0)), tolerance=EXACT),
    *each(
        "aten.select_scatter.default",
        (floats(3, 4), floats(4, seed=1), 0, -1),
        (ints(3, 4), ints(3, seed=1), 1, 2),
        tolerance=EXACT,
    ),
    *each(
        "aten.slice_scatter.default",
        (floats(6, 4), floats(2, 4, seed=1), 0, 1, 3),
        (floats(6, 4), floats(3, 4, seed=1), 0, None, None, 2),
        (floats(6, 4), floats(6, 2, seed=1), -1, -2, 9223372036854775807),
        (floats(6, 4), floats(6, 0, seed=1), 1, 3, 1),
        (floats(6, 4), floats(6, 4, seed=1)),
        tolerance=EXACT,
    ),
]

SUMS = [
    *each(
        "aten.scatter_add.default",
        (floats(3, 4), 0, _INDEX, floats(2, 3, seed=1)),
        (floats(3, 4), 1, _T([[1, 1, 1, 0]]), floats(1, 4, seed=1)),
        (ints(5), 0, _T([1, 1, 1, 0]), ints(4)),
        (floats(5, dtype=torch.bfloat16), 0, _T([1, 1, 1, 0]), floats(4, dtype=torch.bfloat16)),
        (floats(), 0, _T(0), floats(seed=1)),
    ),
    *(
        case(
            "aten.scatter_reduce.two",
            floats(4, 3),
            dim,
            _T([[1, 1, 0], [1, 2, 0]]),
            floats(2, 3, seed=1),
            how,
            include_self=own,
        )
        for how in ("sum", "prod", "mean", "amax", "amin")
        for own in (True, False)
        for dim in (0, 1)
    ),
    *(
        case("aten.scatter_reduce.two", bools(5), 0, _T([1, 1, 3, 4]), bools(4, seed=2), how, include_self=own)
        for how in ("sum", "prod", "amax", "amin")
        for own in (True, False)
    ),
    case("aten.scatter_reduce.two", ints(5), 0, _T([1, 1, 3]), ints(3, seed=1), "mean", include_self=True),
    case("aten.scatter_reduce.two", special(), 0, permutation(14), special().roll(1), "amax", include_self=True),
    *(
        case("aten.index_put.default", *arguments, accumulate)
        for accumulate in (False, True)
        for arguments in (
            (floats(3, 4), [_T([2, 0])], floats(2, 4, seed=1)),
            (floats(3, 4), [None, _T([2, -4])], floats(2, seed=1)),
            (floats(3, 4), [_T([2, 0]), _T([1, -1])], floats(2, seed=1)),
            (floats(3, 4), [_T([2, 0]), _T([1, -1])], floats(seed=1)),
            (floats(2, 3, 4), [_T([1, 0]), None, _T([1, 3])], floats(2, 3, seed=1)),
            (ints(4), [_T([1, 3])], ints(2, seed=1)),
            (floats(3, 4), [_T([], dtype=torch.int64)], floats(0, 4)),
        )
    ),
    case("aten.index_put.default", floats(5), [_T([1, 1, 1, 4])], floats(4, seed=1), True),
    case("aten.index_add.default", floats(4, 3), 0, _T([3, 0, 3]), floats(3, 3, seed=1)),
    case("aten.index_add.default", floats(4, 3), -1, _T([2, 2]), floats(4, 2, seed=1), alpha=0.5),
    case("aten.index_add.default", ints(4), 0, _T([2, 2], dtype=torch.int32), ints(2, seed=1), alpha=3),
    case("aten.index_add.default", floats(), 0, _T([0]), floats(seed=1)),
    case("aten.embedding_dense_backward.default", floats(4, 3), _T([1, 0, 1, 4]), 6, -1, False, tolerance=ACCUMULATED),
    case(
        "aten.embedding_dense_backward.default",
        floats(2, 2, 3),
        _T([[1, 0], [1, 4]]),
        6,
        1,
        False,
        tolerance=ACCUMULATED,
    ),
    case(
        "aten.embedding_dense_backward.default", floats(5, 3), _T([1, 0, 1, 1, 4]), 6, -1, True, tolerance=ACCUMULATED
    ),
    case("aten.embedding_dense_backward.default", floats(0, 3), _T([], dtype=torch.int64), 6, -1, False),
]

READ_GRADIENTS = [
    *each(
        "aten.select_backward.default",
        (floats(4), [3, 4], 0, -1),
        (floats(3), [3, 4], 1, 2),
        (floats(), [3], 0, 1),
        tolerance=EXACT,
    ),
    *each(
        "aten.slice_backward.default",
        (floats(2, 4), [6, 4], 0, 1, 3, 1),
        (floats(3, 4), [6, 4], 0, 0, 9223372036854775807, 2),
        (floats(6, 2), [6, 4], -1, -2, 9223372036854775807, 1),
        (floats(0, 4), [6, 4], 0, 3, 2, 1),
        tolerance=EXACT,
    ),
    *each(
        "aten.diagonal_backward.default",
        (floats(3), [3, 4], 0, 0, 1),
        (floats(2, 3), [3, 2, 4], 1, 0, 2),
        (floats(2), [3, 4], -1, -2, -1),
        tolerance=EXACT,
    ),
    *each(
        "aten.unfold_backward.default",
        (floats(3, 2), [4], 0, 2, 1),
        (floats(3, 2, 3), [3, 6], 1, 3, 2),
        (floats(2, 5, 2), [4, 5], 0, 2, 2),
    ),
]

CASES = [*LAZYCORE, *WRITES, *SUMS, *READ_GRADIENTS]
