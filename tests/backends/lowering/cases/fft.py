"""Discrete Fourier transforms: real and complex, halved and whole, scaled in each way."""

from __future__ import annotations

import torch

from lowering.case import ACCUMULATED, case
from lowering.samples import floats


def _complex(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.complex(floats(*shape, dtype=dtype), floats(*shape, dtype=dtype, seed=1))


_C2C = [(_complex(5), [0]), (_complex(3, 4), [0, 1]), (_complex(2, 3, 4, dtype=torch.float64), [2, 0])]
_R2C = [(floats(6), [0]), (floats(3, 5), [0, 1]), (floats(2, 3, 4, dtype=torch.float64), [1, 0])]
_C2R = [(_complex(4), [0], 6), (_complex(4), [0], 7), (_complex(3, 4, dtype=torch.float64), [0, 1], 6)]

CASES = [
    case("aten._fft_c2c.default", x, dims, scaling, forward, tolerance=ACCUMULATED)
    for x, dims in _C2C
    for scaling in (0, 1, 2)
    for forward in (True, False)
]
CASES += [
    case("aten._fft_r2c.default", x, dims, scaling, onesided, tolerance=ACCUMULATED)
    for x, dims in _R2C
    for scaling in (0, 2)
    for onesided in (True, False)
]
CASES += [
    case("aten._fft_c2r.default", x, dims, scaling, size, tolerance=ACCUMULATED)
    for x, dims, size in _C2R
    for scaling in (0, 1)
]
