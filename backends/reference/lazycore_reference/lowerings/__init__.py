"""The lowerings, one module per family of ops. Importing this package fills the table."""

from lazycore_reference.lowerings import (
    activation,
    activation_backward,
    binary,
    convolution,
    factory,
    indexing,
    loss,
    matmul,
    normalization,
    pooling,
    random,
    reduction,
    scatter,
    select,
    shape,
    softmax,
    sort,
    unary,
    upsample,
)

__all__ = [
    "activation", "activation_backward", "binary", "convolution", "factory", "indexing", "loss", "matmul",
    "normalization", "pooling", "random", "reduction", "scatter", "select", "shape", "softmax", "sort", "unary",
    "upsample",
]  # fmt: skip
