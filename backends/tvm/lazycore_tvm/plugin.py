"""The plugin: found, listed and selectable, without lowerings so far, so that every op is left to others."""

from __future__ import annotations

from collections.abc import Sequence

from lazycore_plugin_api import (
    BackendInfo,
    CompileContext,
    CompileFailure,
    Decision,
    Executable,
    Node,
    Rejected,
    Segment,
    Target,
    hookimpl,
)


@hookimpl
def lazycore_backend_info() -> BackendInfo:
    return BackendInfo(name="tvm", version="0.1.0")


@hookimpl
def lazycore_supports(node: Node, target: Target) -> Decision:  # noqa: ARG001
    return Rejected("op", f"lazycore-tvm has no lowering of {node.op}")


@hookimpl
def lazycore_compile(segments: Sequence[Segment], ctx: CompileContext) -> Sequence[Executable | CompileFailure]:  # noqa: ARG001
    return [CompileFailure(f"{s.name}: lazycore-tvm has no lowerings") for s in segments]
