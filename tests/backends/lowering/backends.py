"""A backend as the tests use it: loaded from its module path, called through pluggy like the core does."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import pluggy
from lazycore_plugin_api import (
    PROJECT,
    BackendInfo,
    Buffer,
    CompileContext,
    CompileFailure,
    Decision,
    Executable,
    HostArray,
    HostSession,
    Node,
    OpenContext,
    Segment,
    Session,
    Target,
    hooks,
)


@dataclass
class Backend:
    """An opened backend."""

    info: BackendInfo
    target: Target
    session: Session
    hook: Any

    def supports(self, node: Node) -> Decision:
        """The backend's decision on one node."""
        decision: Decision = self.hook.lazycore_supports(node=node, target=self.target)
        return decision

    def compile(self, segment: Segment) -> Executable:
        """The segment's executable. Raises AssertionError where the backend reports a failure."""
        context = CompileContext(self.session, self.target)
        (result,) = self.hook.lazycore_compile(segments=[segment], ctx=context)
        if isinstance(result, CompileFailure):
            raise AssertionError(f"{self.info.name}: {result.reason}\n{segment}") from result.error
        assert isinstance(result, Executable), f"{self.info.name} returned {result!r}"
        return result

    def bind(self, segment: Segment, arrays: list[HostArray]) -> list[Buffer | HostArray]:
        """Run-time inputs: scalars stay host arrays, everything else is uploaded."""
        return [a if i in segment.scalars else self.session.upload(a) for i, a in enumerate(arrays)]


def open_backend(name: str) -> Backend:
    """Load ``lazycore_<name>.plugin``, check its hooks' names, open its first device with default options."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hooks)
    manager.register(importlib.import_module(f"lazycore_{name}.plugin"), name)
    manager.check_pending()
    info: BackendInfo = manager.hook.lazycore_backend_info()
    assert info.name == name
    target = Target(name, info.devices[0], {key: option.default for key, option in info.options.items()})
    session = manager.hook.lazycore_open(ctx=OpenContext(target)) or HostSession()
    return Backend(info, target, session, manager.hook)
