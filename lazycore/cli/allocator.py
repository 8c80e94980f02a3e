"""glibc's allocator, set so that a training program keeps the memory that every step asks for again.

By default glibc maps large blocks anew and unmaps them when they are freed, and each step pays thousands of page faults
for the temporary memory of its compiled program. The setting is the whole process's, and what was freed is not given
back: a launcher may choose that for a program, importing a library may not.
"""

from __future__ import annotations

import ctypes
import sys

__all__ = ["keep_memory", "peak_mib"]

# mallopt's parameters and what they are set to (malloc.h): never map a block by itself, one arena, never trim.
_SETTINGS = {"M_MMAP_MAX": (-4, 0), "M_ARENA_MAX": (-8, 1), "M_TRIM_THRESHOLD": (-1, 2**31 - 1)}


def keep_memory() -> bool:
    """Set it, before the threads of a compiler's runtime exist; False where the C library is another one."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:  # a C library without it, such as musl
        return False
    return all(mallopt(parameter, value) for parameter, value in _SETTINGS.values())


def peak_mib() -> int | None:
    """The most memory that this process has held, in MiB, None where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak >> 20 if sys.platform == "darwin" else peak >> 10)
