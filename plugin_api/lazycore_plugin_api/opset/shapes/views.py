"""Reshaping, slicing, joining; sizes that arguments state."""

from __future__ import annotations

from math import ceil, prod

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.opset.rule import Call, Unfit, rule
from lazycore_plugin_api.opset.shapes.dims import Shapes, wrap, wrap_all

__all__ = [
    "concatenated", "counted", "diagonal_of", "expanded", "eye_sized", "permuted", "picked", "reinterpreted",
    "repeated_by", "sliced", "squeezed", "stacked", "steps", "transposed", "triangle", "turned", "unsqueezed", "viewed",
]  # fmt: skip


@rule
def viewed(call: Call, argument: str = "size") -> Shapes:
    """The sizes given, of as many elements; one may be -1."""
    shape, size = call.shape("self"), call[argument]
    known = prod(tuple(s for s in size if s != -1))
    if size.count(-1) == 1 and known:
        size = tuple(prod(shape) // known if s == -1 else s for s in size)
    if prod(size) != prod(shape) or any(s < 0 for s in size):
        raise Unfit(f"has {list(shape)} viewed as {list(call[argument])}")
    return (size,)


@rule
def expanded(call: Call) -> Shapes:
    """The sizes given, onto which ``self`` broadcasts; -1 keeps a size."""
    shape, size = call.shape("self"), call["size"]
    padded = (1,) * (len(size) - len(shape)) + shape
    if len(padded) != len(size):
        raise Unfit(f"has {list(shape)} expanded to {list(size)}, which has fewer dimensions")
    result = tuple(b if a == -1 else a for a, b in zip(size, padded, strict=True))
    if any(b not in (a, 1) for a, b in zip(result, padded, strict=True)):
        raise Unfit(f"has {list(shape)} expanded to {list(size)}")
    return (result,)


@rule
def permuted(call: Call) -> Shapes:
    """Dimension i is that at ``dims[i]``."""
    shape, dims = call.shape("self"), call["dims"]
    if len(wrap_all(dims, len(shape))) != len(shape):
        raise Unfit(f"permutes {list(shape)} by {list(dims)}")
    return (tuple(shape[dim] for dim in dims),)


@rule
def transposed(call: Call) -> Shapes:
    """``self`` with ``dim0`` and ``dim1`` exchanged."""
    sizes = list(call.shape("self"))
    first, second = wrap(call["dim0"], len(sizes)), wrap(call["dim1"], len(sizes))
    if sizes:
        sizes[first], sizes[second] = sizes[second], sizes[first]
    return (tuple(sizes),)


@rule
def turned(call: Call) -> Shapes:
    """A matrix with its dimensions exchanged; what has fewer stays."""
    shape = call.shape("self")
    if len(shape) > 2:
        raise Unfit(f"turns {list(shape)}, which has more than two dimensions")
    return (shape[::-1],)


@rule
def picked(call: Call) -> Shapes:
    """``self`` without ``dim``."""
    shape, index = call.shape("self"), call["index"]
    dim = wrap(call["dim"], len(shape))
    if not shape or not -shape[dim] <= index < shape[dim]:
        raise Unfit(f"selects {index} of {list(shape)} along dimension {dim}")
    return (shape[:dim] + shape[dim + 1 :],)


@rule
def sliced(call: Call) -> Shapes:
    """``self`` with every ``step``-th entry of ``dim`` from ``start`` to ``end``, both counted and clamped as Python
    does."""
    shape = call.shape("self")
    dim, step = wrap(call["dim"], len(shape)), call["step"]
    if not shape or step < 1:
        raise Unfit(f"slices {list(shape)} with step {step}")
    count = len(range(*slice(call["start"], call["end"], step).indices(shape[dim])))
    return ((*shape[:dim], count, *shape[dim + 1 :]),)


@rule
def squeezed(call: Call, argument: str | None = None) -> Shapes:
    """``self`` without the dimensions of size 1, of all or of those named."""
    shape = call.shape("self")
    dims = set(range(len(shape))) if argument is None else wrap_all(call[argument], len(shape))
    return (tuple(size for i, size in enumerate(shape) if size != 1 or i not in dims),)


@rule
def unsqueezed(call: Call) -> Shapes:
    """``self`` with a dimension of size 1 at ``dim``."""
    shape = call.shape("self")
    dim = wrap(call["dim"], len(shape) + 1)
    return ((*shape[:dim], 1, *shape[dim:]),)


@rule
def diagonal_of(call: Call) -> Shapes:
    """``self`` without ``dim1`` and ``dim2``, their diagonal last."""
    shape = call.shape("self")
    first, second = wrap(call["dim1"], len(shape)), wrap(call["dim2"], len(shape))
    if first == second or len(shape) < 2:
        raise Unfit(f"has the diagonal of {list(shape)} between dimensions {first} and {second}")
    offset = call["offset"]
    rows, columns = shape[first] + min(offset, 0), shape[second] - max(offset, 0)
    rest = tuple(size for i, size in enumerate(shape) if i not in (first, second))
    return ((*rest, max(0, min(rows, columns))),)


@rule
def reinterpreted(call: Call) -> Shapes:
    """The last dimension, counted in elements of ``dtype``."""
    shape, old, new = call.shape("self"), call.dtype("self").itemsize, call["dtype"].itemsize
    if old == new:
        return (shape,)
    if not shape or shape[-1] * old % new:
        raise Unfit(f"has {list(shape)} of {old} bytes read as elements of {new}")
    return ((*shape[:-1], shape[-1] * old // new),)


@rule
def repeated_by(call: Call) -> Shapes:
    """``self`` as often along each dimension as ``repeats`` says, new dimensions in front."""
    shape, repeats = call.shape("self"), call["repeats"]
    padded = (1,) * (len(repeats) - len(shape)) + shape
    return (tuple(a * b for a, b in zip(padded, repeats, strict=True)),)


@rule
def concatenated(call: Call) -> Shapes:
    """The sizes along ``dim`` added up; operands of shape (0,) go with all others."""
    shapes = [value.spec.static_shape for value in call.values("tensors")]
    kept = [shape for shape in shapes if shape != (0,)] or shapes[:1]
    if not kept:
        raise Unfit("joins nothing")
    dim = wrap(call["dim"], len(kept[0]))
    if len({(len(s), s[:dim], s[dim + 1 :]) for s in kept}) != 1 or not kept[0]:
        raise Unfit(f"joins {', '.join(str(list(s)) for s in shapes)} along dimension {dim}")
    return ((*kept[0][:dim], sum(shape[dim] for shape in kept), *kept[0][dim + 1 :]),)


@rule
def stacked(call: Call) -> Shapes:
    """A new dimension ``dim``, one entry per operand; all have one shape."""
    shapes = [value.spec.static_shape for value in call.values("tensors")]
    if len(set(shapes)) != 1:
        raise Unfit(f"stacks {', '.join(str(list(s)) for s in shapes) or 'nothing'}")
    dim = wrap(call["dim"], len(shapes[0]) + 1)
    return ((*shapes[0][:dim], len(shapes), *shapes[0][dim:]),)


@rule
def counted(call: Call) -> Shapes:
    """As many numbers as lie from ``start``, or 0, to before ``end``."""
    bounds = [call.given.get("start", 0), call["end"], call.given.get("step", 1)]
    if call["dtype"] is DType.int64:
        bounds = [int(bound) for bound in bounds]
    start, end, step = bounds
    exact = all(isinstance(bound, int) for bound in bounds)
    return ((-((start - end) // step) if exact else ceil((end - start) / step),),)


@rule
def eye_sized(call: Call) -> Shapes:
    """``n`` rows, and as many columns or ``m``."""
    return ((call["n"], call.given.get("m", call["n"])),)


@rule
def triangle(call: Call, lower: bool) -> Shapes:
    """Row and column of each place of a triangle of a ``row`` by ``col`` matrix."""
    rows, columns, offset = call["row"], call["col"], call["offset"]
    below = [min(columns, max(0, i + offset + bool(lower))) for i in range(rows)]
    return ((2, sum(below) if lower else sum(columns - count for count in below)),)


@rule
def steps(call: Call) -> Shapes:
    """``steps`` numbers."""
    return ((call["steps"],),)
