"""The jax configuration that lowerings are written for, in force only while the plugin itself uses jax."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

import jax

__all__ = ["own_configuration", "wide_types"]


def wide_types() -> AbstractContextManager[None]:
    """A context in which 64-bit types exist for this thread; the user's own jax code outside keeps its setting."""
    context: AbstractContextManager[None] = jax.enable_x64(True)
    return context


@contextmanager
def own_configuration() -> Iterator[None]:
    """A context, of this thread, with every switch that lowerings depend on, whatever the user's settings are."""
    with ExitStack() as stack:
        stack.enter_context(wide_types())
        stack.enter_context(jax.numpy_dtype_promotion("standard"))
        stack.enter_context(jax.numpy_rank_promotion("allow"))
        stack.enter_context(jax.default_matmul_precision("highest"))
        stack.enter_context(jax.debug_nans(False))
        yield
