"""Backends that are right but for one fault, and a verifier that watches the device."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

import lazycore
from lazycore.frontend.eager import run_eager
from lazycore.frontend.launch import WATCHERS
from lazycore.frontend.local import leave_root, tree
from lazycore.verify.watch import Verifier

# The reference backend with a fault: FAULT(node_ops, outputs) may change a segment's results, and OPS may replace how a
# single op is computed. Both act on a copy of the segment, so that the fault is the backend's alone.
SOURCE = """
import numpy as np
from lazycore_plugin_api import *
from lazycore_reference import plugin as sound
from lazycore_reference.executable import ReferenceExecutable

def wrong(segment, results):
    return results


class Faulty(Executable):
    def __init__(self, segment):
        self.segment = segment
        self.inner = ReferenceExecutable(segment)

    def run(self, inputs):
        results = [b.to_host() for b in self.inner.run(inputs)]
        return [HostBuffer(np.ascontiguousarray(r).reshape(r.shape)) for r in wrong(self.segment, results)]


@hookimpl
def lazycore_backend_info():
    return BackendInfo(NAME, "1.0")


@hookimpl
def lazycore_supports(node, target):
    return sound.lazycore_supports(node, target)


@hookimpl
def lazycore_compile(segments, ctx):
    return [Faulty(s) for s in segments]
"""

# One op computed by another function, in whatever segment it is.
WRONG_OP = """
import dataclasses
from lazycore_reference.executable import Step

class WrongOp(ReferenceExecutable):
    def __init__(self, segment):
        super().__init__(segment)
        self._steps = [
            dataclasses.replace(s, entry=dataclasses.replace(s.entry, function=FUNCTION)) if s.node.op == OP else s
            for s in self._steps
        ]

@hookimpl
def lazycore_compile(segments, ctx):
    return [WrongOp(s) for s in segments]
"""

_numbers = itertools.count()


def lay_out(directory: Path, module: str, name: str, extra: str) -> None:
    """Install the faulty backend into a directory on ``sys.path``."""
    info = directory / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    (directory / f"{module}.py").write_text(f"NAME = {name!r}\n{SOURCE}{extra}")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[lazycore.backends]\n{name} = {module}\n")


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """``faulty(extra)`` installs the backend with ``extra`` behind its source and returns its name."""

    def make(extra: str) -> str:
        module = f"verify_acme_{next(_numbers)}"
        lay_out(tmp_path / module, module, module, extra)
        monkeypatch.syspath_prepend(tmp_path / module)
        return module

    return make


@pytest.fixture
def verifier() -> Iterator[Verifier]:
    """Watches every plan that the test's program compiles."""
    with lazycore.use_backend("reference"):
        lazycore.sync()
        tree.clear()
        leave_root()
        torch.manual_seed(0)
        watching = Verifier(run_eager)
        WATCHERS.append(watching.watch)
        yield watching
        WATCHERS.remove(watching.watch)
        lazycore.sync()
