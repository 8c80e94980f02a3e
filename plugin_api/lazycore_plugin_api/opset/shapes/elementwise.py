"""Elementwise ops and everything whose outputs have the shape of an operand."""

from __future__ import annotations

from lazycore_plugin_api.opset.rule import Call, Unfit, rule
from lazycore_plugin_api.opset.shapes.dims import Shapes, broadcast_sizes

__all__ = ["as_listed", "broadcast", "fixed_shape", "masked", "same_as"]


@rule
def broadcast(call: Call, *names: str) -> Shapes:
    """The common shape of the operands named."""
    shapes = [value.spec.shape for value in call.values(*names)]
    first = shapes[0] if shapes else ()
    if all(shape == first for shape in shapes):
        return (first,)  # type: ignore[return-value]
    return (broadcast_sizes(shapes),)  # type: ignore[arg-type]


@rule
def same_as(call: Call, *names: str) -> Shapes:
    """Output i has the shape of the i-th operand named."""
    return tuple(call.shape(name) for name in names)


@rule
def masked(call: Call, *names: str) -> Shapes:
    """``same_as``, of the outputs that ``output_mask`` asks for."""
    mask = call["output_mask"]
    if len(mask) != len(names):
        raise Unfit(f"has {len(mask)} flags in output_mask for {len(names)} outputs")
    return tuple(call.shape(name) if asked else None for name, asked in zip(names, mask, strict=True))


@rule
def as_listed(call: Call, argument: str) -> Shapes:
    """The list of sizes that an argument holds."""
    return (call[argument],)


@rule
def fixed_shape(call: Call, *sizes: int) -> Shapes:  # noqa: ARG001
    """Always the same."""
    return (sizes,)
