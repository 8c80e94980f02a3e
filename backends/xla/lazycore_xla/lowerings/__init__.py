"""The lowerings by family. Importing this package fills the lowering table."""

from lazycore_xla.lowerings import (
    activation,
    activation_backward,
    arithmetic,
    comparison,
    convolution,
    factory,
    indexing,
    loss,
    loss_backward,
    matmul,
    moments,
    normalization,
    normalization_backward,
    pooling,
    pooling_average,
    power,
    reduction,
    scatter,
    shape,
    slicing,
    softmax,
    sort,
    ternary,
    unary,
    upsample,
)

__all__ = [
    "activation", "activation_backward", "arithmetic", "comparison", "convolution", "factory", "indexing", "loss",
    "loss_backward", "matmul", "moments", "normalization", "normalization_backward", "pooling", "pooling_average",
    "power",
    "reduction", "scatter", "shape", "slicing", "softmax", "sort", "ternary", "unary", "upsample",
]  # fmt: skip
