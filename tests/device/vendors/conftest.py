"""A vendor's backend, installed on the spot: it computes as the reference backend does, and misbehaves on demand."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import lazycore

SOURCE = """
import dataclasses
from lazycore_plugin_api import BackendInfo, Capabilities, CompileFailure, Executable, Rejected, Supported, hookimpl
from lazycore_reference import plugin as sound
from lazycore_reference.plugin import lazycore_open

CONTROL = None


class Wrapped(Executable):
    def __init__(self, inner, segment):
        self.inner = inner
        self.segment = segment
        self.aliases = CONTROL.aliases

    def run(self, inputs):
        return CONTROL.run(self.inner, inputs)


@hookimpl
def lazycore_backend_info():
    capabilities = Capabilities(donation=CONTROL.donation, aliases=bool(CONTROL.aliases))
    return BackendInfo(NAME, "1.0", capabilities=capabilities)


@hookimpl
def lazycore_supports(node, target):
    return CONTROL.supports(node, sound.lazycore_supports(node, target))


@hookimpl
def lazycore_compile(segments, ctx):
    return [Wrapped(e, s) for e, s in zip(CONTROL.compile(sound, segments, ctx), segments)]
"""


@dataclass
class Control:
    """What the vendor's backend does beside computing. ``runs`` counts launches; the functions may be replaced."""

    donation: bool = False
    aliases: dict[int, int] = field(default_factory=dict)
    runs: int = 0
    compiles: int = 0
    on_run: Callable[[Any, Any], Any] | None = None
    on_compile: Callable[[], None] | None = None
    refused: frozenset[str] = frozenset()

    def run(self, inner: Any, inputs: Any) -> Any:
        self.runs += 1
        return inner.run(inputs) if self.on_run is None else self.on_run(inner, inputs)

    def supports(self, node: Any, decision: Any) -> Any:
        from lazycore_plugin_api import Rejected

        return Rejected("op", "refused by the test") if node.op in self.refused else decision

    def compile(self, sound: Any, segments: Any, ctx: Any) -> Any:
        self.compiles += 1
        if self.on_compile is not None:
            self.on_compile()
        return sound.lazycore_compile(segments, ctx)


_numbers = itertools.count()


@pytest.fixture
def control() -> Control:
    return Control()


@pytest.fixture
def vendor(control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The installed backend's name. Select it with ``lazycore.use_backend``."""
    name = f"acme{next(_numbers)}"
    module = f"vendor_{name}"
    info = tmp_path / f"{module}-1.0.dist-info"
    info.mkdir()
    source = SOURCE.replace("CONTROL = None", f"import sys\nCONTROL = sys.modules['control_of_{name}'].control")
    (tmp_path / f"{module}.py").write_text(f"NAME = {name!r}\n" + source)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[lazycore.backends]\n{name} = {module}\n")
    holder = type(sys)(f"control_of_{name}")
    holder.control = control  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, holder.__name__, holder)
    monkeypatch.syspath_prepend(tmp_path)
    return name


@pytest.fixture
def in_use(vendor: str) -> Iterator[str]:
    """The vendor's backend, selected alone."""
    with lazycore.use_backend(vendor):
        yield vendor
