"""The autograd engine around the device: one thread, and exceptions that reach the user.

Backward kernels would run in a thread of the engine's own, where the recorder of the user's thread is out of reach;
so passes run in the caller's thread. And a Python exception that unwinds through the engine's device guard would abort
the process: the guard's C++ destructor asks our guard object for its device type while the exception is pending, which
CPython answers with SystemError inside a function that must not throw. So the guard takes the exception away first,
and the wrapper of the engine call raises it again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from weakref import ref

import torch
import torch.autograd.graph
from torch.utils import backend_registration

from lazycore.frontend.local import local

__all__ = ["install"]

_DEVICE_TYPE = torch._C._autograd.DeviceType.PrivateUse1
# Calling a weak reference is the cheapest call that the interpreter checks: it fails with SystemError, whose cause is
# the pending exception, where there is one. Calls of built-in functions may become specialized and go unchecked.
_device_type_ref = ref(_DEVICE_TYPE)
_taken = threading.local()


def _device_type() -> Any:
    """The guard's ``type_``, asked five times in a node's backward. The first statement must be the one that finds a
    pending exception: any other would fail with it."""
    try:
        return _device_type_ref()
    except SystemError as error:
        _taken.__dict__.setdefault("stack", []).append(error.__cause__)
        return _DEVICE_TYPE


def _pop() -> BaseException | None:
    """The first exception taken since the last call; later ones came from unwinding."""
    stack = _taken.__dict__.pop("stack", None)
    return stack[0] if stack else None  # type: ignore[no-any-return]


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
    # Static, so that asking makes no bound method.
    backend_registration._DummyDeviceGuard.type_ = staticmethod(_device_type)
    wrapped = _wrap(torch.autograd.graph._engine_run_backward)
    torch.autograd.graph._engine_run_backward = wrapped
    torch.autograd._engine_run_backward = wrapped
