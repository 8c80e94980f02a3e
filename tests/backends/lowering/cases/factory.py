"""Tensors out of numbers."""

from __future__ import annotations

import torch

from lowering.case import ELEMENTWISE, EXACT, case
from lowering.samples import INF, NAN

_F, _I, _B = torch.float32, torch.int64, torch.bfloat16

CASES = [
    case("aten.full.default", [2, 3], 1.5, dtype=_F, tolerance=EXACT),
    case("aten.full.default", [], -0.0, dtype=_F, tolerance=EXACT),
    case("aten.full.default", [2], NAN, dtype=_F, tolerance=EXACT),
    case("aten.full.default", [2], -INF, dtype=_B, tolerance=EXACT),
    case("aten.full.default", [0, 3], 7, dtype=_I, tolerance=EXACT),
    case("aten.full.default", [2], 7, dtype=_I, tolerance=EXACT),
    case("aten.full.default", [2], True, dtype=torch.bool, tolerance=EXACT),
    case("aten.full.default", [2], 0.1, dtype=torch.float64, tolerance=EXACT),
    case("aten.full.default", [2], 0.1, dtype=_B, tolerance=EXACT),
    case("aten.scalar_tensor.default", 2.5, dtype=_F, tolerance=EXACT),
    case("aten.scalar_tensor.default", 3, dtype=_I, tolerance=EXACT),
    case("aten.scalar_tensor.default", 0.1, dtype=_B, tolerance=EXACT),
    case("aten.scalar_tensor.default", True, dtype=torch.bool, tolerance=EXACT),
    case("aten.arange.start_step", 0, 5, 1, dtype=_I, tolerance=EXACT),
    case("aten.arange.start_step", 5, -4, -3, dtype=_I, tolerance=EXACT),
    case("aten.arange.start_step", 0, 0, 1, dtype=_I, tolerance=EXACT),
    case("aten.arange.start_step", -7.9, 0.1, 2.6, dtype=_I, tolerance=EXACT),
    case("aten.arange.start_step", 0.5, 3.0, 0.25, dtype=_F, tolerance=EXACT),
    case("aten.arange.start_step", 0, 7, 2, dtype=torch.int32, tolerance=EXACT),
    case("aten.arange.start_step", 0.0, 1.0, 0.1, dtype=_F, tolerance=ELEMENTWISE),
    case("aten.arange.start_step", 0, 6, 1, dtype=_B, tolerance=EXACT),
    case("aten.eye.m", 3, 4, dtype=_F, tolerance=EXACT),
    case("aten.eye.m", 3, 2, dtype=_I, tolerance=EXACT),
    case("aten.eye.m", 0, 2, dtype=torch.bool, tolerance=EXACT),
    case("aten.linspace.default", 0.0, 1.0, 5, dtype=_F),
    case("aten.linspace.default", -3.0, 7.0, 8, dtype=_F),
    case("aten.linspace.default", 2.0, 5.0, 1, dtype=_F),
    case("aten.linspace.default", 2.0, 5.0, 0, dtype=_F),
    case("aten.linspace.default", 1.0, -1.0, 4, dtype=torch.float64),
    case("aten.linspace.default", 4.3, -3.7, 50, dtype=_I, tolerance=EXACT),
    case("aten.linspace.default", -2.9, 7.2, 50, dtype=_B, tolerance=EXACT),
    case("aten.linspace.default", -9, 200, 37, dtype=torch.int32, tolerance=EXACT),
    case("aten.linspace.default", -2.9, 7.2, 1, dtype=_I, tolerance=EXACT),
]
