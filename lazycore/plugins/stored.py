"""Executables of one backend that outlive the process: looked up before a compile, written after it.

Whatever is wrong with a stored one, the segment is compiled as if there were none. A file that cannot be used is
deleted with a warning, so that the compile writes a sound one in its place.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

from lazycore_plugin_api import (
    Artifact,
    ArtifactMeta,
    BackendInfo,
    Compat,
    CompileContext,
    Executable,
    LazycoreError,
    PluginError,
    Segment,
    Target,
)

from lazycore.artifacts.entry import pack, unpack
from lazycore.artifacts.keys import segment_key
from lazycore.artifacts.location import store
from lazycore.artifacts.warning import CacheWarning
from lazycore.config import config
from lazycore.plugins.build import build_of
from lazycore.plugins.hook_calls import HookCalls, place

__all__ = ["StoredExecutables", "check_artifact", "load_artifact"]

LOAD, CHECK = "lazycore_load", "lazycore_check_artifact"


def check_artifact(hooks: HookCalls, info: BackendInfo, target: Target, meta: ArtifactMeta) -> Compat:
    """What the plugin says of a stored artifact, or what the contract says where it has no such hook."""
    mine = (info.name, info.version, info.fingerprint, target)
    same = (meta.backend, meta.backend_version, meta.fingerprint, meta.target) == mine
    default = Compat.optimal if same else Compat.recompile
    return hooks.optional(CHECK, default, lambda: hooks.one(CHECK, Compat, meta=meta))


def load_artifact(hooks: HookCalls, artifact: Artifact, ctx: CompileContext) -> Executable:
    """The plugin's executable. Raises PluginError for a wrong result, BackendError where the plugin raises."""
    return hooks.one(LOAD, Executable, artifact=artifact, ctx=ctx)  # type: ignore[type-abstract]


class StoredExecutables:
    """``module``: one of the plugin's modules. ``context`` opens the session, so it may raise."""

    def __init__(
        self, info: BackendInfo, target: Target, module: str, hooks: HookCalls, context: Callable[[], CompileContext]
    ) -> None:
        self._info = info
        self._target = target
        self._hooks = hooks
        self._context = context
        # At once: files that change later are not the ones that were imported.
        self._build = build_of(module) if hooks.implements(LOAD) else ""

    @property
    def used(self) -> bool:
        """Whether programs of this backend are stored at all."""
        return config.cache and self._hooks.implements(LOAD)

    def find(self, segment: Segment) -> Executable | None:
        """What an earlier compile of an equal segment left."""
        key = self._key(segment)
        try:
            data = store().read(key)
        except OSError as error:
            _warn(f"the cache of compiled programs cannot be read: {_why(error)}")
            return None
        return None if data is None else self._load(key, data)

    def keep(self, segment: Segment, executable: Executable) -> None:
        """Store, if the plugin can serialize the executable."""
        try:
            payload = self.serialized(segment, executable)
            if payload is not None:
                key = self._key(segment)
                store().write(key, pack(Artifact(self._meta(key), payload)))
        except OSError as error:
            _warn(
                f"the cache of compiled programs cannot be written: {error}; set LAZYCORE_CACHE_DIR or LAZYCORE_CACHE=0"
            )
        except LazycoreError as error:
            _warn(f"{error}; it is not stored")

    def _load(self, key: str, data: bytes) -> Executable | None:
        try:
            artifact = unpack(data)
            self._check(artifact.meta, key)
            return load_artifact(self._hooks, artifact, self._context())
        except LazycoreError as error:
            _warn(f"the stored program {store().path(key)} is dropped and compiled anew: {error}")
        try:
            store().drop(key)
        except OSError as error:
            _warn(f"it cannot be deleted: {error}")
        return None

    def _check(self, meta: ArtifactMeta, key: str) -> None:
        if meta.graph_key != key:
            raise LazycoreError("it is another program's, under this one's name")
        compat = check_artifact(self._hooks, self._info, self._target, meta)
        if compat is not Compat.optimal:
            raise LazycoreError(f"backend {self._info.name!r} says of it: {compat.value}")

    def serialized(self, segment: Segment, executable: Executable) -> bytes | None:
        """The executable as bytes, None where the plugin cannot write or load any. Raises LazycoreError where it fails,
        PluginError for what is no bytes."""
        if not self._hooks.implements(LOAD):
            return None
        try:
            payload = executable.serialize()
        except Exception as error:
            what = f"serialize raised {type(error).__name__}{place(segment)}: {error}"
            raise LazycoreError(f"backend {self._info.name!r}: {what}") from error
        if payload is not None and not isinstance(payload, bytes):
            what = f"serialize returned a {type(payload).__name__}{place(segment)}; it must return bytes or None"
            raise PluginError(f"backend {self._info.name!r}: {what}")
        return payload

    def _key(self, segment: Segment) -> str:
        return segment_key(segment, self._info, self._target, self._build)

    def _meta(self, key: str) -> ArtifactMeta:
        info = self._info
        return ArtifactMeta(info.name, info.version, info.api_version, self._target, key, info.fingerprint)


def _why(error: OSError) -> str:
    # Without the file's name, so that Python says it once and not for each program.
    return f"{error.strerror or error} ({store().root})"


def _warn(text: str) -> None:
    warnings.warn(text, CacheWarning, stacklevel=3)
