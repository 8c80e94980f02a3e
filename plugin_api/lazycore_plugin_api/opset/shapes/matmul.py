"""Products of matrices, vectors and batches of them."""

from __future__ import annotations

from lazycore_plugin_api.opset.rule import Call, Sizes, Unfit, rule
from lazycore_plugin_api.opset.shapes.dims import Shapes, broadcast_sizes, wrap_all

__all__ = ["batched", "grouped", "matrix_vector", "multiplied", "outer", "summed_batches", "trilinear"]


def _ranked(call: Call, name: str, rank: int) -> Sizes:
    shape = call.shape(name)
    if len(shape) != rank:
        raise Unfit(f"has {name} of rank {len(shape)}, not {rank}")
    return shape


def _inner(a: int, b: int) -> None:
    if a != b:
        raise Unfit(f"multiplies {a} columns with {b} rows")


def _added(call: Call, added: str | None, result: Sizes) -> Shapes:
    """The result, onto which the operand ``added`` must broadcast."""
    if added is not None and broadcast_sizes((call.shape(added), result)) != result:
        raise Unfit(f"adds {added} of shape {list(call.shape(added))} to a product of shape {list(result)}")
    return (result,)


@rule
def multiplied(call: Call, left: str, right: str, added: str | None = None) -> Shapes:
    """Matrix times matrix."""
    a, b = _ranked(call, left, 2), _ranked(call, right, 2)
    _inner(a[1], b[0])
    return _added(call, added, (a[0], b[1]))


@rule
def batched(call: Call, left: str, right: str, added: str | None = None) -> Shapes:
    """Batch of matrices times batch of matrices."""
    a, b = _ranked(call, left, 3), _ranked(call, right, 3)
    _inner(a[2], b[1])
    if a[0] != b[0]:
        raise Unfit(f"multiplies {a[0]} matrices with {b[0]}")
    return _added(call, added, (a[0], a[1], b[2]))


@rule
def summed_batches(call: Call, left: str, right: str, added: str) -> Shapes:
    """The sum of a batch's products."""
    (shape,) = batched(left, right).apply(call)
    assert shape is not None
    return _added(call, added, shape[1:])


@rule
def matrix_vector(call: Call, left: str, right: str, added: str | None = None) -> Shapes:
    """Matrix times vector."""
    a, b = _ranked(call, left, 2), _ranked(call, right, 1)
    _inner(a[1], b[0])
    return _added(call, added, (a[0],))


@rule
def outer(call: Call, left: str, right: str, added: str) -> Shapes:
    """Column times row."""
    return _added(call, added, (*_ranked(call, left, 1), *_ranked(call, right, 1)))


@rule
def grouped(call: Call) -> Shapes:
    """``_grouped_mm``: ``offs`` says where the groups of a 2-d operand end."""
    a, b = call.shape("self"), call.shape("mat2")
    groups = call.shape("offs")[0] if call["offs"] is not None else 0
    if len(a) == 2 and len(b) == 2:
        return ((groups, a[0], b[1]),)
    if len(a) == 3 and len(b) == 3:
        return ((a[0], a[1], b[2]),)
    return ((a[-2], b[-1]),)


@rule
def trilinear(call: Call) -> Shapes:
    """``_trilinear``: operands given dimensions of size 1, multiplied, summed over ``sumdim``."""
    operands = ((call.shape(f"i{i}"), call[f"expand{i}"]) for i in (1, 2, 3))
    whole = broadcast_sizes([_expanded(shape, dims) for shape, dims in operands])
    summed = wrap_all(call["sumdim"], len(whole))
    return (tuple(size for i, size in enumerate(whole) if i not in summed),)


def _expanded(shape: Sizes, dims: tuple[int, ...]) -> Sizes:
    sizes = iter(shape)
    new = wrap_all(dims, len(shape) + len(dims))
    return tuple(1 if i in new else next(sizes) for i in range(len(shape) + len(dims)))
