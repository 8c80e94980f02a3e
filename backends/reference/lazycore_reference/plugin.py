"""The hooks of the reference backend."""

from __future__ import annotations

from collections.abc import Sequence

from lazycore_plugin_api import (
    Artifact,
    BackendInfo,
    Capabilities,
    CompileContext,
    CompileFailure,
    Decision,
    Executable,
    HostSession,
    Node,
    OpenContext,
    Profile,
    Segment,
    Session,
    Target,
    Threads,
    from_json,
    hookimpl,
)

from lazycore_reference import lowerings  # noqa: F401  (fills the table)
from lazycore_reference.dynamic import executable
from lazycore_reference.registry import DTYPES, decide


@hookimpl
def lazycore_backend_info() -> BackendInfo:
    """Name and capabilities: any thread may compile and run, sizes may vary, nothing is asynchronous or donated."""
    able = Capabilities(dynamic_dims=True, compile_threads=Threads.concurrent, run_threads=Threads.concurrent)
    return BackendInfo("reference", "0.1.0", dtypes=DTYPES, capabilities=able)


@hookimpl
def lazycore_open(ctx: OpenContext) -> Session:  # noqa: ARG001
    """Host memory."""
    return HostSession()


@hookimpl
def lazycore_supports(node: Node, target: Target) -> Decision:  # noqa: ARG001
    """A look-up in the lowering table."""
    return decide(node)


@hookimpl
def lazycore_compile(segments: Sequence[Segment], ctx: CompileContext) -> Sequence[Executable | CompileFailure]:  # noqa: ARG001
    """One executable per segment; a node without a lowering fails its own segment only."""
    return [_compile(segment) for segment in segments]


def _compile(segment: Segment) -> Executable | CompileFailure:
    try:
        return executable(segment)
    except KeyError as error:
        return CompileFailure(f"{segment.name}: the reference backend has no lowering of {error}", error)


@hookimpl
def lazycore_load(artifact: Artifact, ctx: CompileContext) -> Executable:  # noqa: ARG001
    """A stored segment, planned again. Raises InvalidGraph for a payload that is none."""
    segment = from_json(artifact.payload.decode())
    if not isinstance(segment, Segment):
        raise TypeError("the artifact holds a graph, not a segment")
    return executable(segment)


@hookimpl
def lazycore_conformance() -> Profile:
    """All dtypes it has."""
    return Profile(dtypes=DTYPES)
