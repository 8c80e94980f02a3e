"""The hooks."""

from __future__ import annotations

from collections.abc import Sequence

from lazycore_plugin_api import (
    Artifact,
    BackendError,
    BackendInfo,
    CompileFailure,
    Decision,
    DType,
    Executable,
    Node,
    Rejected,
    Segment,
    Supported,
    hookimpl,
)

from lazycore_csource import __version__
from lazycore_csource.operators import EXPRESSIONS
from lazycore_csource.program import Program


@hookimpl
def lazycore_backend_info() -> BackendInfo:
    """float32 and nothing else: the core rejects the rest without asking."""
    return BackendInfo("csource", __version__, dtypes=frozenset({DType.float32}))


@hookimpl
def lazycore_supports(node: Node) -> Decision:
    """A look-up."""
    return Supported() if node.op in EXPRESSIONS else Rejected("op", f"csource has no expression for {node.op}")


@hookimpl
def lazycore_compile(segments: Sequence[Segment]) -> Sequence[Executable | CompileFailure]:
    """Each segment is a library of its own."""
    return [_compile(segment) for segment in segments]


def _compile(segment: Segment) -> Executable | CompileFailure:
    try:
        return Program.of(segment)
    except BackendError as error:
        return CompileFailure(str(error), error)


@hookimpl
def lazycore_load(artifact: Artifact) -> Executable:
    """Compiled again from the stored source."""
    return Program.load(artifact.payload)
