"""From the calls of one trace to an SSA graph, with what a launch must bind and check."""

from __future__ import annotations

from lazycore.compiler.build.bindings import (
    Binding,
    Built,
    FlagCheck,
    InputBinding,
    InputCheck,
    NumberBinding,
    StartBinding,
)
from lazycore.compiler.build.trace_graph import build_graph

__all__ = [
    "Binding", "Built", "FlagCheck", "InputBinding", "InputCheck", "NumberBinding", "StartBinding", "build_graph",
]  # fmt: skip
