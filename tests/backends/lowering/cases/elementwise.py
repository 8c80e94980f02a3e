"""Arithmetic, comparison, logic and rounding, element by element."""

from __future__ import annotations

import torch

from lowering.case import EXACT, Case, Tolerance, case, each, names
from lowering.samples import INF, NAN, bools, floats, ints, special, special_pairs, unary_samples, whole_samples

ROUNDED = names(
    "exp exp2 expm1 log log1p log2 log10 sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh tanh asinh"
    " acosh atanh sigmoid erf erfc lgamma"
)
# Far from zero, where a series in single precision is easily six bits off.
LARGE = {"exp2": (50, 100), "sinh": (5, 40), "cosh": (5, 40), "erfc": (2, 9), "exp": (40, 80), "tanh": (0.5, 5)}
CLOSE = Tolerance(rtol=6e-7)
KEPT = names("abs neg floor ceil round trunc sign sgn frac relu isnan isinf signbit logical_not")
KEPT_BY_INTS = names("abs neg sign sgn relu floor ceil round trunc logical_not signbit bitwise_not")

UNARY = [c for name in ROUNDED for c in each(f"aten.{name}.default", *((x,) for x in unary_samples()))]
UNARY += [case(f"aten.{name}.default", floats(9, low=-1, high=1)) for name in names("asin acos atanh log1p")]
UNARY += [case(f"aten.{name}.default", floats(9, low=1, high=50)) for name in names("acosh log log2 log10 sqrt lgamma")]
UNARY += [case(f"aten.{name}.default", floats(99, low=a, high=b), tolerance=CLOSE) for name, (a, b) in LARGE.items()]
UNARY += [c for name in KEPT for c in each(f"aten.{name}.default", *((x,) for x in unary_samples()), tolerance=EXACT)]
UNARY += [c for name in KEPT_BY_INTS for c in each(f"aten.{name}.default", *((x,) for x in whole_samples()))]
UNARY += [
    *each("aten.logical_not.default", (bools(4),), (bools(),)),
    *each("aten.bitwise_not.default", (bools(4),), (ints(3, dtype=torch.uint8, low=0, high=200),)),
    *each("aten.isnan.default", (ints(3),), (bools(3),)),
    *each("aten.isinf.default", (ints(3),)),
    *each("aten.sign.default", (bools(3),)),
    case("aten.round.decimals", floats(9, low=-30, high=30), decimals=1),
    case("aten.round.decimals", floats(9, low=-300, high=300), decimals=-1),
    case("aten.round.decimals", special(), decimals=0),
]


def arithmetic_pairs() -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Broadcasting, 0-d, empty, special values, ints and half types."""
    return [
        (floats(3, 4), floats(3, 4, seed=1)),
        (floats(3, 1), floats(4, seed=1)),
        (floats(2, 3), floats(seed=1)),
        (floats(), floats(seed=1)),
        (floats(0, 3), floats(1, 3)),
        special_pairs(),
        (floats(7, dtype=torch.float64), floats(7, dtype=torch.float64, seed=1)),
        (floats(7, dtype=torch.bfloat16), floats(7, dtype=torch.bfloat16, seed=1)),
        (floats(7, dtype=torch.float16), floats(7, dtype=torch.float16, seed=1)),
    ]


def whole_pairs() -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Integer operands; the second has no zero and covers both signs."""
    divisors = torch.tensor([1, -1, 2, -3, 5, -7, 4])
    return [
        (ints(5, 7), divisors),
        (ints(5, 7).int(), divisors.int()),
        (ints(5, 7).to(torch.int8), divisors.to(torch.int8)),
        (ints(7, low=0, high=200).to(torch.uint8), divisors.abs().to(torch.uint8)),
        (ints(0, 7), divisors),
        (ints(), ints(low=1)),
    ]


def _binary(names: str, pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> list[Case]:
    ops = [f"aten.{name}" if "." in name else f"aten.{name}.default" for name in names.split()]
    return [c for op in ops for c in each(op, *pairs)]


COMPARE = "eq.Tensor ne.Tensor lt.Tensor le.Tensor gt.Tensor ge.Tensor"
BOOL_PAIRS = [(bools(3, 4), bools(3, 4, seed=1)), (bools(), bools(seed=3)), (bools(0), bools(0))]

BINARY = _binary(
    "add.Tensor sub.Tensor mul.Tensor div.Tensor rsub.Tensor maximum minimum fmax fmin", arithmetic_pairs()
)
BINARY += _binary(
    "fmod.Tensor remainder.Tensor floor_divide atan2 hypot copysign.Tensor xlogy.Tensor", arithmetic_pairs()
)
BINARY += _binary("pow.Tensor_Tensor", arithmetic_pairs())
# Multiplication by the reciprocal of what is broadcast, a compiler's favourite, is not division.
WHOLES = torch.arange(1.0, 200.0)
BINARY += each("aten.div.Tensor", (WHOLES[:, None], WHOLES[None]), (WHOLES, WHOLES[48]), tolerance=EXACT)
BINARY += each("aten.div.Tensor", (WHOLES[:, None].double(), WHOLES[None].double()), tolerance=EXACT)
BINARY += each("aten.div.Scalar", (WHOLES, 49.0), (torch.tensor([INF, -INF, 1e38]), 3e38), tolerance=EXACT)
BINARY += [
    case("aten.div.Tensor_mode", WHOLES[:, None] * WHOLES, WHOLES[:, None], rounding_mode=mode, tolerance=EXACT)
    for mode in ("floor", "trunc")
]
BINARY += [case("aten.round.decimals", WHOLES / 49, decimals=3, tolerance=EXACT)]
BINARY += _binary(COMPARE + " logical_and logical_or logical_xor", arithmetic_pairs())
BINARY += _binary("add.Tensor sub.Tensor mul.Tensor rsub.Tensor maximum minimum fmax fmin", whole_pairs())
BINARY += _binary("fmod.Tensor remainder.Tensor floor_divide " + COMPARE, whole_pairs())
BINARY += _binary(
    "bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor logical_and logical_or logical_xor", whole_pairs()
)
BINARY += _binary(
    "bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor logical_and logical_or logical_xor", BOOL_PAIRS
)
BINARY += _binary("add.Tensor mul.Tensor maximum minimum " + COMPARE, BOOL_PAIRS)
BINARY += [
    case("aten.add.Tensor", floats(3), floats(3, seed=1), alpha=2),
    case("aten.add.Tensor", floats(3), floats(3, seed=1), alpha=-0.3),
    case("aten.sub.Tensor", floats(3), floats(3, seed=1), alpha=0.1),
    case("aten.add.Tensor", floats(3, dtype=torch.bfloat16), floats(3, dtype=torch.bfloat16, seed=1), alpha=0.5),
    case("aten.sub.Tensor", ints(3), ints(3, seed=1), alpha=3),
    case("aten.rsub.Tensor", floats(3), floats(3, seed=1), alpha=2),
    case("aten.pow.Tensor_Tensor", ints(7), torch.tensor([0, 1, 2, 3, 4, 5, 6])),
    case("aten.pow.Tensor_Tensor", ints(7, dtype=torch.int32), torch.tensor([0, 1, 2, 3, 4, 5, 6]).int()),
    case("aten.bitwise_left_shift.Tensor", ints(7), torch.tensor([0, 1, 2, 3, 4, 5, 6])),
    case("aten.bitwise_right_shift.Tensor", ints(7, low=-99, high=99), torch.tensor([0, 1, 2, 3, 4, 5, 6])),
    case("aten.bitwise_right_shift.Tensor", ints(7).int(), torch.tensor([0, 1, 2, 3, 4, 5, 6]).int()),
]
BINARY += [
    case("aten.div.Tensor_mode", x, y, rounding_mode=mode)
    for mode in ("floor", "trunc")
    for x, y in (*arithmetic_pairs(), *whole_pairs())
]
BINARY += [case("aten.div.Tensor_mode", *pair, rounding_mode=None) for pair in arithmetic_pairs()]

NUMBERS = (0.0, 1.0, 2.5, -0.7)
SCALAR = [
    *(
        c
        for name in names("add sub mul div rsub")
        for c in each(f"aten.{name}.Scalar", *((special(), s) for s in NUMBERS))
    ),
    *(
        c
        for name in names("add sub mul rsub")
        for c in each(f"aten.{name}.Scalar", (ints(3, 4), 3), (ints(0), -2), (ints(), 5))
    ),
    *(
        c
        for name in names("eq ne lt le gt ge")
        for c in each(
            f"aten.{name}.Scalar", (special(), 0.0), (special(), 1.5), (special(), NAN), (ints(5), 2), (floats(0), 1.0)
        )
    ),
    *(
        c
        for name in names("fmod remainder")
        for c in each(f"aten.{name}.Scalar", (floats(9), 0.7), (special(), -2.5), (ints(9), -4), (ints(9), 3))
    ),
    *(
        c
        for name in names("and or xor")
        for c in each(f"aten.bitwise_{name}.Scalar", (ints(9), 6), (ints(9, dtype=torch.int32), 3), (bools(4), True))
    ),
    *each("aten.add.Scalar", (floats(4, dtype=torch.bfloat16), 0.3), (floats(4, dtype=torch.float16), 0.3)),
    *each("aten.mul.Scalar", (floats(4, dtype=torch.bfloat16), 0.3), (floats(4, dtype=torch.float16), 0.3)),
    case("aten.add.Scalar", floats(3), 2.0, 0.5),
    case("aten.sub.Scalar", ints(3), 2, 4),
    case("aten.rsub.Scalar", floats(3), 2.0, 0.5),
    *each("aten.remainder.Scalar_Tensor", (2.5, special()), (-7.5, floats(5)), (9, torch.tensor([2, -4, 5]))),
    *each("aten.pow.Tensor_Scalar", *((special(), e) for e in (0.0, 1.0, 2.0, 3.0, -1.0, 0.5, -0.5, 2.5, -2.0))),
    *each(
        "aten.pow.Tensor_Scalar",
        (ints(5), 0),
        (ints(5), 2),
        (ints(5, dtype=torch.int32), 3),
        (floats(), 2.0),
        (floats(0), 2.0),
    ),
    *each("aten.pow.Tensor_Scalar", (floats(5, dtype=torch.bfloat16), 2.0), (floats(5, dtype=torch.float16), 3.0)),
    *each("aten.pow.Tensor_Scalar", *((special().half(), e) for e in (0.5, -0.5))),
    *each("aten.pow.Tensor_Scalar", *((special().bfloat16(), e) for e in (0.5, -0.5))),
    *each("aten.pow.Scalar", (2.0, special()), (0.0, special()), (-1.5, special()), (2, torch.tensor([0, 1, 5]))),
    *(
        case("aten.div.Scalar_mode", x, s, rounding_mode=mode)
        for mode in ("floor", "trunc")
        for x, s in ((special(), 0.7), (special(), -2.0), (special(), 0.0), (ints(9), 4), (ints(9), -3))
    ),
    case("aten.div.Scalar_mode", special(), 3.0, rounding_mode=None),
]

BOUNDS = (floats(3, 1, low=-2, high=0), floats(4, low=0, high=2))
TERNARY = [
    *each(
        "aten.where.self",
        (bools(3, 4), floats(3, 4), floats(3, 4, seed=1)),
        (bools(3, 1), floats(4), floats(seed=1)),
        (bools(4), ints(4), ints(4, seed=1)),
        (bools(), floats(2), floats(2, seed=1)),
        (bools(0), floats(0), floats(1)),
        (bools(14), special(), special().flip(0)),
        (bools(3), bools(3, seed=1), bools(3, seed=2)),
        tolerance=EXACT,
    ),
    *each(
        "aten.clamp.default",
        (special(), -1.0, 1.0),
        (special(), None, 0.5),
        (special(), 0.5),
        (ints(9), -2, 3),
        (floats(0), 0.0, 1.0),
        (floats(5), 2.0, -2.0),
        (special(), NAN, 1.0),
        (special(), -INF, INF),
    ),
    *each(
        "aten.clamp.Tensor", (floats(3, 4), *BOUNDS), (floats(3, 4), None, BOUNDS[1]), (ints(9), ints(9, seed=1), None)
    ),
    *each("aten.clamp.Tensor", (special(), special().flip(0), special().roll(3))),
    *each("aten.clamp_min.default", (special(), 0.5), (ints(9), 2), (floats(), 0.0)),
    *each("aten.clamp_max.default", (special(), 0.5), (ints(9), 2), (floats(), 0.0)),
    *each("aten.clamp_min.Tensor", special_pairs(), (ints(9), ints(9, seed=1))),
    *each("aten.clamp_max.Tensor", special_pairs(), (ints(9), ints(9, seed=1))),
    *(
        case(f"aten.{name}.default", floats(3, 4), floats(4, seed=1), floats(3, 1, seed=2, low=1), value=value)
        for name in ("addcmul", "addcdiv")
        for value in (1, 0.3, -2.0)
    ),
    case("aten.addcmul.default", ints(3), ints(3, seed=1), ints(3, seed=2), value=2),
    case("aten.addcmul.default", special(), special().flip(0), special().roll(2)),
    case("aten.addcdiv.default", special(), special().flip(0), special().roll(2)),
    case("aten.addcdiv.default", *(floats(5, dtype=torch.bfloat16, low=1, seed=s) for s in range(3)), value=0.5),
    *each("aten.lerp.Scalar", (floats(3, 4), floats(3, 4, seed=1), 0.3), (floats(3), floats(3, seed=1), 0.9)),
    *each("aten.lerp.Scalar", (floats(), floats(seed=1), 0.5), (floats(0), floats(0), 0.5)),
    *each(
        "aten.lerp.Tensor",
        (floats(3, 4), floats(4, seed=1), floats(3, 1, seed=2)),
        (floats(), floats(seed=1), floats(seed=2)),
    ),
    *each(
        "aten.masked_fill.Scalar",
        (floats(3, 4), bools(3, 4), -INF),
        (floats(3, 4), bools(4), 2.5),
        (ints(3, 4), bools(3, 1), 7),
        (bools(4), bools(4, seed=1), True),
        (floats(4, dtype=torch.bfloat16), bools(4), 0.1),
        (floats(0), bools(0), 1.0),
    ),
    *each("aten.masked_fill.Tensor", (floats(3, 4), bools(3, 4), floats()), (ints(3, 4), bools(4), ints())),
    *each("aten.threshold.default", (special(), 0.5, -3.0), (floats(3, 4), 0.0, 0.0), (ints(5), 2, -1)),
]

CASES = [*UNARY, *BINARY, *SCALAR, *TERNARY]
