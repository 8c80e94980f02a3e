"""Sees when a backend has its work done by somebody else while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from lazycore_plugin_api import Buffer, Executable, HostArray
from torch.utils._python_dispatch import TorchDispatchMode

__all__ = ["Borrowed", "watched"]


class Borrowed:
    """What ran elsewhere while the backend under test was to run: names of ops, or of another backend."""

    def __init__(self) -> None:
        self.names: list[str] = []


class _Listener(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self, found: Borrowed) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._found = found

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._found.names.append(f"PyTorch's {func}")
        return func(*args, **(kwargs or {}))


@contextmanager
def watched(others: Sequence[type[Executable]] = ()) -> Iterator[Borrowed]:
    """In the body every operator that PyTorch runs in this thread, and every run of an executable of ``others``, is
    written down."""
    found = Borrowed()
    originals: list[tuple[Any, Any]] = [(kind, kind.run) for kind in others]
    for kind, run in originals:
        kind.run = _told(kind, run, found)
    try:
        with _Listener(found), torch.no_grad():
            yield found
    finally:
        for kind, run in originals:
            kind.run = run


def _told(kind: type, run: Callable[..., Sequence[Buffer]], found: Borrowed) -> Callable[..., Sequence[Buffer]]:
    def told(self: Any, inputs: Sequence[Buffer | HostArray]) -> Sequence[Buffer]:
        found.names.append(f"{kind.__module__}.{kind.__qualname__}.run")
        return run(self, inputs)

    return told
