"""What ran where, and why: ``lazycore.explain()`` and ``lazycore explain script.py``."""

from __future__ import annotations

from lazycore.report.explain.explanation import Explanation, explain
from lazycore.report.explain.ledger import LEDGER

__all__ = ["LEDGER", "Explanation", "explain"]
