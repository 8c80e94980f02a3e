"""The levels of the suite, and what a backend that passes one may be used for."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LEVELS", "Level"]


@dataclass(frozen=True)
class Level:
    """A level counts as passed only if all below it are."""

    number: int
    name: str
    checks: str
    permits: str


LEVELS = (
    Level(
        0, "contract",
        "discovery, hooks and signatures, types, API version, errors, threads as declared, serializing and loading",
        "being installed: it cannot harm programs that select another backend",
    ),
    Level(
        1, "inference",
        "every operator that it claims, forward, in every dtype that it claims",
        "inference with ordinary inputs",
    ),
    Level(2, "training", "gradients of the operators and modules, optimizers", "training with ordinary inputs"),
    Level(
        3, "semantics",
        "views and writes, aliasing, promotion, NaN, infinities, zeros' signs, empty and huge inputs, random numbers",
        "any program, whose results are PyTorch's in odd cases too",
    ),
    Level(4, "programs", "whole programs: MLP, CNN, LSTM, GPT trained to the CPU's loss", "whole models"),
    Level(
        5, "endurance",
        "memory over 10,000 steps, failing compiles, a broken cache, threads, processes, kills",
        "services that run for long and share a machine",
    ),
)  # fmt: skip
