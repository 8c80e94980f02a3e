"""lazycore: the eager program on another device."""

from __future__ import annotations

import os

import lazycore
from bench.programs import Program
from bench.subjects import eager
from bench.subjects.step import Step

__all__ = ["step"]

# Loaded here, as the compiler's import is no part of the first step.
lazycore.use_backend(os.environ.get("LAZYCORE_BACKEND", "xla"))


def step(program: Program, compiled: bool = False) -> Step:
    """A step of the program on the selected backend."""
    assert not compiled, "torch.compile is another way"
    return eager.step(program, device="lazycore")
