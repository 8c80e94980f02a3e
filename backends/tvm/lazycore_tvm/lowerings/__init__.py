"""The lowerings by family. Importing this package fills the lowering table."""

from lazycore_tvm.lowerings import (
    activation,
    arithmetic,
    comparison,
    convolution,
    factorization,
    factory,
    indexing,
    loss,
    matmul,
    normalization,
    number_theory,
    ordering,
    polynomials,
    pooling,
    random,
    reduction,
    scatter,
    scatter_reduce,
    selection,
    shape,
    softmax,
    triangular,
    unary,
)

__all__ = [
    "activation", "arithmetic", "comparison", "convolution", "factorization", "factory", "indexing", "loss", "matmul",
    "normalization", "number_theory", "ordering", "polynomials", "pooling", "random", "reduction", "scatter",
    "scatter_reduce", "selection", "shape", "softmax", "triangular", "unary",
]  # fmt: skip
