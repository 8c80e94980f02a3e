"""Draws: recorded as one call each, and written out as random bits and ordinary ops when a graph is built.

docs/random.md says bit by bit what each of them gives; backends know of ``lazycore.philox`` alone.
"""

from __future__ import annotations

from lazycore.compiler.build.random.draws import DRAWS

__all__ = ["DRAWS"]
