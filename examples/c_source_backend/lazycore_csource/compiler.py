"""The system's C compiler, and the library that it makes."""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from lazycore_plugin_api import BackendError

from lazycore_csource.source import FUNCTION

__all__ = ["compiled"]

# No contraction of a * b + c into one rounding, and nothing that would forget NaN.
FLAGS = ("-std=c11", "-O3", "-fPIC", "-shared", "-ffp-contract=off", "-fno-math-errno")


@cache
def compiled(source: str) -> Any:
    """The function of a translation unit, compiled once per process. ``CC`` names another compiler than ``cc``.

    Raises BackendError with what the compiler said.
    """
    with tempfile.TemporaryDirectory(prefix="lazycore-csource-") as scratch:
        library = Path(scratch) / "segment.so"
        _compile(source, library)
        # The library stays mapped when its file is gone.
        function = getattr(ctypes.CDLL(str(library)), FUNCTION)
    function.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
    function.restype = None
    return function


def _compile(source: str, library: Path) -> None:
    command = [*shlex.split(os.environ.get("CC", "cc")), *FLAGS, "-x", "c", "-", "-o", str(library), "-lm"]
    try:
        done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    except OSError as error:
        raise BackendError(f"csource: cannot run the C compiler {command[0]!r}: {error}") from error
    if done.returncode != 0:
        raise BackendError(f"csource: {command[0]} failed with code {done.returncode}: {done.stderr.strip()[-2000:]}")
