"""``lazycore.export``: a module captured, compiled, and written to a file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import torch
from lazycore_loader.structure import describe
from lazycore_plugin_api import CompileFailure, Executable, Segment

from lazycore.compiler.failures import BackendWarning
from lazycore.compiler.pipeline import compile_graph
from lazycore.compiler.plan import EagerStep, Plan
from lazycore.config import config
from lazycore.frontend.decompose import decompose
from lazycore.frontend.exporting.capture import Captured, Place, capture
from lazycore.frontend.exporting.writer import Made, write_program
from lazycore.frontend.observer import Telling
from lazycore.plugins.backend import LoadedBackend
from lazycore.plugins.selection import use_backend

__all__ = ["export"]


def export(
    module: torch.nn.Module,
    args: Any,
    path: str | os.PathLike[str],
    *,
    kwargs: Mapping[str, Any] | None = None,
    backend: str | None = None,
) -> None:
    """Write the module, compiled for arguments of these shapes and dtypes, into one file that ``lazycore_loader`` runs
    without PyTorch and without the model's code.

    ``args``: a tensor, or the tuple of positional arguments; tensors may be nested in tuples, lists and dicts, and
    become the program's inputs, while everything else is part of the program. ``backend``: a selection as of
    ``use_backend``, for this call only. The module may be on any device and stays as it is; it is called once, on
    copies, without gradients.

    Raises TypeError for what is no module and for a result that is no nesting of tensors and plain values;
    LazycoreError where the call looks at values, draws random numbers or changes the module's state; OSError where the
    file cannot be written. Ops that no backend takes are a warning: the file then needs PyTorch.
    """
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"lazycore.export takes a torch.nn.Module, not a {type(module).__name__}")
    with nullcontext() if backend is None else use_backend(backend):
        captured = capture(module, args if isinstance(args, tuple) else (args,), kwargs or {})
        structure = _structure(captured.result)
        plan, made = _compile(captured)
        write_program(path, captured, plan, structure, made)


def _structure(result: Any) -> Any:
    try:
        structure = describe(result, lambda item: item.position if isinstance(item, Place) else None)
    except TypeError as error:
        raise TypeError(
            f"the module returns {error}; an exported program returns tensors, numbers, strings and None, in tuples, "
            "lists and dicts with strings for keys"
        ) from None
    return structure


class _Fresh:
    """A backend that compiles even where the cache has the segment: what was loaded need not serialize again."""

    def __init__(self, backend: LoadedBackend) -> None:
        self._backend = backend
        self.made: dict[int, tuple[LoadedBackend, Executable]] = {}
        self._kept: list[Segment] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def restore(self, segments: list[Segment]) -> Sequence[Executable | None]:
        return [None for _ in segments]

    def compile(self, segments: list[Segment]) -> Sequence[Executable | CompileFailure]:
        self._kept += segments  # their ids are keys
        results = self._backend.compile(segments, portable=True)
        for segment, result in zip(segments, results, strict=True):
            if isinstance(result, Executable):
                self.made[id(segment)] = self._backend, result
        return results


def _compile(captured: Captured) -> tuple[Plan, Made]:
    backends = [_Fresh(backend) for backend in captured.key.backends]
    plan = compile_graph(
        captured.built.graph,
        scalars=captured.built.scalars,
        donatable=frozenset(),
        backends=backends,  # type: ignore[arg-type]
        decompose=decompose,
        strict=config.strict,
        observer=Telling(captured.key.backends),
    )
    eager = [step.node for step in plan.steps if isinstance(step, EagerStep)]
    if eager:
        places = ", ".join(dict.fromkeys(f"{node.op} at {node.source}" for node in eager))
        what = f"no backend takes {len(eager)} of the exported program's ops, so that it needs PyTorch: {places}"
        warnings.warn(what, BackendWarning, stacklevel=4)
    return plan, {key: made for backend in backends for key, made in backend.made.items()}
