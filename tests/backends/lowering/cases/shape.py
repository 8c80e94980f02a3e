"""Movement: nothing is computed, so everything must agree bit for bit."""

from __future__ import annotations

import torch

from lowering.case import EXACT, Case, case, each
from lowering.samples import INF, NAN, bools, floats, ints, special

_F, _I = torch.float32, torch.int64
OUT_OF_RANGE = torch.tensor([-1.5, -300.0, 300.0, 7e4, -7e4, 3e9, -3e9, 1e18, -1e18, 1e30, NAN, INF, -INF])
_B, _H, _D = torch.bfloat16, torch.float16, torch.float64
_END = 9223372036854775807


def _rows(op: str, *samples: tuple[object, ...]) -> list[Case]:
    return each(f"aten.{op}" if "." in op else f"aten.{op}.default", *samples, tolerance=EXACT)


LAYOUT = [
    *_rows(
        "view",
        (floats(3, 4), [4, 3]),
        (floats(3, 4), [-1]),
        (floats(), [1, 1]),
        (floats(1), []),
        (floats(0, 3), [3, 0]),
    ),
    *_rows(
        "permute", (floats(2, 3, 4), [2, 0, 1]), (floats(2, 3), [-1, 0]), (floats(), []), (ints(2, 0, 3), [1, 2, 0])
    ),
    *_rows(
        "expand",
        (floats(3, 1), [3, 4]),
        (floats(3), [2, 3]),
        (floats(), [2]),
        (floats(1, 3), [4, -1]),
        (floats(1), [0]),
    ),
    *_rows("select.int", (floats(3, 4), 0, 1), (floats(3, 4), -1, -2), (floats(3), 0, 2)),
    *_rows(
        "slice.Tensor",
        (floats(6, 4), 0, 1, 4, 2),
        (floats(6, 4), -1, -3, _END),
        (floats(6, 4), 1, None, 2),
        (floats(6), 0, 4, 2),
        (floats(6), 0, 2, 100),
        (floats(6),),
        (ints(7), 0, 0, 7, 3),
    ),
    *_rows("squeeze", (floats(1, 3, 1),), (floats(),)),
    *_rows("squeeze.dim", (floats(1, 3, 1), -1), (floats(1, 3), 1), (floats(), 0)),
    *_rows("squeeze.dims", (floats(1, 3, 1), [0, 2]), (floats(1, 3, 1), [1, -1])),
    *_rows("unsqueeze", (floats(3), 0), (floats(3), -1), (floats(), 0), (floats(2, 3), 1)),
    *_rows(
        "flip",
        (floats(3, 4), [0]),
        (floats(3, 4), [-1, 0]),
        (ints(3, 4), [1]),
        (floats(), []),
        (floats(), [0]),
        (floats(), [-1]),
    ),
    *_rows(
        "roll",
        (floats(3, 4), [1], [0]),
        (floats(3, 4), [-2, 5], [0, 1]),
        (floats(3, 4), [2]),
        (floats(0), [1], [0]),
        (floats(3, 4), [3, 1], [1, 1]),
    ),
    *_rows("repeat", (floats(2, 3), [2, 1]), (floats(3), [2, 2]), (floats(), [3]), (floats(3), [0]), (floats(2), [1])),
    *_rows(
        "diagonal",
        (floats(3, 4),),
        (floats(3, 4), 1),
        (floats(3, 4), -1, 0, 1),
        (floats(2, 3, 4), 0, 0, -1),
        (floats(3, 4), 9),
    ),
    *_rows(
        "cat",
        ([floats(2, 3), floats(1, 3)],),
        ([floats(2, 3), floats(2, 1)], -1),
        ([floats(0), floats(2, 3)],),
        ([ints(2), ints(3)],),
    ),
    *_rows("cat", ([bools(2), bools(3)],), ([floats(2, dtype=_B), floats(0, dtype=_B)],), ([floats(2, 3)], 1)),
    *_rows(
        "stack",
        ([floats(2, 3), floats(2, 3, seed=1)],),
        ([floats(3), floats(3, seed=1)], -1),
        ([floats(), floats(seed=1)],),
    ),
    *_rows(
        "constant_pad_nd",
        (floats(3, 4), [1, 2]),
        (floats(3, 4), [1, 0, 2, 1], 1.5),
        (floats(3, 4), [-1, 2], -0.0),
        (ints(3), [1, 1], 7),
        (floats(3, 4), [0, 0, -1, -1]),
    ),
    *_rows(
        "tril",
        (floats(3, 4),),
        (floats(3, 4), 1),
        (floats(2, 3, 3), -1),
        (bools(3, 3),),
        (floats(3, 4), -9),
        (floats(0, 3),),
    ),
    *_rows("triu", (floats(3, 4),), (floats(3, 4), 1), (floats(2, 3, 3), -1), (ints(3, 3),), (floats(3, 4), 9)),
]

COPIES = [
    *(
        c
        for op in ("clone", "alias", "lift_fresh_copy")
        for c in _rows(op, (special(),), (floats(),), (ints(0, 3),), (bools(3),))
    ),
    *(
        case("aten._to_copy.default", floats(9, low=-5, high=5), dtype=d, tolerance=EXACT)
        for d in (_F, _D, _B, _H, _I, torch.int32, torch.int8, torch.bool)
    ),
    *(
        case("aten._to_copy.default", ints(9, low=-300, high=300), dtype=d, tolerance=EXACT)
        for d in (_F, _D, _B, _H, torch.int32, torch.int8, torch.uint8, torch.bool)
    ),
    *(
        case("aten._to_copy.default", OUT_OF_RANGE.to(source), dtype=d, tolerance=EXACT)
        for source in (_F, _D, _B)
        for d in (torch.uint8, torch.int8, torch.int16, torch.int32, _I)
    ),
    *(case("aten._to_copy.default", bools(5), dtype=d, tolerance=EXACT) for d in (_F, _B, _I, torch.uint8, torch.bool)),
    *(case("aten._to_copy.default", special(), dtype=d, tolerance=EXACT) for d in (_D, _B, _H, torch.bool)),
    case("aten._to_copy.default", torch.tensor([1e6, -1e6, 65519.0, 65520.0, 1e-8]), dtype=_H, tolerance=EXACT),
    case("aten._to_copy.default", floats(9, dtype=_B), dtype=_H, tolerance=EXACT),
    case("aten._to_copy.default", floats(9, dtype=_D), dtype=_B, tolerance=EXACT),
    case("aten._to_copy.default", floats(9, dtype=_H), dtype=_F, tolerance=EXACT),
    case("aten._to_copy.default", floats(), dtype=_D, tolerance=EXACT),
    case("aten._to_copy.default", floats(0, 2), dtype=_I, tolerance=EXACT),
    *_rows(
        "view.dtype",
        (floats(3, 4), torch.int32),
        (ints(4), _D),
        (floats(3, dtype=_B), torch.int16),
        (floats(), torch.int32),
    ),
    *_rows(
        "view.dtype",
        (ints(3, 4, dtype=torch.int32), torch.int16),
        (ints(3, 4, dtype=torch.int16), torch.int32),
        (floats(3, 4), torch.uint8),
        (floats(0, 3), torch.int16),
        (floats(0, 4), torch.complex64),
        (floats(0, 3, dtype=torch.complex64), _F),
    ),
]

CASES = [*LAYOUT, *COPIES]
