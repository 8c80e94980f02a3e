"""Convolutions of one, two and three dimensions, transposed ones, and their gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from lowering.case import ACCUMULATED, Case, case
from lowering.samples import floats, ints


@dataclass(frozen=True)
class Geometry:
    """One convolution: shapes and attributes in ATen's order."""

    x: tuple[int, ...]
    w: tuple[int, ...]
    stride: list[int]
    padding: list[int]
    dilation: list[int]
    transposed: bool = False
    output_padding: tuple[int, ...] = ()
    groups: int = 1

    def attributes(self) -> tuple[Any, ...]:
        """Stride to groups, as ``aten.convolution`` takes them."""
        extra = list(self.output_padding) or [0] * len(self.stride)
        return (self.stride, self.padding, self.dilation, self.transposed, extra, self.groups)

    def channels(self) -> int:
        """Number of output channels."""
        return self.w[1] * self.groups if self.transposed else self.w[0]


TABLE = [
    Geometry((2, 3, 8), (4, 3, 3), [1], [0], [1]),
    Geometry((2, 3, 8), (4, 3, 3), [2], [1], [2]),
    Geometry((2, 3, 7, 6), (4, 3, 3, 3), [1, 1], [1, 1], [1, 1]),
    Geometry((2, 3, 7, 6), (4, 3, 3, 2), [2, 1], [1, 0], [1, 2]),
    Geometry((2, 4, 7, 6), (6, 2, 3, 3), [1, 1], [1, 1], [1, 1], groups=2),
    Geometry((2, 4, 7, 6), (4, 1, 3, 3), [2, 2], [1, 1], [1, 1], groups=4),
    Geometry((2, 3, 7, 6), (4, 3, 1, 1), [2, 2], [0, 0], [1, 1]),
    Geometry((2, 2, 5, 5, 5), (3, 2, 3, 3, 3), [1, 2, 1], [1, 1, 0], [1, 1, 1]),
    Geometry((2, 3, 5, 6), (3, 4, 3, 3), [1, 1], [0, 0], [1, 1], transposed=True),
    Geometry((2, 3, 5, 6), (3, 4, 3, 3), [2, 2], [1, 1], [1, 1], transposed=True, output_padding=(1, 0)),
    Geometry((2, 4, 5, 6), (4, 3, 3, 2), [2, 3], [1, 0], [2, 1], transposed=True, output_padding=(1, 2), groups=2),
    Geometry((2, 3, 6), (3, 4, 3), [2], [1], [1], transposed=True, output_padding=(1,)),
    Geometry((0, 3, 7, 6), (4, 3, 3, 3), [1, 1], [1, 1], [1, 1]),
]


def forward(g: Geometry, dtype: torch.dtype = torch.float32, bias: bool = True) -> Case:
    """The convolution itself."""
    b = floats(g.channels(), dtype=dtype) if bias else None
    x, w = floats(*g.x, dtype=dtype, low=-1, high=1), floats(*g.w, dtype=dtype, low=-1, high=1)
    return case("aten.convolution.default", x, w, b, *g.attributes(), tolerance=ACCUMULATED)


def backward(g: Geometry, mask: list[bool]) -> Case:
    """Its gradients for input, weight and bias, as the mask asks."""
    x, w = floats(*g.x, low=-1, high=1), floats(*g.w, low=-1, high=1)
    y = torch.ops.aten.convolution.default(x, w, None, *g.attributes())
    grad = floats(*y.shape, low=-1, high=1, seed=3)
    arguments = (grad, x, w, [g.channels()], *g.attributes(), mask)
    return case("aten.convolution_backward.default", *arguments, tolerance=ACCUMULATED)


CASES = [forward(g) for g in TABLE]
CASES += [forward(TABLE[2], bias=False), forward(TABLE[9], bias=False)]
CASES += [forward(TABLE[2], dtype) for dtype in (torch.float64, torch.bfloat16)]
CASES += [case("aten.convolution.default", ints(*g.x), ints(*g.w), None, *g.attributes()) for g in TABLE[:4]]
CASES += [backward(g, [True, True, True]) for g in TABLE]
CASES += [backward(TABLE[3], mask) for mask in ([True, False, False], [False, True, False], [False, True, True])]
