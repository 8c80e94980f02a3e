"""Importing this imports PyTorch's databases, which takes seconds: once, where workers are forked from.

Raises Moved where this release of torch has them elsewhere.
"""

from __future__ import annotations

from lazycore.conformance.database.cases import cases

__all__: list[str] = []

cases()
