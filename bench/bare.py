"""Views on the device by the least that a kernel in Python can do: hand the call on to torch's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import torch

from lazycore.frontend import registration
from lazycore.frontend.storage import META
from lazycore.frontend.views import VIEWS

__all__ = ["bare_views"]

# What the views of `bench.chains` end in.
_OPS = ("as_strided", "view")


@contextmanager
def bare_views() -> Iterator[None]:
    """In the block views are made without the device taking note of them, so that nothing may read through one."""
    for name in _OPS:
        op = getattr(torch.ops.aten, name).default
        registration._replace(name, partial(op._handle.redispatch_boxed, META))
    try:
        yield
    finally:
        for name in _OPS:
            registration._replace(name, VIEWS[name])
