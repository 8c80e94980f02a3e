"""Makes torchvision importable where its C++ operators do not load.

Wheels of torchvision and torch that were built apart (the one with CUDA, the other without) fit in Python but not in
C++: torchvision then fails at its import, because it gives operators Meta kernels that nothing defined. Models do not
call those operators, so that their schemas are enough.
"""

from __future__ import annotations

import importlib
import sys
from functools import cache

import torch

__all__ = ["make_importable"]

_SCHEMAS = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_OPERATORS = ("nms", "qnms")


@cache
def make_importable() -> torch.library.Library | None:
    """Import torchvision if it is there, with schemas of its operators where its own did not load. Returns what holds
    the schemas."""
    try:
        importlib.import_module("torchvision")
    except ModuleNotFoundError:
        return None
    except RuntimeError:
        for name in [n for n in sys.modules if n.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
    else:
        return None
    library = torch.library.Library("torchvision", "DEF")
    for operator in _OPERATORS:
        library.define(operator + _SCHEMAS)
    importlib.import_module("torchvision")
    return library
