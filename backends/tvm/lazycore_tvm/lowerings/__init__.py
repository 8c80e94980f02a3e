"""The lowerings by family. Importing this package fills the lowering table."""

from lazycore_tvm.lowerings import (
    activation,
    arithmetic,
    comparison,
    convolution,
    factory,
    indexing,
    loss,
    matmul,
    normalization,
    ordering,
    pooling,
    random,
    reduction,
    scatter,
    selection,
    shape,
    softmax,
    unary,
)

__all__ = [
    "activation", "arithmetic", "comparison", "convolution", "factory", "indexing", "loss", "matmul", "normalization",
    "ordering", "pooling", "random", "reduction", "scatter", "selection", "shape", "softmax", "unary",
]  # fmt: skip
