"""Numbers beside NumPy arrays, for the functions that programs call out to."""

from __future__ import annotations

from typing import Any

import numpy as np
from lazycore_plugin_api import HostArray

__all__ = ["number"]


def number(value: Any, like: HostArray) -> HostArray:
    """A Scalar argument in the dtype of the array beside it; integers wrap around."""
    return np.asarray(value).astype(like.dtype)
