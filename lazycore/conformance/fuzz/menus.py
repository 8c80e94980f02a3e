"""What random graphs are made of: moves whose results are exact, and moves whose results are rounded."""

from __future__ import annotations

from math import prod

from lazycore_plugin_api import DType, InvalidGraph, Value

from lazycore.conformance.fuzz.graphs import Builder, Menu, Move

__all__ = ["exact_menu", "rounding_menu"]

_Knobs = tuple[int, int, int]
_SPECIAL = (float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e30, 1e-30)
_WHOLE = tuple(range(-9, 9))
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
# Their results stay where float32 is comparable, whatever they are given.
_BOUNDED = ("tanh", "sigmoid", "sin", "cos", "atan", "erf", "asinh", "hardsigmoid", "hardtanh", "neg", "abs", "relu")


def _shape(x: Value) -> tuple[int, ...]:
    return x.spec.static_shape


def _dim(x: Value, number: int) -> int:
    """A dimension, half of the time counted from the end. Raises InvalidGraph where there is none."""
    rank = len(x.spec.shape)
    if not rank:
        raise InvalidGraph("no dimension")
    return number % (2 * rank) - rank


def _signs(b: Builder, x: Value, k: _Knobs) -> object:
    return b.node(f"aten.{('neg', 'abs', 'relu')[k[0] % 3]}.default", x)


def _arithmetic(b: Builder, x: Value, k: _Knobs) -> object:
    op = ("add", "sub", "mul")[k[0] % 3]
    return b.node(f"aten.{op}.Tensor", x, b.like(x, k[1]), **({} if op == "mul" else {"alpha": 1}))


def _scaled(b: Builder, x: Value, k: _Knobs) -> object:
    return b.node("aten.mul.Scalar", x, (0, 1, -1)[k[0] % 3])  # numbers that simplifiers like


def _chosen(b: Builder, x: Value, k: _Knobs) -> object:
    other = b.like(x, k[1])
    mask = b.node(f"aten.{_COMPARISONS[k[0] % 6]}.Tensor", x, other)
    return b.node("aten.where.self", mask, x, other)


def _view(b: Builder, x: Value, k: _Knobs) -> object:
    size = x.spec.numel
    firsts = [n for n in range(1, size + 1) if size % n == 0] or [0]
    first = firsts[k[0] % len(firsts)]
    return b.node("aten.view.default", x, (first, size // first if first else 0))


def _permute(b: Builder, x: Value, k: _Knobs) -> object:
    dims, numbers = list(range(len(x.spec.shape))), k[0]
    order = []
    while dims:
        order.append(dims.pop(numbers % len(dims)))
        numbers //= 3
    return b.node("aten.permute.default", x, tuple(order))


def _slice(b: Builder, x: Value, k: _Knobs) -> object:
    dim = _dim(x, k[0])
    size = _shape(x)[dim]
    if size < 2:
        raise InvalidGraph("nothing to leave out")
    return b.node("aten.slice.Tensor", x, dim, k[1] % (size - 1), size, 1 + k[2] % 2)


def _roll(b: Builder, x: Value, k: _Knobs) -> object:
    return b.node("aten.roll.default", x, (k[1] % 5,), (_dim(x, k[0]),))


def _flip(b: Builder, x: Value, k: _Knobs) -> object:
    return b.node("aten.flip.default", x, (_dim(x, k[0]),))


def _cat(b: Builder, x: Value, k: _Knobs) -> object:
    if x.spec.numel > 200:
        raise InvalidGraph("large enough")
    return b.node("aten.cat.default", (x, b.like(x, k[1])), _dim(x, k[0]))


def _unsqueeze(b: Builder, x: Value, k: _Knobs) -> object:
    return b.node("aten.unsqueeze.default", x, k[0] % (len(x.spec.shape) + 1))


def _largest_size(b: Builder, x: Value, k: _Knobs) -> object:
    """The largest size along a dimension, which stays; of zeros of both signs either is right."""
    size = b.node("aten.abs.default", x)
    top = b.node("aten.amax.default", size, (_dim(x, k[0]),), True)
    return b.node("aten.expand.default", top, _shape(x), implicit=False)


_EXACT: tuple[Move, ...] = (
    _signs, _arithmetic, _arithmetic, _scaled, _chosen, _view, _view, _permute, _slice, _roll, _cat, _largest_size,
)  # fmt: skip


def _function(b: Builder, x: Value, k: _Knobs) -> object:
    op = _BOUNDED[k[0] % len(_BOUNDED)]
    return b.node(f"aten.{op}.default", x, *((-1, 1) if op == "hardtanh" else ()))


def _pair(b: Builder, x: Value, k: _Knobs) -> object:
    """Two operands that need not have one shape."""
    op = ("add.Tensor", "sub.Tensor", "mul.Tensor", "maximum.default", "minimum.default", "atan2.default")[k[0] % 6]
    options = {"alpha": (0.5, 1, -2)[k[2] % 3]} if op[:3] in ("add", "sub") else {}
    return b.node(f"aten.{op}", x, b.any(x.spec.dtype, k[1]), **options)


def _number(b: Builder, x: Value, k: _Knobs) -> object:
    if k[0] % 3 == 0:
        return b.node("aten.clamp.default", x, -2.0, 2.0)
    return b.node(*(("aten.mul.Scalar", x, 0.5) if k[0] % 3 == 1 else ("aten.add.Scalar", x, 0.25, 1)))


def _reduced(b: Builder, x: Value, k: _Knobs) -> object:
    dim, keeps = (_dim(x, k[1]),), bool(k[2] % 2)
    op = ("sum.dim_IntList", "mean.dim", "amax.default", "amin.default", "logsumexp.default")[k[0] % 5]
    if not prod(_shape(x)):
        raise InvalidGraph("nothing to reduce")
    return b.node(f"aten.{op}", x, dim, keeps, **({"dtype": None} if op in ("sum.dim_IntList", "mean.dim") else {}))


def _positive(b: Builder, x: Value, k: _Knobs) -> object:
    """What is defined for positive numbers only, of the size and something."""
    size = b.node("aten.add.Scalar", b.node("aten.abs.default", x), 0.5, 1)
    op = ("sqrt", "rsqrt", "log", "log1p", "reciprocal")[k[0] % 5]
    return b.node("aten.div.Tensor", x, size) if k[1] % 3 == 0 else b.node(f"aten.{op}.default", size)


def _powers(b: Builder, x: Value, k: _Knobs) -> object:
    small = b.node("aten.clamp.default", x, -1.5, 1.5)
    return b.node(f"aten.{('exp', 'expm1', 'sinh', 'cosh')[k[0] % 4]}.default", small)


def _scanned(b: Builder, x: Value, k: _Knobs) -> object:
    return b.node("aten.cumsum.default", b.node("aten.tanh.default", x), _dim(x, k[0]), dtype=None)


def _masked(b: Builder, x: Value, k: _Knobs) -> object:
    if len(x.spec.shape) < 2:
        raise InvalidGraph("no matrix")
    return b.node(f"aten.{('tril', 'triu')[k[0] % 2]}.default", x, k[1] % 3 - 1)


def _padded(b: Builder, x: Value, k: _Knobs) -> object:
    _dim(x, 0)
    return b.node("aten.constant_pad_nd.default", x, (k[0] % 2, k[1] % 2), 0.25)


def _selected(b: Builder, x: Value, k: _Knobs) -> object:
    dim = _dim(x, k[0])
    if not _shape(x)[dim]:
        raise InvalidGraph("nothing to select")
    return b.node("aten.select.int", x, dim, k[1] % _shape(x)[dim])


def _spread(b: Builder, x: Value, k: _Knobs) -> object:
    dim = _dim(x, k[0])
    if _shape(x)[dim] < 2:
        raise InvalidGraph("one number has no variance")
    return b.node("aten.var.correction", x, (dim,), correction=k[1] % 2, keepdim=True)


def _softmax(b: Builder, x: Value, k: _Knobs) -> object:
    return b.node(f"aten.{('_softmax', '_log_softmax')[k[1] % 2]}.default", x, _dim(x, k[0]), False)


def _product(b: Builder, x: Value, k: _Knobs) -> object:
    if len(x.spec.shape) != 2:
        raise InvalidGraph("no matrix")
    fits = [v for v in b.values if v.spec.dtype is x.spec.dtype and len(v.spec.shape) == 2]
    fits = [v for v in fits if v.spec.shape[0] == x.spec.shape[1]]
    if not fits:
        raise InvalidGraph("no matrix that fits")
    return b.node("aten.tanh.default", b.node("aten.mm.default", x, fits[k[0] % len(fits)]))


_ROUNDING: tuple[Move, ...] = (
    _function, _function, _pair, _pair, _number, _reduced, _reduced, _softmax, _product, _product, _chosen, _view,
    _permute, _slice, _flip, _cat, _unsqueeze, _positive, _powers, _scanned, _masked, _padded, _selected, _spread,
)  # fmt: skip


def exact_menu(dtype: DType) -> Menu:
    """Movement, arithmetic and reductions on top of each other, whose results are right to the bit or wrong: what each
    node yields is exact, or rounded once. Signs of zeros are PyTorch's to choose where the graph has ``relu``."""
    return Menu(dtype, _EXACT, ((2, 3, 4), (2, 3, 4), (4,)), _SPECIAL if dtype.is_floating else _WHOLE)


def rounding_menu(dtype: DType) -> Menu:
    """Functions, products and sums, whose values stay near 1, so that errors grow little."""
    return Menu(dtype, _ROUNDING, ((3, 4), (4,), (1, 4), (4, 3), ()))
