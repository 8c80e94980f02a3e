"""How long somebody has been waited for, less the time in which nobody could have answered."""

from __future__ import annotations

import time

__all__ = ["TICK", "Patience"]

TICK = 0.5
"""Seconds: whoever waits asks at least this often."""


class Patience:
    """Counts seconds while it is asked every ``TICK``. A longer gap is a process that was stopped, or a machine that
    slept, and its workers with it: it counts as two ticks, so that no time limit goes off for it."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._spent = 0.0

    def spent(self) -> float:
        """Seconds since it was made, without gaps."""
        now = time.monotonic()
        self._spent += min(now - self._last, 2 * TICK)
        self._last = now
        return self._spent
