"""From a backend's patterns to composite nodes: matching, choosing among matches, wrapping, and taking apart again."""

from __future__ import annotations

from lazycore.compiler.patterns.compose import compose
from lazycore.compiler.patterns.dissolve import dissolve

__all__ = ["compose", "dissolve"]
