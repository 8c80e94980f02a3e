"""Errors that are kept, to be raised later and perhaps more than once."""

from __future__ import annotations

from copy import copy

from lazycore_plugin_api import LazycoreError

__all__ = ["frameless"]


def frameless(error: BaseException) -> BaseException:
    """A copy of an error and of what caused it that refers to no frame.

    An error that was raised holds the frames it came through, and so the values of their variables: kept, it would keep
    the program's tensors alive, and what should be undone on the way out of a function would be undone at any time
    (PyTorch's printing switches ``torch.func`` off for as long as its frame exists).
    """
    try:
        kept = copy(error)
    except Exception:  # its class cannot be made from its arguments alone
        kept = LazycoreError(f"{type(error).__name__}: {error}")
    kept.__traceback__ = kept.__context__ = None
    kept.__cause__ = None if error.__cause__ is None else frameless(error.__cause__)
    return kept
