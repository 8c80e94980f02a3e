"""One training step that can be run again and again."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["BETAS", "DECAY", "EPSILON", "RATE", "Step"]

RATE, BETAS, EPSILON, DECAY = 1e-3, (0.9, 0.999), 1e-8, 0.01


class Step:
    """``run`` trains a step and returns without waiting; ``loss`` waits for the last one's loss, ``rest`` for all that
    was launched."""

    def __init__(
        self, run: Callable[[], object], loss: Callable[[], float], rest: Callable[[], object] = lambda: None
    ) -> None:
        self.run, self.loss, self.rest = run, loss, rest

    def seconds(self, steps: int, every: int, whole: bool = False) -> float:
        """Mean seconds of a step, reading the loss after each ``every`` steps. ``whole``: waiting for all else, too."""
        start = time.perf_counter()
        for step in range(steps):
            self.run()
            if (step + 1) % every == 0:
                self.loss()
                if whole:
                    self.rest()
        return (time.perf_counter() - start) / steps

    def turn(self, steps: int, every: int, whole: bool = False) -> float:
        """``seconds`` after one step that does not count, as other processes have used the processor since the last."""
        self.seconds(1, 1, whole)
        seconds = self.seconds(steps, every, whole)
        # Else it would take time from the others' turns.
        self.rest()
        return seconds
