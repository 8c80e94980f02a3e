"""The ways that are compared, and how a process of each is set up."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["LAZYCORE", "WAYS", "Way", "environment"]

LAZYCORE = "lazycore"


@dataclass(frozen=True)
class Way:
    """``module``: of ``bench.subjects``; ``keeps``: whether the process keeps freed memory, as ``lazycore run`` has it
    unless told otherwise; ``about``: what the page says of it."""

    module: str
    about: str
    compiled: bool = False
    keeps: bool = False


WAYS: Mapping[str, Way] = {
    "eager": Way("eager", "PyTorch on CPU"),
    "torch.compile": Way("eager", "the module compiled, the optimizer PyTorch's own", compiled=True),
    "jax": Way("jax_step", "written by hand: one jitted step, parameters and moments donated"),
    "jax, memory kept": Way("jax_step", "the same with the allocator set as `lazycore run` sets it", keeps=True),
    LAZYCORE: Way("lazy", "the xla backend, as `lazycore run` starts it: freed memory is kept", keeps=True),
    "lazycore, memory returned": Way("lazy", "the same as `lazycore run --return-memory` starts it"),
}

_CACHES = {
    "LAZYCORE_CACHE_DIR": "lazycore",
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
    "JAX_COMPILATION_CACHE_DIR": "jax",
}


def environment(cache: Path, way: Way) -> dict[str, str]:
    """The variables of a process whose compilers keep their results under ``cache``."""
    caches = {name: str(cache / folder) for name, folder in _CACHES.items()}
    if way.module == "lazy":
        del caches["JAX_COMPILATION_CACHE_DIR"]
    # Else jax keeps only what took long to compile.
    kept = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
    return {**os.environ, "LAZYCORE_CACHE": "1", **caches, **kept}
