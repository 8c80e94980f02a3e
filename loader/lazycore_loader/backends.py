"""Opening backends for a program: found by the same entry points as lazycore's, called by the same contract."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import entry_points
from typing import Any

import pluggy
from lazycore_plugin_api import (
    API_VERSION,
    ENTRY_POINT_GROUP,
    PROJECT,
    Artifact,
    ArtifactMeta,
    BackendInfo,
    Compat,
    CompileContext,
    CompileFailure,
    Executable,
    HostSession,
    OpenContext,
    Rejected,
    Segment,
    Session,
    Supported,
    Target,
    Threads,
    hooks,
)

from lazycore_loader.errors import ProgramError

__all__ = ["OpenBackend", "open_backend"]


class OpenBackend:
    """One backend with one target, its session open. An empty device means its first one. ``turn`` is held while one
    of its executables runs."""

    def __init__(self, name: str, target: Target) -> None:
        self.name = name
        self._hook = _load(name)
        self.info: BackendInfo = self._hook.lazycore_backend_info()
        if self.info.api_version[0] != API_VERSION[0]:
            raise ProgramError(f"backend {name!r} is written for version {self.info.api_version} of the plugin API")
        device = target.device or self.info.devices[0]
        if device not in self.info.devices:
            raise ProgramError(f"backend {name!r} has no device {device!r}; it has {', '.join(self.info.devices)}")
        defaults = {option: given.default for option, given in self.info.options.items()}
        self.target = Target(name, device, defaults | dict(target.options))
        opened = self._hook.lazycore_open(ctx=OpenContext(self.target)) if self._has("lazycore_open") else HostSession()
        self.session: Session = opened
        serial = self.info.capabilities.run_threads is Threads.serial
        self.turn: AbstractContextManager[object] = threading.RLock() if serial else nullcontext()

    def executable(self, artifact: Artifact | None, segment: Segment) -> Executable:
        """The stored executable where it runs here, else the segment compiled. Raises ProgramError where neither can
        be had."""
        if artifact is not None and artifact.meta.backend == self.name and self._has("lazycore_load"):
            compat = self._compat(artifact.meta)
            if compat is Compat.unsupported:
                raise ProgramError(f"backend {self.name!r} does not run what was stored for {_whose(artifact.meta)}")
            if compat is Compat.optimal:
                try:
                    return self._checked(self._hook.lazycore_load(artifact=artifact, ctx=self._context()))
                except Exception as error:
                    what = f"backend {self.name!r} cannot load what was stored: {type(error).__name__}: {error}"
                    warnings.warn(f"{what}; it is compiled anew", RuntimeWarning, stacklevel=4)
        return self._compile(segment)

    def _compat(self, meta: ArtifactMeta) -> Compat:
        if self._has("lazycore_check_artifact"):
            answer: Compat = self._hook.lazycore_check_artifact(meta=meta)
            return answer
        mine = (self.name, self.info.version, self.info.fingerprint, self.target)
        same = (meta.backend, meta.backend_version, meta.fingerprint, meta.target) == mine
        return Compat.optimal if same else Compat.recompile

    def _compile(self, segment: Segment) -> Executable:
        for node in segment.nodes:
            decision = self._hook.lazycore_supports(node=node, target=self.target)
            if not isinstance(decision, Supported):
                reason = decision.reason if isinstance(decision, Rejected) else repr(decision)
                raise ProgramError(f"backend {self.name!r} does not take {node.op}: {reason}")
        context = self._context()
        if self._has("lazycore_prepare"):
            segment = self._hook.lazycore_prepare(segment=segment, ctx=context)
        results: Sequence[Executable | CompileFailure] = self._hook.lazycore_compile(segments=[segment], ctx=context)
        if isinstance(results[0], CompileFailure):
            raise ProgramError(f"backend {self.name!r} cannot compile {segment.name}: {results[0].reason}")
        return self._checked(results[0])

    def _checked(self, result: object) -> Executable:
        if not isinstance(result, Executable):
            raise ProgramError(f"backend {self.name!r} gave a {type(result).__name__} where an Executable is due")
        return result

    def _context(self) -> CompileContext:
        return CompileContext(self.session, self.target)

    def _has(self, hook: str) -> bool:
        return bool(getattr(self._hook, hook).get_hookimpls())


def open_backend(target: Target) -> OpenBackend:
    """The backend of a target. Raises ProgramError, naming it, where it is not installed or does not open."""
    try:
        return OpenBackend(target.backend, target)
    except ProgramError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise ProgramError(f"backend {target.backend!r} cannot be used: {what}") from error


def _load(name: str) -> Any:
    found = {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in found:
        listed = ", ".join(sorted(found)) or "none"
        raise ProgramError(f"backend {name!r} is not installed; installed are: {listed}")
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hooks)
    manager.register(found[name].load(), name=name)
    return manager.hook


def _whose(meta: ArtifactMeta) -> str:
    options: Mapping[str, object] = meta.target.options
    suffix = "".join(f", {name}={value}" for name, value in options.items())
    return f"{meta.backend} {meta.backend_version} on {meta.target.device}{suffix}"
