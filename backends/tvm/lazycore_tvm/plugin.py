"""The plugin's hooks. TVM takes seconds to import, and is imported with the first hook after the backend's opening."""

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
    Node,
    OpenContext,
    Segment,
    Session,
    Target,
    Threads,
    hookimpl,
)

from lazycore_tvm import __version__
from lazycore_tvm.host import fingerprint
from lazycore_tvm.registry import ANY

__all__ = [
    "lazycore_backend_info", "lazycore_compile", "lazycore_load", "lazycore_open", "lazycore_supports",
]  # fmt: skip


@hookimpl
def lazycore_backend_info() -> BackendInfo:
    """TVM's LLVM on the CPU, sizes that vary among them. Compiles wait for one another; a program may run in several
    threads at once."""
    able = Capabilities(dynamic_dims=True, compile_threads=Threads.concurrent, run_threads=Threads.concurrent)
    return BackendInfo(
        name="tvm", version=__version__, devices=("cpu",), dtypes=ANY, capabilities=able, fingerprint=fingerprint()
    )


@hookimpl
def lazycore_open(ctx: OpenContext) -> Session:  # noqa: ARG001
    """Host memory, and TVM imported."""
    from lazycore_tvm.session import TvmSession

    return TvmSession()


@hookimpl
def lazycore_supports(node: Node, target: Target) -> Decision:  # noqa: ARG001
    """Look the node up in the lowering table."""
    from lazycore_tvm.capability import decide

    return decide(node)


@hookimpl
def lazycore_compile(segments: Sequence[Segment], ctx: CompileContext) -> Sequence[Executable | CompileFailure]:
    """Compile each segment on its own; one that fails does not hold up the others."""
    results: list[Executable | CompileFailure] = []
    for done, segment in enumerate(segments, start=1):
        results.append(_compile(segment))
        if ctx.progress:
            ctx.progress(done, len(segments))
    return results


@hookimpl
def lazycore_load(artifact: Artifact, ctx: CompileContext) -> Executable:  # noqa: ARG001
    """Load what ``Executable.serialize`` wrote for this TVM and this processor."""
    from lazycore_tvm.executable import load_executable

    return load_executable(artifact.payload)


def _compile(segment: Segment) -> Executable | CompileFailure:
    from lazycore_tvm.executable import compile_segment

    try:
        return compile_segment(segment)
    except Exception as error:
        return CompileFailure(f"tvm: {segment.name}: {error}", error)
