"""The hooks of the contract (pluggy project ``lazycore``, entry-point group ``lazycore.backends``).

Required: ``lazycore_backend_info``, ``lazycore_supports``, ``lazycore_compile``. All others have a default. Hooks are
called while tracing a program for the first time and while compiling, never in a cached step; one thread at a time,
unless ``Capabilities.compile_threads`` allows more. ``docs/hooks`` has a page on each.
"""
# Hook specifications have no bodies by their nature, so that mypy sees no results.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pluggy

from lazycore_plugin_api.backend import (
    Artifact,
    ArtifactMeta,
    BackendInfo,
    Compat,
    CompileContext,
    CompileFailure,
    Decision,
    Estimate,
    Executable,
    HostArray,
    OpenContext,
    Session,
    Target,
)
from lazycore_plugin_api.ir import Graph, Node, Segment
from lazycore_plugin_api.patterns import Pattern
from lazycore_plugin_api.profile import Profile

__all__ = ["ENTRY_POINT_GROUP", "PROJECT", "REQUIRED", "hookimpl"]

PROJECT = "lazycore"
ENTRY_POINT_GROUP = "lazycore.backends"
REQUIRED = ("lazycore_backend_info", "lazycore_supports", "lazycore_compile")

_hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function of a plugin as the implementation of the hook of its name."""


@_hookspec(firstresult=True)
def lazycore_backend_info() -> BackendInfo:
    """Who the backend is. Called once, when it is loaded. Required."""


@_hookspec(firstresult=True)
def lazycore_open(ctx: OpenContext) -> Session:
    """Open the device. Called once per selected target, before the first compile; default: a ``HostSession``."""


@_hookspec(firstresult=True)
def lazycore_supports(node: Node, target: Target) -> Decision:
    """Whether the backend takes this node: ``Supported()`` or ``Rejected(code, reason)``. Pure and quick. Required."""


@_hookspec(firstresult=True)
def lazycore_compile(segments: Sequence[Segment], ctx: CompileContext) -> Sequence[Executable | CompileFailure]:
    """One result per segment, in order. A raised exception counts as a failure of all of them. Required."""


@_hookspec(firstresult=True)
def lazycore_patterns() -> Sequence[Pattern]:
    """Groups of ops that the backend takes whole. Called once, before the first compile. Default: none."""


@_hookspec(firstresult=True)
def lazycore_preserve_ops(target: Target) -> Sequence[str]:
    """Names of composite ops that must not be decomposed before the backend was asked. Called at each selection of the
    backend. Default: none."""


@_hookspec(firstresult=True)
def lazycore_accept_segment(segment: Segment, estimate: Estimate) -> bool:
    """A last word on a segment, e.g. to refuse one that is too small. Default: True."""


@_hookspec(firstresult=True)
def lazycore_prepare(segment: Segment, ctx: CompileContext) -> Segment:
    """The vendor's own graph passes on a copy of its segment; the result is verified. Default: unchanged."""


@_hookspec(firstresult=True)
def lazycore_prepare_constants(
    segment: Segment, constants: Mapping[int, HostArray], ctx: CompileContext
) -> Mapping[int, HostArray]:
    """Turn frozen inputs (input position -> content) into the form the executable wants, once per content. Called
    where ``BackendInfo.constants`` is ``own``, between ``lazycore_prepare`` and ``lazycore_compile``. Default:
    unchanged."""


@_hookspec(firstresult=True)
def lazycore_load(artifact: Artifact, ctx: CompileContext) -> Executable:
    """The executable that ``Executable.serialize`` wrote, in this process or another. Called for an artifact that
    ``lazycore_check_artifact`` calls optimal; one that raises is dropped and compiled anew. Default: nothing is stored.
    """


@_hookspec(firstresult=True)
def lazycore_check_artifact(meta: ArtifactMeta) -> Compat:
    """Whether a stored artifact runs here. Default: optimal for the same version, fingerprint and target, else
    recompile."""


@_hookspec(firstresult=True)
def lazycore_conformance() -> Profile:
    """The backend's claims for the conformance suite. Default: an empty profile."""


@_hookspec
def lazycore_traced(graph: Graph) -> None:
    """Observer: a trace was seen for the first time. The graph is the one before any rewrite, and a copy."""


@_hookspec
def lazycore_compiled(segment: Segment, backend: str, seconds: float) -> None:
    """Observer: a segment was compiled by ``backend``, which need not be the observer itself."""


@_hookspec
def lazycore_fell_back(node: Node, reasons: Mapping[str, str]) -> None:
    """Observer: no backend took a node; reasons by backend."""


@_hookspec
def lazycore_synced(cause: str) -> None:
    """Observer: a trace ended; ``cause`` names the barrier. Called for uncached traces only."""
