"""Run a reproducer on a backend: ``python -m lazycore_plugin_api.repro FILE [--backend NAME]``.

This needs the plugin and nothing else: neither lazycore nor torch. ``lazycore repro`` does the same, with the whole
grammar of selections and the checks of lazycore's plugin host.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol

import pluggy

from lazycore_plugin_api import hooks
from lazycore_plugin_api.backend import (
    BackendInfo,
    CompileContext,
    CompileFailure,
    Constants,
    Executable,
    HostArray,
    HostSession,
    OpenContext,
    Rejected,
    Session,
    Target,
)
from lazycore_plugin_api.difference import Difference, compare
from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.errors import BackendError, LazycoreError, PluginError, UnknownBackend
from lazycore_plugin_api.hooks import ENTRY_POINT_GROUP, PROJECT
from lazycore_plugin_api.ir import Node, Segment
from lazycore_plugin_api.reproducer import Reproducer, read
from lazycore_plugin_api.specs import TensorSpec
from lazycore_plugin_api.text import to_text

__all__ = ["DIFFERS", "FAILED", "Compiler", "Installed", "describe", "differences", "execute", "main"]

DIFFERS, FAILED = 1, 2
"""Exit codes: the fault is there; nothing can be said."""


class Compiler(Protocol):
    """What is needed of a backend to run a segment."""

    @property
    def session(self) -> Session: ...

    def compile(self, segments: list[Segment]) -> Sequence[Executable | CompileFailure]: ...


def execute(backend: Compiler, segment: Segment, inputs: Sequence[HostArray]) -> list[HostArray]:
    """Compile and run a segment on host arrays, one for each of ``segment.arguments``; its outputs on the host.

    Raises BackendError where it does not compile, PluginError for results of another number, shape or dtype than the
    segment states, and what the executable raises.
    """
    (compiled,) = backend.compile([segment])
    if isinstance(compiled, CompileFailure):
        raise BackendError(f"{segment.name} does not compile: {compiled.reason}") from compiled.error
    session = backend.session
    # Copies: the executable may overwrite what it is allowed to, and the caller compares several runs.
    given = [a.copy() if p in segment.scalars else session.upload(a.copy()) for p, a in enumerate(inputs)]
    results = [buffer.to_host() for buffer in compiled.run(given)]
    got = [TensorSpec(tuple(a.shape), DType.of(a.dtype)) for a in results]
    wanted = [value.spec for value in segment.outputs]
    if got != wanted:
        raise PluginError(f"{segment.name} returned {_specs(got)} where {_specs(wanted)} is due")
    return results


def _specs(specs: Sequence[TensorSpec]) -> str:
    return f"({', '.join(map(str, specs))})"


def differences(reproducer: Reproducer, results: Sequence[HostArray]) -> list[Difference]:
    """What is wrong with a run's results."""
    triples = zip(results, reproducer.expected, reproducer.tolerances, strict=True)
    found = (compare(p, got, right, tolerance) for p, (got, right, tolerance) in enumerate(triples))
    return [difference for difference in found if difference is not None]


def describe(reproducer: Reproducer, found: Sequence[Difference], name: str) -> str:
    """The segment, and a line per output that differs; or one that says that none does."""
    outputs = reproducer.segment.outputs
    lines = [f"  {outputs[d.output]}: {outputs[d.output].spec}: {d}" for d in found]
    verdict = [f"{name} differs:", *lines] if found else [f"{name} computes what is right"]
    return "\n".join([to_text(reproducer.segment), *verdict])


class Installed:
    """An installed backend, found by its entry point and called without lazycore's plugin host."""

    def __init__(self, target: Target) -> None:
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(hooks)
        self._manager.register(_load(target.backend))
        self.info: BackendInfo = self._manager.hook.lazycore_backend_info()
        device = target.device or self.info.devices[0]
        options = {name: option.default for name, option in self.info.options.items()} | dict(target.options)
        self.target = Target(self.info.name, device, options)
        self.session: Session = self._ask("lazycore_open", HostSession(), ctx=OpenContext(self.target))

    def _ask(self, hook: str, default: Any, **arguments: Any) -> Any:
        caller = getattr(self._manager.hook, hook)
        return caller(**arguments) if caller.get_hookimpls() else default

    def rejection(self, node: Node) -> str | None:
        """Why the backend does not take a node, or None."""
        decision = self._manager.hook.lazycore_supports(node=node, target=self.target)
        return decision.reason if isinstance(decision, Rejected) else None

    def compile(self, segments: list[Segment]) -> Sequence[Executable | CompileFailure]:
        """The plugin's passes, its form of the constants, its compile."""
        ctx = CompileContext(self.session, self.target)
        prepared = [self._ask("lazycore_prepare", s, segment=s, ctx=ctx) for s in segments]
        if self.info.constants is Constants.own:
            for segment in prepared:
                arguments = {"segment": segment, "constants": segment.constants, "ctx": ctx}
                segment.constants = self._ask("lazycore_prepare_constants", segment.constants, **arguments)
        results: Sequence[Executable | CompileFailure]
        results = self._manager.hook.lazycore_compile(segments=prepared, ctx=ctx)
        return results


def _load(name: str) -> object:
    found = {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in found:
        raise UnknownBackend(f"no backend named {name!r} is installed; installed: {', '.join(sorted(found)) or 'none'}")
    return found[name].load()


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0: the result is right. 1: it differs. 2: the file or the backend cannot be used."""
    parser = argparse.ArgumentParser(
        "python -m lazycore_plugin_api.repro", description="Run a reproducer on a backend."
    )
    parser.add_argument("file", type=Path, help="what `lazycore verify` wrote")
    parser.add_argument("--backend", metavar="NAME", help="another installed backend than the one that was wrong")
    options = parser.parse_args(arguments)
    try:
        reproducer = read(options.file)
        target = Target(options.backend, "") if options.backend else reproducer.target
        found = differences(reproducer, _results(Installed(target), reproducer))
    except (LazycoreError, OSError) as error:
        print(f"repro: {error}", file=sys.stderr)
        return FAILED
    print(describe(reproducer, found, target.backend))
    return DIFFERS if found else 0


def _results(backend: Installed, reproducer: Reproducer) -> list[HostArray]:
    for node in reproducer.segment.nodes:
        reason = backend.rejection(node)
        if reason is not None:
            raise BackendError(f"{backend.info.name} does not take {node.op}: {reason}")
    return execute(backend, reproducer.segment, reproducer.inputs)


if __name__ == "__main__":
    sys.exit(main())
