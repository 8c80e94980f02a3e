"""What jax remembers of the lowerings' calls, forgotten now and then.

jax keeps the trace of each of its library's jitted functions for each shape, without a bound: some 40 KiB for a program
of a few ops. A process whose shapes never repeat would grow for ever. The user's own jitted functions are left alone; a
call of the library's by itself (``jnp.where`` on arrays) compiles once more.
"""

from __future__ import annotations

import sys
import threading
from itertools import count
from typing import Any

import jax
import jax.numpy as jnp

__all__ = ["EVERY", "compiled_one"]

EVERY = 256
"""Programs from one time to the next: together they took many times as long to compile as what is forgotten."""

_JITTED = type(jax.jit(lambda: None))
_compiled = count(1)
_turn = threading.Lock()


def compiled_one() -> None:
    """Note a program that has been compiled, on any thread."""
    with _turn:
        if next(_compiled) % EVERY:
            return
        for function in _library():
            function.clear_cache()


def _library() -> list[Any]:
    """jax's own jitted functions: what its modules name, and what their ufuncs are made of."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("jax.") and module]
    named = {id(value): value for module in modules for value in list(vars(module).values())}
    inner = [part for value in named.values() if isinstance(value, jnp.ufunc) for part in _parts(value)]
    return [value for value in (*named.values(), *inner) if type(value) is _JITTED]


def _parts(ufunc: jnp.ufunc) -> list[Any]:
    held = list(vars(ufunc).values())
    return held + [part for value in held if isinstance(value, dict) for part in value.values()]
