"""The autograd engine around the device: one thread, and exceptions that reach the user.

Backward kernels would run in a thread of the engine's own, where the recorder of the user's thread is out of reach;
so passes run in the caller's thread. And a Python exception that unwinds through the engine's device guard would abort
the process: the guard's C++ destructor asks our guard object for its device type while the exception is pending, which
CPython answers with SystemError inside a function that must not throw. So the guard takes the exception away first,
and the wrapper of the engine call raises it again.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import torch
import torch.autograd.graph
from torch.utils import backend_registration

from lazycore.frontend.local import local

__all__ = ["install"]

_FETCH = ctypes.pythonapi.PyErr_Fetch
_FETCH.restype = None
# No argtypes: converting arguments would run Python code while the exception is set.
_KIND, _VALUE, _TRACE = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
_ARGUMENTS = ctypes.byref(_KIND), ctypes.byref(_VALUE), ctypes.byref(_TRACE)
_DEVICE_TYPE = torch._C._autograd.DeviceType.PrivateUse1
# The three cells above are shared: taking and storing happens under the GIL without a call in between.
_taken = threading.local()


def _device_type(_guard: Any) -> Any:
    """The guard's ``type_``. Its first statement must take a pending exception: any other call would fail with it."""
    _FETCH(*_ARGUMENTS)
    if _KIND.value:
        stack = _taken.__dict__.setdefault("stack", [])
        stack.append((_KIND.value, _VALUE.value, _TRACE.value))
    return _DEVICE_TYPE


def _pop() -> BaseException | None:
    """The first exception taken since the last call, with its traceback; later ones came from unwinding."""
    stack = _taken.__dict__.pop("stack", None)
    if not stack:
        return None
    kind, value, trace = (None if p is None else ctypes.cast(p, ctypes.py_object).value for p in stack[0])
    if not isinstance(value, BaseException):
        value = kind() if value is None else kind(*(value if isinstance(value, tuple) else (value,)))
    return value if trace is None else value.with_traceback(trace)  # type: ignore[no-any-return]


def _wrap(run: Callable[..., Any]) -> Callable[..., Any]:
    def run_backward(*args: Any, **kwargs: Any) -> Any:
        recorder = local.recorder
        threaded = torch.autograd.is_multithreading_enabled()
        # The switch is the calling thread's, so it is set for each pass and not once.
        torch._C._set_multithreading_enabled(False)
        recorder.backward += 1
        try:
            return run(*args, **kwargs)
        except SystemError:
            original = _pop()
            if original is None:
                raise
        finally:
            recorder.backward -= 1
            _pop()
            torch._C._set_multithreading_enabled(threaded)
        # Outside the handler, so that the exception keeps its own cause and context.
        raise original

    return run_backward


def install() -> None:
    """Patch the guard and every module's name of the engine call."""
    backend_registration._DummyDeviceGuard.type_ = _device_type
    wrapped = _wrap(torch.autograd.graph._engine_run_backward)
    torch.autograd.graph._engine_run_backward = wrapped
    torch.autograd._engine_run_backward = wrapped
