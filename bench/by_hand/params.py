"""The parameters of a network on jax arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["Params"]

Params = Mapping[str, Any]
"""jax arrays under the names of the module's state dict."""
