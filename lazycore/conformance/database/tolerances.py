"""Ops whose float32 results may differ from CPU's by more than torch's usual tolerance, and why.

Only noise of another order of summation belongs here: both results are then equally far from the exact one.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LOOSENED", "TOLERANCES", "Tolerance", "tolerance_of"]


@dataclass(frozen=True)
class Tolerance:
    """Allowed relative and absolute error, and the ground for it."""

    rtol: float
    atol: float
    reason: str


_CANCEL = "the exact gradient of a normalized single element is 0; what is left is rounding times 1/sqrt(eps)"
_SUMS = "sums of products of numbers up to 9 that cancel: the error is relative to the summands, not to the sum"
_CENTRED = "the exact gradient of a variance along what it is centred in is 0; what is left is rounding"
_GRID = "the gradient of a position sums differences of pixels that nearly cancel"
_CHAIN = "a chain of factorizations or recurrences whose rounding CPU's own libraries distribute otherwise"
_CPU_SINGLE = "the CPU's function is 1e-6 from the exact one in double precision too, the device's 1e-14"

# By op, or by op and dtype: a row without a dtype is for float32, which integers become as well.
TOLERANCES: dict[str, Tolerance] = {
    "nn.functional.layer_norm": Tolerance(1e-5, 1e-4, _CANCEL),
    "native_layer_norm": Tolerance(1e-5, 1e-4, _CANCEL),
    "nn.functional.scaled_dot_product_attention": Tolerance(1e-5, 1e-4, _SUMS),
    "nn.functional.conv3d": Tolerance(1e-5, 1e-4, _SUMS),
    "nn.functional.conv_transpose3d": Tolerance(1e-5, 1e-4, _SUMS),
    "grid_sampler_2d": Tolerance(1e-5, 1e-4, _GRID),
    "grid_sampler_3d": Tolerance(1e-5, 1e-4, _GRID),
    "nn.functional.grid_sample": Tolerance(1e-5, 1e-4, _GRID),
    "fft.hfft2": Tolerance(1e-5, 1e-4, _SUMS),
    "fft.hfftn": Tolerance(1e-5, 1e-4, _SUMS),
    "linalg.cond": Tolerance(1e-5, 1e-4, _CHAIN),
    "linalg.pinv.hermitian": Tolerance(1e-5, 1e-4, _CHAIN),
    "linalg.householder_product": Tolerance(1e-4, 1e-4, _CHAIN),
    "special.log_ndtr": Tolerance(1e-5, 1e-4, _CHAIN),
    "special.hermite_polynomial_h": Tolerance(5e-5, 1e-4, _CHAIN),
    "special.hermite_polynomial_he": Tolerance(5e-5, 1e-4, _CHAIN),
    "special.bessel_j0 float64": Tolerance(1e-5, 1e-6, _CPU_SINGLE),
    "special.bessel_y1 float64": Tolerance(1e-5, 1e-6, _CPU_SINGLE),
    "stft": Tolerance(1e-5, 2e-4, _SUMS),
    "cov": Tolerance(1e-5, 1e-4, _CENTRED),
    "BatchNorm3d module": Tolerance(1.3e-6, 3e-5, "a bias of 0 has the gradient 0: a sum of normalized numbers"),
}

_OTHERS = frozenset(("bfloat16", "float16", "float64", "complex64"))


LOOSENED: dict[str, tuple[float, float]] = {}
"""A vendor's own, by op or by op and dtype; they come before the table's."""


def tolerance_of(op: str, kind: str) -> Tolerance | None:
    """The row of a case, or None where torch's own tolerance holds. ``kind``: a dtype, or ``module``."""
    for key in (f"{op} {kind}", op):
        if key in LOOSENED:
            return Tolerance(*LOOSENED[key], "the vendor's profile")
    return TOLERANCES.get(f"{op} {kind}") or (None if kind in _OTHERS else TOLERANCES.get(op))
