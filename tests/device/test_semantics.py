"""What operators mean, by drawn operands: promotion, division, NaN, infinities, signed zeros, rounding, indices,
dimensions, nothing and one, truth, narrow and wide numbers. Both backends against the CPU: values, dtypes, signs of
zeros, and the type of what is raised.

Numbers are few and shapes fewer, so that programs repeat and little is compiled.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lazycore

Tensor = torch.Tensor
Op = Callable[..., Any]

pytestmark = pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
drawn = settings(
    max_examples=40, derandomize=True, deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)  # fmt: skip

NAN, INF = float("nan"), float("inf")
# All are float16's, too; no result of theirs is a subnormal number, which XLA takes for zero.
NUMBERS = (0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.5, 1.0, -1.0, 3.0, -7.0, 0.125, 100.0, 2048.0, INF, -INF, NAN)
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.int8, torch.uint8)
COMPLEX = (torch.complex64, torch.complex128)
SHAPES = ((), (0,), (4,), (2, 3))


@st.composite
def tensors(draw: st.DrawFn, dtypes: tuple[torch.dtype, ...] = FLOATS, shapes: Any = SHAPES) -> Tensor:
    """A tensor of drawn elements."""
    dtype, shape = draw(st.sampled_from(dtypes)), draw(st.sampled_from(shapes))
    size = torch.Size(shape).numel()
    if dtype.is_floating_point or dtype.is_complex:
        numbers = draw(st.lists(st.sampled_from(NUMBERS), min_size=size, max_size=size))
        if dtype.is_complex:
            pairs = torch.tensor(
                [[n, n / 2 - 1] for n in numbers if n == n] + [[1.0, 2.0]] * sum(n != n for n in numbers)
            )
            return torch.view_as_complex(pairs.reshape(-1, 2).clamp(-1e3, 1e3)).to(dtype).reshape(shape)
        return torch.tensor(numbers, dtype=dtype).reshape(shape)
    least, most = (0, 1) if dtype is torch.bool else (torch.iinfo(dtype).min, torch.iinfo(dtype).max)
    near = st.integers(max(least, -9), min(most, 9)) | st.sampled_from((least, most))
    return torch.tensor(draw(st.lists(near, min_size=size, max_size=size)), dtype=dtype).reshape(shape)


def outcome(op: Op, operands: tuple[Any, ...], device: str) -> Any:
    """The results on the CPU, or what was raised at the latest when they were read."""
    moved = [x.to(device) if isinstance(x, Tensor) else x for x in operands]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = op(*moved)
            return [t.cpu() for t in (results if isinstance(results, tuple) else (results,))]
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        lazycore.sync()
        return error


def agree(op: Op, *operands: Any, rtol: float = 0.0, zeros: bool = True) -> None:
    """Both devices give the same, or raise an error of the same type. ``zeros``: their signs count."""
    expected, actual = (outcome(op, operands, device) for device in ("cpu", "lazycore"))
    if isinstance(expected, Exception):
        assert type(actual) is type(expected), f"{actual!r} where the CPU has {expected!r}"
        return
    assert not isinstance(actual, Exception), f"{actual!r} where the CPU has {expected!r}"
    for got, wanted in zip(actual, expected, strict=True):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        torch.testing.assert_close(got, wanted, rtol=rtol, atol=rtol, equal_nan=True)
        if zeros and wanted.dtype.is_floating_point:
            nothing = wanted == 0
            assert torch.equal(got.signbit()[nothing], wanted.signbit()[nothing]), f"{got} where the CPU has {wanted}"


def operations(**table: Op) -> st.SearchStrategy[Op]:
    return st.sampled_from(list(table.values()))


ARITHMETIC = operations(
    add=lambda x, y: x + y, sub=lambda x, y: x - y, mul=lambda x, y: x * y, less=lambda x, y: x < y,
    equal=lambda x, y: x == y, where=lambda x, y: torch.where(x > 0, x, y), maximum=torch.maximum,
    number=lambda x, _: x * 2, fraction=lambda x, _: x + 0.5, backwards=lambda x, _: 3 - x,
)  # fmt: skip


@drawn
@given(ARITHMETIC, tensors((*FLOATS, *INTEGERS, torch.bool)), tensors((*FLOATS, *INTEGERS, torch.bool), ((), (2, 1))))
def test_operands_are_promoted(op: Op, x: Tensor, y: Tensor) -> None:
    # x + 0.0 is x to XLA's simplifier, which keeps the sign of -0.0.
    agree(op, x, y, zeros=False)


DIVISION = operations(
    true=torch.div,
    floor=lambda x, y: torch.div(x, y, rounding_mode="floor"),
    trunc=lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    double_slash=lambda x, y: x // y, remainder=torch.remainder, fmod=torch.fmod,
)  # fmt: skip


@drawn
@given(DIVISION, tensors(), tensors())
def test_floats_are_divided(op: Op, x: Tensor, y: Tensor) -> None:
    agree(op, x, y)


@drawn
@given(DIVISION, tensors(INTEGERS), tensors(INTEGERS, ((), (1,))))
def test_integers_are_divided_and_zero_is_an_error(op: Op, x: Tensor, y: Tensor) -> None:
    agree(op, x, y, rtol=1e-6)


ORDER = operations(
    max=torch.max, min=torch.min, amax=lambda x: x.amax(-1), amin=lambda x: x.amin(-1), argmax=torch.argmax,
    argmin=lambda x: x.argmin(-1), max_along=lambda x: torch.max(x, -1).values, clamp=lambda x: x.clamp(-1, 2),
    sort=lambda x: tuple(torch.sort(x, stable=True)), descending=lambda x: torch.sort(x, descending=True).values,
    cummax=lambda x: tuple(torch.cummax(x, -1)), topk=lambda x: torch.topk(x, 2).values, median=torch.median,
    nanmedian=torch.nanmedian, isnan=lambda x: (x.isnan(), x.isinf(), x.isfinite()), relu=torch.relu,
    unique=torch.unique, bound=lambda x: torch.fmax(x, x.flip(-1)) if x.dim() else x,
)  # fmt: skip


@drawn
@given(ORDER, tensors((*FLOATS, torch.int64, torch.uint8)))
def test_nan_is_above_all_and_goes_through(op: Op, x: Tensor) -> None:
    agree(op, x, zeros=False)


ROUNDING = operations(
    round=torch.round, tenths=lambda x: torch.round(x, decimals=1), tens=lambda x: torch.round(x, decimals=-1),
    floor=torch.floor, ceil=torch.ceil, trunc=torch.trunc, frac=torch.frac, neg=torch.neg, sign=torch.sign,
    abs=torch.abs, signbit=torch.signbit, reciprocal=torch.reciprocal, square=torch.square,
    copysign=lambda x: x.copysign(-x),    half=lambda x: x.to(torch.float16), brain=lambda x: x.to(torch.bfloat16),
    integers=lambda x: x.nan_to_num(5, 7, -7).to(torch.int32), truth=lambda x: x.to(torch.bool),
)  # fmt: skip


@drawn
@given(ROUNDING, tensors())
def test_halves_round_to_even_and_zeros_keep_their_signs(op: Op, x: Tensor) -> None:
    agree(op, x)


PLACES = operations(
    select=lambda x, i: x.index_select(0, i), gather=lambda x, i: x.gather(0, i), take=torch.take,
    index=lambda x, i: x[i], write=lambda x, i: x.index_put((i,), x.new_zeros(())),
    add=lambda x, i: x.index_add(0, i, torch.ones_like(i, dtype=x.dtype)),
    embedding=lambda x, i: torch.nn.functional.embedding(i, x[:, None]),
)  # fmt: skip


@drawn
@given(PLACES, tensors((torch.float32, torch.int64), ((4,),)), st.lists(st.integers(-6, 5), min_size=2, max_size=2))
def test_indices_out_of_range_raise(op: Op, x: Tensor, places: list[int]) -> None:
    agree(op, x, torch.tensor(places))


ALONG = operations(
    sum=lambda x, d: x.sum(d), softmax=lambda x, d: x.softmax(d), cumsum=lambda x, d: x.cumsum(d),
    transpose=lambda x, d: x.transpose(d, 0), flip=lambda x, d: x.flip(d), squeeze=lambda x, d: x.unsqueeze(d),
    any=lambda x, d: (x > 0).any(d), prod=lambda x, d: x.prod(d), mean=lambda x, d: x.mean(d, keepdim=True),
    cat=lambda x, d: torch.cat([x, x], d), chosen=lambda x, d: x.select(d, 0), norm=lambda x, d: x.norm(dim=d),
    logsumexp=lambda x, d: x.logsumexp(d), var=lambda x, d: x.var(d), argmax=lambda x, d: x.argmax(d),
)  # fmt: skip


@drawn
@given(ALONG, tensors((torch.float32, torch.float64)), st.integers(-4, 3))
def test_dimensions_count_from_both_ends_of_nothing_and_of_one(op: Op, x: Tensor, dim: int) -> None:
    agree(op, x.nan_to_num(1.0, 2.0, -2.0), dim, rtol=1e-5, zeros=False)


TRUTH = operations(
    add=lambda x, y: x + y, mul=lambda x, y: x * y, sub=lambda x, y: x - y, exclusive=lambda x, y: x ^ y,
    both=lambda x, y: x & y, either=lambda x, y: x | y, inverted=lambda x, _: ~x, negative=lambda x, _: -x,
    sum=lambda x, _: x.sum(), prod=lambda x, _: x.prod(), cumsum=lambda x, _: x.cumsum(-1), quotient=lambda x, y: x / y,
    max=lambda x, _: x.max(), order=lambda x, _: x.sort().values, number=lambda x, _: x + 1, less=lambda x, y: x < y,
    shifted=lambda x, y: x << y, mean=lambda x, _: x.mean(),
)  # fmt: skip


@drawn
@given(TRUTH, tensors((torch.bool,)), tensors((torch.bool, torch.uint8), ((), (1,))))
def test_truth_is_reckoned_with(op: Op, x: Tensor, y: Tensor) -> None:
    agree(op, x, y)


LONG = operations(
    sum=lambda x: x.sum(), rows=lambda x: x.sum(1), mean=lambda x: x.mean(0), product=lambda x: x @ x.t(),
    softmax=lambda x: x.softmax(1), normal=lambda x: torch.nn.functional.layer_norm(x, (x.shape[1],)),
    var=lambda x: x.var(1), norm=lambda x: torch.linalg.vector_norm(x, dim=1), logsumexp=lambda x: x.logsumexp(1),
)  # fmt: skip


@drawn
@given(LONG, st.sampled_from((torch.float16, torch.bfloat16)), st.integers(0, 3))
def test_narrow_floats_are_summed_in_float32(op: Op, dtype: torch.dtype, seed: int) -> None:
    """Summed one by one in 16 bits, thousands of numbers would be off by a tenth."""
    x = torch.rand(4, 3000, generator=torch.Generator().manual_seed(seed)).to(dtype)
    (exact,) = outcome(op, (x.double(),), "cpu")
    (got,) = outcome(op, (x,), "lazycore")
    assert got.dtype is dtype
    torch.testing.assert_close(got.double(), exact, rtol=2 * torch.finfo(dtype).eps, atol=2 * torch.finfo(dtype).eps)


WIDE = operations(
    add=lambda x: x + 1.5, mul=lambda x: x * x, div=lambda x: x / 3, exp=lambda x: (x / 2048).exp(), abs=torch.abs,
    sum=lambda x: x.sum(), mean=lambda x: x.mean(), neg=torch.neg, conj=lambda x: x.conj() * 2, tanh=torch.tanh,
    parts=lambda x: (torch.real(x), torch.imag(x) if x.is_complex() else x), sqrt=torch.sqrt, angle=torch.angle,
    equal=lambda x: x == x.flip(0) if x.dim() else x == 1, prod=lambda x: (x / 100).prod(), sigmoid=torch.sigmoid,
)  # fmt: skip


@drawn
@given(WIDE, tensors((torch.float64, *COMPLEX)))
def test_double_and_complex_numbers(op: Op, x: Tensor) -> None:
    x = x if x.is_complex() else x.nan_to_num(1.0, 2.0, -2.0)
    agree(op, x, rtol=1e-12 if x.dtype in (torch.float64, torch.complex128) else 2e-6, zeros=False)
