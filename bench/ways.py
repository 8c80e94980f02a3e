"""The ways that are compared, and how a process of each is set up."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ALL", "LAZYCORE", "LESS", "WAYS", "WITHOUT", "Way", "environment"]

LAZYCORE = "lazycore"
WITHOUT = "LAZYCORE_BENCH_WITHOUT"
"""The variable that names a pass of the compiler which a process is to go without."""


@dataclass(frozen=True)
class Way:
    """``module``: of ``bench.subjects``; ``keeps``: whether the process keeps freed memory, as ``lazycore run`` has it
    unless told otherwise; ``about``: what the page says of it; ``backend``: of lazycore, if not its default one;
    ``without``: the function's name of a pass that lazycore's compiler leaves out."""

    module: str
    about: str
    compiled: bool = False
    keeps: bool = False
    backend: str = ""
    without: str = ""


WAYS: Mapping[str, Way] = {
    "eager": Way("eager", "PyTorch on CPU"),
    "torch.compile": Way("eager", "the module compiled, the optimizer PyTorch's own", compiled=True),
    "jax": Way("jax_step", "written by hand: one jitted step, parameters and moments donated"),
    "jax, memory kept": Way("jax_step", "the same with the allocator set as `lazycore run` sets it", keeps=True),
    LAZYCORE: Way("lazy", "the xla backend, as `lazycore run` starts it: freed memory is kept", keeps=True),
    "lazycore, memory returned": Way("lazy", "the same as `lazycore run --return-memory` starts it"),
}

LESS: Mapping[str, Way] = {
    "slice gradients added up": Way("lazy", "", keeps=True, without="concatenate_slice_gradients"),
    "duplicates computed": Way("lazy", "", keeps=True, without="merge_duplicates"),
    "idle casts made": Way("lazy", "", keeps=True, without="drop_idle_casts"),
    "XLA's own convolutions": Way("lazy", "", keeps=True, backend="xla?convolutions=xla"),
}
"""lazycore with one thing less."""

ALL: Mapping[str, Way] = {**WAYS, **LESS}

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
    chosen = {"LAZYCORE_BACKEND": way.backend} if way.backend else {}
    return {**os.environ, "LAZYCORE_CACHE": "1", WITHOUT: way.without, **chosen, **caches, **kept}
