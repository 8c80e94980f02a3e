"""The lowerings by family. Importing this package fills the lowering table."""

from lazycore_tvm.lowerings import (
    activation,
    arithmetic,
    comparison,
    factory,
    indexing,
    loss,
    normalization,
    random,
    reduction,
    selection,
    shape,
    softmax,
    unary,
)

__all__ = [
    "activation", "arithmetic", "comparison", "factory", "indexing", "loss", "normalization", "random", "reduction",
    "selection", "shape", "softmax", "unary",
]  # fmt: skip
