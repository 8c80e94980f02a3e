"""Pooling, resizing, padding, sampling: all that changes the trailing, spatial dimensions."""

from __future__ import annotations

from lazycore_plugin_api.opset.rule import Call, Sizes, Unfit, rule
from lazycore_plugin_api.opset.shapes.dims import Shapes, repeated

__all__ = ["columns_of", "images_of", "padded", "pooled", "resized", "sampled", "shuffled", "unshuffled"]


@rule
def pooled(call: Call, rank: int, outputs: int = 1) -> Shapes:
    """Windows over the last ``rank`` dimensions; under ``ceil_mode`` the last one may begin inside and end outside."""
    shape = call.shape("self")
    kernel = repeated(call["kernel_size"], rank)
    stride = repeated(call["stride"], rank) if call["stride"] != () else kernel
    padding, dilation = repeated(call["padding"], rank), repeated(call.given.get("dilation", 1), rank)
    if len(shape) not in (rank + 1, rank + 2):
        raise Unfit(f"pools {list(shape)} over {rank} dimensions")
    windows = zip(shape[-rank:], kernel, stride, padding, dilation, strict=True)
    sizes = (_windows(*window, call["ceil_mode"]) for window in windows)
    return ((*shape[:-rank], *sizes),) * outputs


def _windows(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil: bool) -> int:
    count = (size + 2 * padding - dilation * (kernel - 1) - 1 + (stride - 1 if ceil else 0)) // stride + 1
    return count - 1 if ceil and (count - 1) * stride >= size + padding else count


@rule
def resized(call: Call, rank: int, outputs: int = 1) -> Shapes:
    """The last ``rank`` dimensions become ``output_size``."""
    return ((*call.shape("self")[:-rank], *repeated(call["output_size"], rank)),) * outputs


@rule
def padded(call: Call, argument: str) -> Shapes:
    """A pair of paddings per dimension, the last dimension first; negative ones cut off."""
    shape, padding = list(call.shape("self")), call[argument]
    if len(padding) % 2 or len(padding) > 2 * len(shape):
        raise Unfit(f"pads {shape} by {padding}")
    for i in range(len(padding) // 2):
        shape[-1 - i] += padding[2 * i] + padding[2 * i + 1]
    return (tuple(shape),)


@rule
def sampled(call: Call) -> Shapes:
    """One value per channel for each place of ``grid``."""
    return ((*call.shape("input")[:2], *call.shape("grid")[1:-1]),)


@rule
def shuffled(call: Call) -> Shapes:
    """``upscale_factor`` squared channels become one of that many times the height and width."""
    *batch, channels, height, width = call.shape("self")
    factor = call["upscale_factor"]
    return ((*batch, channels // factor**2, height * factor, width * factor),)


@rule
def unshuffled(call: Call) -> Shapes:
    """The inverse of ``shuffled``."""
    *batch, channels, height, width = call.shape("self")
    factor = call["downscale_factor"]
    return ((*batch, channels * factor**2, height // factor, width // factor),)


def _blocks(call: Call, sizes: Sizes) -> int:
    lists = (call[name] for name in ("kernel_size", "stride", "padding", "dilation"))
    windows = zip(sizes, *(repeated(numbers, 2) for numbers in lists), strict=True)
    counts = [_windows(size, k, s, p, d, False) for size, k, s, p, d in windows]
    return counts[0] * counts[1]


@rule
def columns_of(call: Call) -> Shapes:
    """``im2col``: one column per window, the window's elements of all channels in it."""
    *batch, channels, height, width = call.shape("self")
    kernel = repeated(call["kernel_size"], 2)
    return ((*batch, channels * kernel[0] * kernel[1], _blocks(call, (height, width))),)


@rule
def images_of(call: Call) -> Shapes:
    """``col2im``: the windows added up again in an image of ``output_size``."""
    *batch, rows, _ = call.shape("self")
    kernel = repeated(call["kernel_size"], 2)
    return ((*batch, rows // (kernel[0] * kernel[1]), *repeated(call["output_size"], 2)),)
