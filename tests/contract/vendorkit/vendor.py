"""An installed vendor's backend, and what it wrote down."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from lazycore.plugins.discovery import Candidate, installed

__all__ = ["Vendor", "install"]


@dataclass(frozen=True)
class Vendor:
    """``name`` selects it; ``module`` is the plugin, once it is loaded."""

    name: str
    candidate: Candidate

    @property
    def module(self) -> ModuleType:
        return sys.modules[self.candidate.entry.module]

    @property
    def segments(self) -> list[Any]:
        """The segments it compiled."""
        return list(self.module.SEGMENTS)

    def calls(self, hook: str) -> list[Any]:
        """What it wrote down at each call of a hook."""
        return [item for name, item in self.module.CALLS if name == hook]


def install(directory: Path, module: str, name: str, source: str, extra: str) -> Vendor:
    """Lay the plugin out in ``directory`` as an installer would; the directory must be on ``sys.path``."""
    info = directory / f"{module}-3.1.dist-info"
    info.mkdir(parents=True)
    (directory / f"{module}.py").write_text(f"NAME = {name!r}\n{source}{extra}")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 3.1\n")
    (info / "entry_points.txt").write_text(f"[lazycore.backends]\n{name} = {module}\n")
    return Vendor(name, installed()[name])
