"""Stored programs: they run as the compiled ones do, and only where they may."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from lazycore_plugin_api import Artifact, ArtifactMeta, BackendError, CompileContext, DType, TensorSpec

LOAD = """
import sys
from pathlib import Path
import numpy as np
from lazycore_xla.executable import load_executable
from lazycore_xla.session import JaxSession

executable, session = load_executable(Path(sys.argv[1]).read_bytes()), JaxSession("cpu")
x = session.upload(np.arange(4))
results = executable.run([x, np.array(2**40)])
print(results[0].to_host().tolist(), results[0].spec, x.deleted)
"""


@pytest.fixture
def payload(xla, segment, node) -> bytes:
    """x + s on int64, with x donated and s a scalar."""
    spec = TensorSpec((4,), DType.int64)

    def compose(values):
        total = node("aten.add.Tensor", *values, alpha=1, to=2, spec=spec)
        return [total], total.outputs

    built = segment([np.arange(4), np.array(1)], compose, scalars=[1], donatable=frozenset({0}))
    return xla.compile(built).serialize()


def test_another_process_runs_it(payload: bytes, tmp_path: Path):
    stored = tmp_path / "program"
    stored.write_bytes(payload)
    command = [sys.executable, "-c", LOAD, str(stored)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{[2**40 + i for i in range(4)]} i64[4] True"


def _load(xla, payload: bytes):
    meta = ArtifactMeta("xla", xla.info.version, xla.info.api_version, xla.target, "key")
    context = CompileContext(xla.session, xla.target)
    return xla.hook.lazycore_load(artifact=Artifact(meta, payload), ctx=context)


def test_the_hook_loads_it(xla, payload: bytes):
    inputs = [xla.session.upload(np.arange(4)), np.array(5)]
    assert _load(xla, payload).run(inputs)[0].to_host().tolist() == [5, 6, 7, 8]


def test_another_machine_refuses_it(xla, payload: bytes):
    _, program, extra = pickle.loads(payload)
    with pytest.raises(BackendError, match="compiled anew"):
        _load(xla, pickle.dumps(("another", program, extra)))
