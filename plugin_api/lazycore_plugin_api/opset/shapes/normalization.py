"""Normalizations, their statistics and gradients; losses."""

from __future__ import annotations

from lazycore_plugin_api.opset.rule import Call, Sizes, Unfit, rule
from lazycore_plugin_api.opset.shapes.dims import Shapes, broadcast_sizes

__all__ = [
    "batch_normalized", "batch_normalized_backward", "group_normalized", "group_normalized_backward",
    "layer_normalized", "layer_normalized_backward", "nll", "reduced_loss",
]  # fmt: skip


def _channels(shape: Sizes) -> Sizes:
    if len(shape) < 2:
        raise Unfit(f"normalizes {list(shape)}, which has no channels")
    return (shape[1],)


@rule
def batch_normalized(call: Call, running: bool = False) -> Shapes:
    """The result, mean and inverse deviation per channel (left open unless training), the running ones."""
    shape = call.shape("input")
    saved = _channels(shape) if call.given.get("training", False) else None
    return (shape, saved, saved, *((_channels(shape),) * 2 if running else ()))


@rule
def batch_normalized_backward(call: Call) -> Shapes:
    """The gradients for input, weight and bias that ``output_mask`` asks for."""
    shape = call.shape("input")
    return _asked(call, (shape, _channels(shape), _channels(shape)))


def _asked(call: Call, shapes: tuple[Sizes, ...]) -> Shapes:
    return tuple(shape if asked else None for shape, asked in zip(shapes, call["output_mask"], strict=True))


@rule
def layer_normalized(call: Call) -> Shapes:
    """The result, mean and inverse deviation of the trailing ``normalized_shape``, its sizes being 1 there."""
    shape, inner = call.shape("input"), call["normalized_shape"]
    if shape[len(shape) - len(inner) :] != inner:
        raise Unfit(f"normalizes {list(shape)} over the trailing {list(inner)}")
    statistics = shape[: len(shape) - len(inner)] + (1,) * len(inner)
    return shape, statistics, statistics


@rule
def layer_normalized_backward(call: Call) -> Shapes:
    """The gradients for input, weight and bias that ``output_mask`` asks for."""
    inner = call["normalized_shape"]
    result, weight, bias = _asked(call, (call.shape("input"), inner, inner))
    # Without weight or bias there is no gradient for them, whatever the mask says.
    return result, None if call["weight"] is None else weight, None if call["bias"] is None else bias


@rule
def group_normalized(call: Call) -> Shapes:
    """The result, mean and inverse deviation per item and group."""
    statistics = (call["N"], call["group"])
    return call.shape("input"), statistics, statistics


@rule
def group_normalized_backward(call: Call) -> Shapes:
    """The gradients for input, weight and bias that ``output_mask`` asks for."""
    return _asked(call, (call.shape("input"), (call["C"],), (call["C"],)))


@rule
def reduced_loss(call: Call, *names: str) -> Shapes:
    """0-d, or the operands' common shape where ``reduction`` is 0."""
    shape = broadcast_sizes([value.spec.static_shape for value in call.values(*names)])
    return (() if call["reduction"] else shape,)


@rule
def nll(call: Call) -> Shapes:
    """0-d, or one loss per target where ``reduction`` is 0; then the total weight, 0-d."""
    shape = call.shape("self")
    return (() if call["reduction"] else shape[:1] + shape[2:] if len(shape) > 1 else ()), ()
