"""How a compile says that a backend failed, or that nobody takes an op: texts, and the warning's class."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import islice

from lazycore_plugin_api import BackendError, CompileFailure, Node, Segment, Source

__all__ = ["BackendWarning", "describe", "failed_compile", "unsupported", "warn_apart", "warn_failed", "warn_static"]

SHOWN = 3


class BackendWarning(UserWarning):
    """A backend could not compile what it claimed; another one, or eager execution, takes its place."""


def describe(backend: str, segment: Segment) -> str:
    """A segment in words: ``xla's segment0 (aten.mm.default, aten.relu.default and 7 more ops) from train.py:12``."""
    ops = [node.op for node in segment.nodes]
    rest = f" and {len(ops) - SHOWN} more ops" if len(ops) > SHOWN else ""
    sources = list(islice(segment.sources(), 1))
    where = f" from {sources[0]}" if sources else ""
    return f"{backend}'s {segment.name} ({', '.join(ops[:SHOWN])}{rest}){where}"


def failed_compile(backend: str, segment: Segment, failure: CompileFailure) -> BackendError:
    """The error of a failed compile where failures are errors; its cause is the plugin's own exception."""
    error = BackendError(
        f"cannot compile {describe(backend, segment)}: {failure.reason}. "
        "Select another backend, or leave strict mode to run these ops elsewhere."
    )
    error.__cause__ = failure.error
    return error


def warn_failed(backend: str, segment: Segment, failure: CompileFailure, successors: Sequence[str]) -> None:
    """Warn at the user's line that a compile failed and who runs its ops now."""
    _warn(backend, segment, failure, f"{' and '.join(successors)} will run these ops.")


def warn_apart(backend: str, segment: Segment, failure: CompileFailure) -> None:
    """Warn at the user's line that a compile failed and is tried once more without composites."""
    _warn(backend, segment, failure, "Its composites are taken apart.")


def warn_static(backend: str, segment: Segment, failure: CompileFailure) -> None:
    """Warn at the user's line that a compile for all sizes failed."""
    _warn(backend, segment, failure, "That was for all sizes: it is compiled for each size on its own.")


def _warn(backend: str, segment: Segment, failure: CompileFailure, consequence: str) -> None:
    where = segment.sources()
    file, line = (where[0].file, where[0].line) if where else ("<unknown>", 0)
    text = f"cannot compile {describe(backend, segment)}: {failure.reason}. {consequence}"
    warnings.warn_explicit(text, BackendWarning, file, line)


def unsupported(nodes: Sequence[tuple[Node, Mapping[str, str]]]) -> BackendError:
    """The error for ops that no backend takes where falling back is an error; one line per op."""
    lines = [f"  {node.op} at {_place(node.source)}: {_reasons(reasons)}" for node, reasons in nodes]
    head = f"no selected backend takes {len(nodes)} op(s), and strict mode forbids running them eagerly:"
    return BackendError("\n".join([head, *lines, "Select a backend that takes them, or leave strict mode."]))


def _place(source: Source | None) -> str:
    return str(source) if source else "an unknown line"


def _reasons(reasons: Mapping[str, str]) -> str:
    return "; ".join(f"{backend}: {reason}" for backend, reason in reasons.items()) or "no backend is selected"
