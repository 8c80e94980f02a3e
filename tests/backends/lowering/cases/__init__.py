"""The case tables, one module per family of ops."""

from __future__ import annotations

from lowering.case import Case
from lowering.cases import (
    activation,
    convolution,
    elementwise,
    factory,
    indexing,
    loss,
    matmul,
    normalization,
    pooling,
    random,
    reduction,
    scatter,
    shape,
    sort,
    upsample,
)

_FAMILIES = (
    elementwise, activation, reduction, matmul, convolution, pooling, normalization, loss, indexing, scatter, shape,
    factory, sort, upsample, random,
)  # fmt: skip

ALL: list[Case] = [case for family in _FAMILIES for case in family.CASES]
