"""Run a script as ``python script.py`` would, from within a process that is already running."""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

__all__ = ["run_script"]

INTERRUPTED = 130
"""What a shell reports for a program that SIGINT ended."""


def run_script(script: str, arguments: Sequence[str]) -> None:
    """Execute the file ``script`` as ``__main__`` with ``sys.argv`` and ``sys.path[0]`` set for it.

    The script's SystemExit passes through. Any other exception is given to ``sys.excepthook`` with a traceback that
    begins in the script, and becomes the exit code that ``python script.py`` has.
    """
    path = os.path.abspath(script)
    sys.argv[:] = [script, *arguments]
    # Under -P (safe path) Python itself puts no directory of the script's there.
    if not sys.flags.safe_path:
        sys.path[0] = os.path.dirname(path)
    try:
        _execute(path)
    except SystemExit:
        raise
    except BaseException as error:
        _report(error, path)
        raise SystemExit(INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1) from None


def _execute(path: str) -> None:
    main = _main_module(path)
    code = compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)
    exec(code, main.__dict__)


def _main_module(path: str) -> ModuleType:
    main = ModuleType("__main__")
    main.__dict__.update(
        __file__=path, __builtins__=builtins, __cached__=None, __package__=None,
        __loader__=SourceFileLoader("__main__", path),
    )  # fmt: skip
    # It stays there after the script's end: pickle and the script's own atexit functions look it up.
    sys.modules["__main__"] = main
    return main


def _report(error: BaseException, path: str) -> None:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != path:
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)
