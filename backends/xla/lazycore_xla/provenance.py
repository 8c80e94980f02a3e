"""Whether jax compiled a program or took it out of a cache of its own.

XLA cannot serialize a program on the CPU that was itself loaded: it writes bytes from which the functions are missing.
A user's persistent cache of jax (``jax_compilation_cache_dir``) loads behind our back, and only jax's events tell.
"""

from __future__ import annotations

import threading

import jax.monitoring

__all__ = ["hits"]

_HIT = "/jax/compilation_cache/cache_hits"


class _Seen(threading.local):
    count = 0


_seen = _Seen()


def _listen(event: str, **_details: object) -> None:
    if event == _HIT:
        _seen.count += 1


# Once per process: jax has no way to unregister a listener.
jax.monitoring.register_event_listener(_listen)


def hits() -> int:
    """How many programs jax loaded from its cache in this thread so far."""
    return _seen.count
