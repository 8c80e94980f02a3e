"""The line of the user's program that asked for an op. Looked up on a miss only: walking frames is slow."""

from __future__ import annotations

import os
import sys
from collections import OrderedDict
from types import FrameType

import torch
from lazycore_plugin_api import Source

__all__ = ["current_source"]

_OURS = (os.path.dirname(torch.__file__) + os.sep, os.path.dirname(os.path.dirname(__file__)) + os.sep)
# Autograd's sequence number of a forward op -> its line, for the ops of its backward. Bounded: old graphs are freed.
_forward: OrderedDict[int, Source] = OrderedDict()
_KEPT = 65536


def _user_frame(frame: FrameType | None) -> FrameType | None:
    while frame is not None and (frame.f_code.co_filename.startswith(_OURS) or frame.f_code.co_filename[0] == "<"):
        frame = frame.f_back
    return frame


def current_source() -> Source | None:
    """Where the user's program stands; inside ``backward()``, with the forward line that the gradient belongs to."""
    frame = _user_frame(sys._getframe(1))
    if frame is None:
        return None
    source = Source(frame.f_code.co_filename, frame.f_lineno)
    node = torch._C._current_autograd_node()
    if node is not None:
        return Source(source.file, source.line, _forward.get(node._sequence_nr()))
    _remember(source)
    return source


def _remember(source: Source) -> None:
    # Autograd has just numbered the node of the op that is being recorded; the counter stands one further.
    # What is recorded later without a node of its own must not take its place.
    _forward.setdefault(torch._C._autograd._get_sequence_nr() - 1, source)
    if len(_forward) > _KEPT:
        _forward.popitem(last=False)
