"""A selected backend as the core sees it: typed calls that cannot be harmed by the plugin behind them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from lazycore_plugin_api import (
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
    HostSession,
    LazycoreError,
    Node,
    OpenContext,
    Pattern,
    Profile,
    Rejected,
    Segment,
    Session,
    Supported,
    Target,
)

from lazycore.plugins.compiling import SegmentCompiler
from lazycore.plugins.constants import ConstantStore
from lazycore.plugins.declared import DeclaredPatterns
from lazycore.plugins.hook_calls import HookCalls
from lazycore.plugins.loading import Plugin
from lazycore.plugins.sessions import LazySession
from lazycore.plugins.stored import LOAD, StoredExecutables, check_artifact, load_artifact
from lazycore.plugins.warning import PluginWarning

__all__ = ["LoadedBackend"]


class LoadedBackend:
    """One plugin with one target. Its methods are the hooks of the contract, absent ones with their documented
    default; they raise PluginError for a wrong result and BackendError for an exception, each naming plugin, hook and
    the user's line. ``supports`` and ``compile`` alone never raise: their results can carry the error."""

    def __init__(self, plugin: Plugin, target: Target) -> None:
        self.name: str = plugin.info.name
        self.info: BackendInfo = plugin.info
        self.target: Target = target
        self._hooks = HookCalls(self.name, plugin.manager)
        self._session = LazySession(self.name, self._open)
        self._constants = ConstantStore(self.info, self._hooks, self._context)
        module = plugin.candidate.entry.module
        self._stored = StoredExecutables(self.info, target, module, self._hooks, self._context)
        self._compiler = SegmentCompiler(
            self.name, self.info, self._hooks, self._context, self._constants, self._stored
        )
        self._patterns = DeclaredPatterns(self.name, self._hooks)

    def __repr__(self) -> str:
        return f"LoadedBackend({self})"

    def __str__(self) -> str:
        changed = {k: v for k, v in self.target.options.items() if v != self.info.options[k].default}
        options = "&".join(f"{k}={v}" for k, v in changed.items())
        return f"{self.name}:{self.target.device}" + (f"?{options}" if options else "")

    @property
    def session(self) -> Session:
        """The opened device; opening it is what the first access does."""
        return self._session.get()

    def _open(self) -> Session:
        if not self._hooks.implements("lazycore_open"):
            return HostSession()
        return self._hooks.one("lazycore_open", Session, ctx=OpenContext(self.target))  # type: ignore[type-abstract]

    def _context(self) -> CompileContext:
        return CompileContext(self.session, self.target)

    def supports(self, node: Node) -> Decision:
        """Whether the backend takes the node. Never raises: a plugin's error is a warning and a ``Rejected``."""
        try:
            return self._decision(node)
        except LazycoreError as error:
            warnings.warn(f"{error}; the op is left to others", PluginWarning, stacklevel=2)
            return Rejected("plugin_error", str(error))

    def _decision(self, node: Node) -> Decision:
        hook = "lazycore_supports"
        decision = self._hooks.call(hook, node, node=node, target=self.target)
        if isinstance(decision, Supported | Rejected):
            return decision
        raise self._hooks.wrong(hook, decision, "Supported or Rejected", node)

    def compile(self, segments: Sequence[Segment], portable: bool = False) -> list[Executable | CompileFailure]:
        """One result per segment, each prepared by the plugin first; ``portable`` ones run where there is no PyTorch.
        Never raises: errors are failures' ``error``."""
        return self._compiler.compile(segments, portable)

    def prepare(self, segment: Segment) -> Segment:
        """The plugin's own passes on a copy of the segment, as ``compile`` runs them."""
        return self._compiler.prepare(segment, self._context())

    def patterns(self) -> Sequence[Pattern]:
        """Groups of ops that the backend takes whole; the plugin is asked once. Raises PluginError for unsound ones."""
        return self._patterns.get()

    def preserve_ops(self) -> list[str]:
        """Composite ops that must not be decomposed before the backend was asked."""
        hook = "lazycore_preserve_ops"
        return self._hooks.optional(hook, [], lambda: self._hooks.many(hook, str, target=self.target))

    def accept_segment(self, segment: Segment, estimate: Estimate) -> bool:
        """The backend's last word on a segment."""
        hook = "lazycore_accept_segment"
        return self._hooks.optional(
            hook, True, lambda: self._hooks.one(hook, bool, segment, segment=segment, estimate=estimate)
        )

    def prepare_constants(self, segment: Segment, constants: Mapping[int, HostArray]) -> Mapping[int, HostArray]:
        """The frozen inputs in the form the executable wants; the same positions as in ``constants``."""
        return self._constants.prepare(segment, constants)

    def restore(self, segments: Sequence[Segment]) -> list[Executable | None]:
        """What an earlier process compiled of the segments, None for each other one. Never raises: what is wrong with
        a stored executable is a warning."""
        return self._compiler.restore(segments)

    def serialize(self, executable: Executable, segment: Segment) -> bytes | None:
        """The segment's executable as bytes for ``load``, None where the plugin cannot write or load any. Raises
        LazycoreError where it fails."""
        return self._stored.serialized(segment, executable)

    def load(self, artifact: Artifact) -> Executable | None:
        """The executable that was serialized, or None where the plugin cannot load any."""
        return load_artifact(self._hooks, artifact, self._context()) if self._hooks.implements(LOAD) else None

    def check_artifact(self, meta: ArtifactMeta) -> Compat:
        """Whether a stored artifact runs here."""
        return check_artifact(self._hooks, self.info, self.target, meta)

    def conformance(self) -> Profile:
        """The backend's claims for the conformance suite."""
        hook = "lazycore_conformance"
        return self._hooks.optional(hook, Profile(), lambda: self._hooks.one(hook, Profile))

    def observe(self, hook: str, **arguments: Any) -> None:
        """Tell the plugin's observer ``hook`` something, if it has one. Raises BackendError."""
        if self._hooks.implements(hook):
            self._hooks.call(hook, **arguments)
