"""What is known of a value before it exists: its shape and element type."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from lazycore_plugin_api.dims import Dim
from lazycore_plugin_api.dtypes import DType

__all__ = ["Dim", "Shape", "TensorSpec"]

Shape = tuple[int | Dim, ...]


@dataclass(frozen=True)
class TensorSpec:
    """Shape and dtype of a dense row-major tensor; ``()`` is a 0-d tensor."""

    shape: Shape
    dtype: DType

    @property
    def static_shape(self) -> tuple[int, ...]:
        """The shape as plain integers. Raises TypeError where a dimension is symbolic."""
        sizes = tuple(d for d in self.shape if isinstance(d, int))
        if len(sizes) != len(self.shape):
            raise TypeError(f"{self} has symbolic dimensions; a static shape was asked for")
        return sizes

    @property
    def numel(self) -> int:
        """Number of elements. Raises TypeError where a dimension is symbolic."""
        return prod(self.static_shape)

    @property
    def nbytes(self) -> int:
        """Bytes the elements take. Raises TypeError where a dimension is symbolic."""
        return self.numel * self.dtype.itemsize

    def __str__(self) -> str:
        return f"{self.dtype.short}[{','.join(map(str, self.shape))}]"
