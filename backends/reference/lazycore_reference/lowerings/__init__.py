"""The lowerings, one module per family of ops. Importing this package fills the table."""

from lazycore_reference.lowerings import (
    activation,
    activation_backward,
    binary,
    complex_numbers,
    convolution,
    factory,
    fft,
    indexing,
    linalg,
    loss,
    matmul,
    normalization,
    polynomials,
    pooling,
    random,
    reduction,
    scan,
    scatter,
    select,
    shape,
    softmax,
    sort,
    special,
    triangular,
    unary,
    upsample,
)

__all__ = [
    "activation", "activation_backward", "binary", "complex_numbers", "convolution", "factory", "fft", "indexing",
    "linalg", "loss", "matmul", "normalization", "polynomials", "pooling", "random", "reduction", "scan", "scatter",
    "select", "shape", "softmax", "sort", "special", "triangular", "unary", "upsample",
]  # fmt: skip
