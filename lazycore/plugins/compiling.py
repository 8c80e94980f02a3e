"""Have a plugin compile segments: prepared on a copy, verified, and every failure turned into a CompileFailure."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from lazycore_plugin_api import (
    BackendInfo,
    CompileContext,
    CompileFailure,
    Executable,
    Graph,
    InvalidGraph,
    LazycoreError,
    Node,
    PluginError,
    Segment,
    verify,
)
from lazycore_plugin_api.backend import Threads

from lazycore.plugins.constants import ConstantStore
from lazycore.plugins.hook_calls import HookCalls, place
from lazycore.plugins.stored import StoredExecutables

__all__ = ["SegmentCompiler"]

Compiled = Executable | CompileFailure

_KEPT: Mapping[str, Callable[[Segment], object]] = {
    "inputs": lambda segment: [value.spec for value in segment.inputs],
    "outputs": lambda segment: [value.spec for value in segment.outputs],
    "scalars": lambda segment: segment.scalars,
    "donatable inputs": lambda segment: segment.donatable,
    "constants": lambda segment: {position: id(array) for position, array in segment.constants.items()},
}
"""What a plugin's passes must leave as it is, as the core binds a launch by it."""


class SegmentCompiler:
    """``lazycore_prepare``, then the constants, then ``lazycore_compile`` of one backend. ``context`` opens the
    session, so it may raise. An executable is stored under the segment as ``lazycore_compile`` got it, which is all
    that it depends on."""

    def __init__(
        self,
        name: str,
        info: BackendInfo,
        hooks: HookCalls,
        context: Callable[[], CompileContext],
        constants: ConstantStore,
        stored: StoredExecutables,
    ) -> None:
        self._name = name
        self._stored = stored
        # Segments that ``restore`` prepared and did not find, for the compile that follows.
        self._missed: dict[int, tuple[Segment, Segment | CompileFailure]] = {}
        self._constants = constants
        self._hooks = hooks
        self._context = context
        serial = info.capabilities.compile_threads is Threads.serial
        self._turn: AbstractContextManager[object] = threading.RLock() if serial else nullcontext()

    def restore(self, segments: Sequence[Segment]) -> list[Executable | None]:
        """The stored executable of each segment, None where there is none; it is stored if ``compile`` comes next."""
        if not self._stored.used:
            return [None for _ in segments]
        try:
            with self._turn:
                return [self._restore(segment, self._context()) for segment in segments]
        except LazycoreError:
            # The session does not open. The compile that follows says so, for each segment.
            return [None for _ in segments]

    def _restore(self, segment: Segment, ctx: CompileContext) -> Executable | None:
        prepared = self._prepared(segment, ctx)
        found = self._stored.find(prepared) if isinstance(prepared, Segment) else None
        if found is None:
            self._missed[id(segment)] = segment, prepared
        return found

    def compile(self, segments: Sequence[Segment], portable: bool = False) -> list[Compiled]:
        """One result per segment, in order. ``portable``: they will run where there is no PyTorch."""
        try:
            with self._turn:
                return self._compile(segments, replace(self._context(), portable=portable))
        except LazycoreError as error:
            return [CompileFailure(str(error), error) for _ in segments]

    def prepare(self, segment: Segment, ctx: CompileContext) -> Segment:
        """What the plugin's passes make of a copy of the segment. Raises PluginError if that is no valid segment with
        the same inputs and outputs, BackendError if the passes raise."""
        hook = "lazycore_prepare"
        if not self._hooks.implements(hook):
            return segment
        prepared = self._hooks.one(hook, Segment, segment, segment=_copy(segment), ctx=ctx)
        self._check_prepared(segment, prepared)
        return prepared

    def _check_prepared(self, before: Segment, after: Segment) -> None:
        try:
            verify(after)
        except InvalidGraph as error:
            raise PluginError(f"backend {self._name!r}: lazycore_prepare broke {before.name}: {error}") from error
        for what, of in _KEPT.items():
            if of(before) != of(after):
                raise PluginError(
                    f"backend {self._name!r}: lazycore_prepare changed the {what} of {before.name}{place(before)}"
                )

    def _compile(self, segments: Sequence[Segment], ctx: CompileContext) -> list[Compiled]:
        missed = [self._missed.pop(id(segment), None) for segment in segments]
        results = [m[1] if m else self._prepared(s, ctx) for s, m in zip(segments, missed, strict=True)]
        ready = [r for r in results if isinstance(r, Segment)]
        compiled = iter(self._ask(ready, ctx) if ready else ())
        done = [next(compiled) if isinstance(r, Segment) else r for r in results]
        for prepared, result, miss in zip(results, done, missed, strict=True):
            # Only what was looked up: parts of a segment that somebody compiles to find a fault are not wanted again.
            if miss and isinstance(prepared, Segment) and isinstance(result, Executable):
                self._stored.keep(prepared, result)
        return done

    def _prepared(self, segment: Segment, ctx: CompileContext) -> Segment | CompileFailure:
        try:
            prepared = self.prepare(segment, ctx)
            return replace(prepared, constants=self._constants.of(prepared)) if prepared.constants else prepared
        except LazycoreError as error:
            return CompileFailure(str(error), error)

    def _ask(self, segments: list[Segment], ctx: CompileContext) -> list[Compiled]:
        hook = "lazycore_compile"
        results = self._hooks.call(hook, segments[0], segments=segments, ctx=ctx)
        if not isinstance(results, Sequence) or len(results) != len(segments):
            raise self._hooks.wrong(hook, results, f"{len(segments)} results, one per segment", segments[0])
        return [self._result(hook, s, r) for s, r in zip(segments, results, strict=True)]

    def _result(self, hook: str, segment: Segment, result: object) -> Compiled:
        if isinstance(result, Executable | CompileFailure):
            return result
        error = self._hooks.wrong(hook, result, "an Executable or a CompileFailure per segment", segment)
        return CompileFailure(str(error), error)


def _copy(segment: Segment) -> Segment:
    """A copy that a plugin may change at will, composites' bodies included."""
    return replace(segment, nodes=_nodes(segment), constants=dict(segment.constants))


def _nodes(graph: Graph) -> list[Node]:
    return [n if n.body is None else replace(n, body=replace(n.body, nodes=_nodes(n.body))) for n in graph.nodes]
