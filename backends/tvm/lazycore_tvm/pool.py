"""The threads that wide loops run on besides the caller's: one pool for all callers of a process.

What they do is in ``pool.ll``, as code that TVM's LLVM compiles; their lives are Python's. There are none before the
first program with wide loops, and a forked process begins anew.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from lazycore_tvm.threads import count, patience
from lazycore_tvm.tvm_runtime import load_library, target, tvm

__all__ = ["POOL", "Pool"]

_LAUNCH = b"__TVMBackendParallelLaunch"
"""By this name a program that is loaded asks for the function that starts its loops."""


class Pool:
    """``functions``: the compiled code; ``threads``: None before they are started."""

    def __init__(self) -> None:
        self._functions: Any = None
        self._each: Any = None
        self._threads: list[Thread] | None = None
        self._starting = Lock()

    @contextmanager
    def takes_loops(self) -> Iterator[None]:
        """Programs that are loaded in the block start their loops here, others' programs as TVM has it. To be entered
        with the compiler's lock held."""
        if count() == 1:
            yield
            return
        if self._functions is None:
            self.load()
        self._functions["install"]()
        try:
            yield
        finally:
            _leave_loops_to_tvm()

    def load(self) -> None:
        """Have the functions."""
        self._functions = _compiled()
        self._each = self._functions["each"]
        self._each.release_gil = True  # the other threads' tasks want it

    def start(self) -> None:
        """Have threads, if there are to be several; until they are ready, loops run on the caller's."""
        if self._threads is None and self._functions is not None:
            with self._starting:
                if self._threads is None:
                    self._threads = [self._thread(n) for n in range(1, count())]

    @property
    def is_ready(self) -> bool:
        """Whether there are several threads."""
        return bool(self._threads)

    def each(self, task: Callable[[int, int], None]) -> None:
        """Call ``task``, which raises nothing, with 0, 1 … and how many there are, each on a thread of its own."""
        if self._functions is None:
            task(0, 1)
        else:
            self._each(task)

    def _thread(self, number: int) -> Thread:
        thread = Thread(target=self._functions["work"], args=(patience(),), name=f"lazycore-tvm-{number}", daemon=True)
        thread.start()
        return thread

    def forget(self) -> None:
        """In a forked process, which has only the thread that forked."""
        if self._functions is not None:
            self._functions["forget"]()
        self._starting, self._threads = Lock(), None

    def stop(self) -> None:
        """At the process's end: nobody may run code that is about to be unloaded, or start threads anew."""
        threads, self._threads = self._threads or (), []
        if threads:
            self._functions["stop"]()
        for thread in threads:
            thread.join()


def _leave_loops_to_tvm() -> None:
    symbols = ctypes.CDLL(None)
    symbols.TVMFFIEnvModRegisterContextSymbol(_LAUNCH, ctypes.cast(symbols.TVMBackendParallelLaunch, ctypes.c_void_p))


def _compiled() -> Any:
    header = tvm.get_global_func("codegen.LLVMModuleCreate")(str(target()), "pool").inspect_source("ll")
    code = files("lazycore_tvm").joinpath("pool.ll").read_text()
    with tempfile.TemporaryDirectory(prefix="lazycore-") as directory:
        path = Path(directory, "pool.ll")
        path.write_text(header + code)
        return load_library(str(path))


POOL = Pool()
os.register_at_fork(after_in_child=POOL.forget)
atexit.register(POOL.stop)
