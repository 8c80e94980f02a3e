"""Steps that no backend took: PyTorch computes them, and is imported for nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from lazycore_plugin_api import Graph

from lazycore_loader.errors import ProgramError
from lazycore_loader.manifest import EagerStep
from lazycore_loader.values import Value

__all__ = ["eager_runner"]


def eager_runner(step: EagerStep, graph: Graph) -> Callable[[list[Value | None]], Sequence[Value]]:
    """What runs the step. Raises ProgramError where lazycore, which does it, is not installed."""
    try:
        run: Any = import_module("lazycore.frontend.eager").run_eager
    except ImportError as error:
        raise ProgramError(
            f"no backend took {step.op} at {step.where} when the program was exported, so that PyTorch computes it; "
            f"install lazycore, or export for a backend that takes it ({error})"
        ) from error
    (node,) = graph.nodes

    def launch(slots: list[Value | None]) -> Sequence[Value]:
        values = [slots[slot] for slot in step.inputs]
        assert None not in values
        return [Value(array) for array in run(node, [value.host() for value in values if value is not None])]

    return launch
