"""Ops that take positions: gathers, embeddings, advanced indexing, windows."""

from __future__ import annotations

from itertools import pairwise

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.ir import Value
from lazycore_plugin_api.opset.rule import Call, Sizes, Unfit, rule
from lazycore_plugin_api.opset.shapes.dims import Shapes, broadcast_sizes, wrap

__all__ = ["bagged", "embedded", "embedding_gradient", "gathered", "indexed", "index_selected", "window", "words"]

_MASKS = (DType.bool, DType.uint8)


@rule
def gathered(call: Call) -> Shapes:
    """The shape of ``index``."""
    wrap(call["dim"], len(call.shape("self")))
    return (call.shape("index"),)


@rule
def index_selected(call: Call) -> Shapes:
    """``self`` with as many entries along ``dim`` as ``index`` has."""
    shape, index = call.shape("self"), call.shape("index")
    dim = wrap(call["dim"], len(shape))
    if len(index) > 1:
        raise Unfit(f"selects by an index of shape {list(index)}")
    count = index[0] if index else 1
    return ((*shape[:dim], count, *shape[dim + 1 :]) if shape else (),)


@rule
def embedded(call: Call) -> Shapes:
    """One row of ``weight`` per index."""
    return (call.shape("indices") + call.shape("weight")[1:],)


@rule
def embedding_gradient(call: Call) -> Shapes:
    """``num_weights`` rows."""
    return ((call["num_weights"], call.shape("grad_output")[-1]),)


@rule
def bagged(call: Call) -> Shapes:
    """One row per bag; what helps the gradient is left open."""
    bags = call.shape("offsets")[0] - bool(call["include_last_offset"])
    return (bags, call.shape("weight")[1]), None, None, None


@rule
def indexed(call: Call) -> Shapes:
    """The indices' common shape in place of the dimensions indexed, in front where these are not side by side. Left
    open for masks, whose values decide."""
    shape, indices = call.shape("self"), call["indices"]
    if len(indices) > len(shape):
        raise Unfit(f"has {len(indices)} indices for {list(shape)}")
    given = [(i, index) for i, index in enumerate(indices) if isinstance(index, Value)]
    if any(index.spec.dtype in _MASKS for _, index in given):
        return (None,)
    places = [i for i, _ in given]
    common = broadcast_sizes([index.spec.static_shape for _, index in given])
    return (_replaced(shape, places, common),)


def _replaced(shape: Sizes, places: list[int], common: Sizes) -> Sizes:
    rest = tuple(size for i, size in enumerate(shape) if i not in places)
    beside = all(b == a + 1 for a, b in pairwise(places))
    front = places[0] if places and beside else 0
    return rest[:front] + common + rest[front:]


@rule
def window(call: Call) -> Shapes:
    """``sizes``, which has one per dimension of ``x``, as ``starts`` has."""
    rank = len(call.shape("x"))
    if len(call["sizes"]) != rank or len(call["starts"]) != rank:
        raise Unfit(f"has {len(call['starts'])} starts and {len(call['sizes'])} sizes for rank {rank}")
    return (call["sizes"],)


@rule
def words(call: Call) -> Shapes:
    """``words`` outputs of shape ``size``."""
    if call["words"] not in (1, 2, 4):
        raise Unfit(f"draws {call['words']} words")
    return (call["size"],) * call["words"]  # type: ignore[no-any-return]
