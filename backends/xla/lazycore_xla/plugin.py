"""The plugin's hooks. jax is imported with this module, hence only when the backend is selected."""

from __future__ import annotations

from collections.abc import Sequence

from lazycore_plugin_api import (
    Artifact,
    BackendError,
    BackendInfo,
    Capabilities,
    CompileContext,
    CompileFailure,
    Decision,
    Executable,
    Node,
    OpenContext,
    Profile,
    Segment,
    Session,
    Target,
    Threads,
    hookimpl,
)

from lazycore_xla import __version__
from lazycore_xla.aten.choice import CONVOLUTIONS, OPTION, calls_for, check
from lazycore_xla.capability import decide
from lazycore_xla.devices import devices, platform_of
from lazycore_xla.executable import compile_segment, load_executable
from lazycore_xla.host import fingerprint
from lazycore_xla.session import JaxSession

__all__ = [
    "lazycore_backend_info", "lazycore_compile", "lazycore_conformance", "lazycore_load", "lazycore_open",
    "lazycore_supports",
]  # fmt: skip

_CAPABILITIES = Capabilities(
    asynchronous=True, donation=True, compile_threads=Threads.concurrent, run_threads=Threads.concurrent
)


@hookimpl
def lazycore_backend_info() -> BackendInfo:
    """XLA on whatever devices jax finds; the first one is jax's own default. Starts jax's clients."""
    names = tuple(devices())
    return BackendInfo(
        name="xla",
        version=__version__,
        devices=names,
        options={CONVOLUTIONS: OPTION},
        capabilities=_CAPABILITIES,
        fingerprint=fingerprint(),
    )


@hookimpl
def lazycore_open(ctx: OpenContext) -> Session:
    """Open jax's device of the target's name. Raises BackendError for a value that an option does not have."""
    check(ctx.target)
    return JaxSession(ctx.target.device)


@hookimpl
def lazycore_supports(node: Node, target: Target) -> Decision:
    """Look the node up in the lowering table."""
    return decide(node, platform_of(target.device))


@hookimpl
def lazycore_compile(segments: Sequence[Segment], ctx: CompileContext) -> Sequence[Executable | CompileFailure]:
    """Compile each segment on its own; one that fails does not hold up the others."""
    results: list[Executable | CompileFailure] = []
    for done, segment in enumerate(segments, start=1):
        results.append(_compile(segment, ctx))
        if ctx.progress:
            ctx.progress(done, len(segments))
    return results


@hookimpl
def lazycore_load(artifact: Artifact, ctx: CompileContext) -> Executable:
    """Load a stored program. Raises BackendError for one that is damaged, or of another jax version or machine."""
    return load_executable(artifact.payload, _own(ctx))


@hookimpl
def lazycore_conformance() -> Profile:
    """What is known to differ from PyTorch on the CPU."""
    return Profile(
        xfails={
            "semantics/subnormal-values": "XLA runs its code with subnormal numbers flushed to zero",
            "semantics/signed-zeros": "XLA's simplifier takes x + 0.0 for x, which keeps the sign of -0.0",
        }
    )


def _compile(segment: Segment, ctx: CompileContext) -> Executable | CompileFailure:
    try:
        return compile_segment(segment, _own(ctx), calls_for(segment, ctx))
    except Exception as error:
        return CompileFailure(f"xla: {segment.name}: {error}", error)


def _own(ctx: CompileContext) -> JaxSession:
    if not isinstance(ctx.session, JaxSession):
        raise BackendError(f"the session is a {type(ctx.session).__name__}, not xla's own")
    return ctx.session
