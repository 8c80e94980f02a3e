"""lazycore: the eager program on another device."""

from __future__ import annotations

import os

import lazycore
from bench.programs import Program
from bench.subjects import eager
from bench.subjects.step import Step
from bench.ways import WITHOUT
from lazycore.compiler import rewrites

__all__ = ["step"]

if left_out := os.environ.get(WITHOUT):
    names = [function.__name__ for function in rewrites.PASSES]
    assert left_out in names, f"the compiler has no pass {left_out}, only {', '.join(names)}"
    rewrites.rewrite.__defaults__ = (tuple(f for f in rewrites.PASSES if f.__name__ != left_out),)
# Loaded here, as the compiler's import is no part of the first step.
lazycore.use_backend(os.environ.get("LAZYCORE_BACKEND", "xla"))


def step(program: Program, compiled: bool = False) -> Step:
    """A step of the program on the selected backend."""
    assert not compiled, "torch.compile is another way"
    step = eager.step(program, device="lazycore")
    step.rest = lazycore.sync
    return step
