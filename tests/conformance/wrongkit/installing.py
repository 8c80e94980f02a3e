"""Lay a backend out as an installer would."""

from __future__ import annotations

from pathlib import Path

from wrongkit.source import FAULTS, RIGHT

__all__ = ["install"]


def install(directory: Path, name: str, fault: str = "", extra: str = "") -> None:
    """Write the backend ``name`` with a fault into ``directory``, which must be on ``sys.path``."""
    module = f"conformance_{name}"
    info = directory / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    source = f"NAME = {name!r}\n{RIGHT}{FAULTS[fault] if fault else ''}{extra}"
    (directory / f"{module}.py").write_text(source)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[lazycore.backends]\n{name} = {module}\n")
