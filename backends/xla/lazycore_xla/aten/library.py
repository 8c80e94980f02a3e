"""The handlers in C, compiled and registered with XLA once per process, the first time that they are needed.

They need PyTorch in the process, as they call its functions, and a C compiler. Where one is missing convolutions are
XLA's own.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path
from threading import Lock

import jax

__all__ = ["BACKWARD", "FORWARD", "register", "why_not"]

FORWARD, BACKWARD = "lazycore_convolution", "lazycore_convolution_backward"
"""The handlers' names, in C and in XLA's programs."""

_SOURCE = Path(__file__).with_name("convolution.c")
# In the order of the C side's structure.
_ATEN = (
    "aoti_torch_device_type_cpu", "aoti_torch_dtype_float32", "aoti_torch_create_tensor_from_blob",
    "aoti_torch_delete_tensor_object", "aoti_torch_copy_", "aoti_torch_cpu_convolution",
    "aoti_torch_cpu_convolution_backward", "omp_get_max_threads", "omp_set_num_threads",
)  # fmt: skip
_SECONDS = 60
_TURN = Lock()  # segments are compiled by several threads, and XLA takes each name once


def why_not() -> str | None:
    """Why ATen cannot be called in this process, None where it can; the first time that it could be, it is tried."""
    torch = sys.modules.get("torch")
    if not sys.platform.startswith("linux"):
        return f"PyTorch's library is called on Linux only, and this is {sys.platform}"
    if torch is None or not getattr(torch, "__file__", None):
        return "PyTorch is not imported in this process"
    with _TURN:
        return register(str(Path(torch.__file__).parent / "lib"))


@cache
def register(libraries: str) -> str | None:
    """Compile the handlers and register them with XLA; why they cannot be, None where they are. ``libraries``: the
    directory of PyTorch's."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        return "there is no C compiler (cc, or what CC names)"
    try:
        handlers = _compiled(compiler)
        _give(handlers, ctypes.CDLL(str(Path(libraries, "libtorch_cpu.so"))))
    except (OSError, AttributeError, subprocess.SubprocessError) as error:
        told = getattr(error, "stderr", None) or str(error)
        reason = f"{type(error).__name__}: {told.strip()[:500]}"
        warnings.warn(
            f"xla: convolutions are XLA's own, as ATen's cannot be had: {reason}", RuntimeWarning, stacklevel=2
        )
        return reason
    for name in (FORWARD, BACKWARD):
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(getattr(handlers, name)), platform="cpu")
    return None


def _compiled(compiler: str) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory(prefix="lazycore-xla-") as folder:
        library = Path(folder, "convolution.so")
        command = [compiler, "-O2", "-shared", "-fPIC", "-pthread", f"-I{jax.ffi.include_dir()}", str(_SOURCE)]
        subprocess.run([*command, "-o", str(library)], check=True, capture_output=True, text=True, timeout=_SECONDS)
        # The loaded library stays when its file goes.
        return ctypes.CDLL(str(library))


def _give(handlers: ctypes.CDLL, torch: ctypes.CDLL) -> None:
    addresses = [ctypes.cast(getattr(torch, name), ctypes.c_void_p) for name in _ATEN]
    if handlers.lazycore_use((ctypes.c_void_p * len(addresses))(*addresses), len(addresses)):
        raise OSError("the handlers expect other functions of PyTorch's")
