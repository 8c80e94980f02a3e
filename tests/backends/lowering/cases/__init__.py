"""The case tables, one module per family of ops."""

from __future__ import annotations

from lowering.case import Case
from lowering.cases import (
    activation,
    bessel,
    convolution,
    ctc,
    distance,
    elementwise,
    factory,
    fft,
    indexing,
    linalg,
    loss,
    matmul,
    normalization,
    other_forms,
    pooling,
    random,
    reduction,
    resampling,
    scatter,
    selection,
    shape,
    sort,
    special,
    spectral,
    upsample,
    volume,
    written,
)

_FAMILIES = (
    elementwise, activation, reduction, matmul, convolution, pooling, normalization, loss, ctc, indexing, scatter,
    shape, factory, sort, upsample, random, linalg, fft, special, selection, volume, resampling, distance, written,
    bessel, spectral, other_forms,
)  # fmt: skip

ALL: list[Case] = [case for family in _FAMILIES for case in family.CASES]
