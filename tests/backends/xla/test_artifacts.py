"""Stored programs: they run as the compiled ones do, and only where they may."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lazycore_plugin_api import Artifact, ArtifactMeta, BackendError, CompileContext, DType, Node, TensorSpec, Value

pytest.importorskip("jax")

from lazycore_xla.artifact import pack, unpack

LOAD = """
import sys
from pathlib import Path
import numpy as np
from lazycore_xla.executable import load_executable
from lazycore_xla.session import JaxSession

session = JaxSession("cpu")
executable = load_executable(Path(sys.argv[1]).read_bytes(), session)
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


LOAD_FACTOR = """
import sys
from pathlib import Path
import numpy as np
from lazycore_xla.executable import load_executable
from lazycore_xla.session import JaxSession

session = JaxSession("cpu")
executable = load_executable(Path(sys.argv[1]).read_bytes(), session)
print(executable.run([session.upload(np.array([[4.0, 2.0], [2.0, 5.0]], np.float32))])[0].to_host().tolist())
"""


def test_a_process_that_compiles_nothing_calls_lapack(xla, segment, tmp_path: Path):
    """jax makes LAPACK ready when it lowers, which a process that only loads never does."""

    def compose(values):
        info = Value(2, TensorSpec((), DType.int32))
        outputs = (Value(1, values[0].spec), info)
        options = {"upper": False, "check_errors": False}
        return [Node("aten.linalg_cholesky_ex.default", tuple(values), options, outputs)], outputs[:1]

    stored = tmp_path / "program"
    stored.write_bytes(xla.compile(segment([np.eye(2, dtype=np.float32)], compose)).serialize())
    command = [sys.executable, "-c", LOAD_FACTOR, str(stored)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[[2.0, 0.0], [1.0, 2.0]]"


def _load(xla, payload: bytes):
    meta = ArtifactMeta("xla", xla.info.version, xla.info.api_version, xla.target, "key")
    context = CompileContext(xla.session, xla.target)
    return xla.hook.lazycore_load(artifact=Artifact(meta, payload), ctx=context)


def _sums(executable, xla) -> list[int]:
    return executable.run([xla.session.upload(np.arange(4)), np.array(5)])[0].to_host().tolist()


def test_the_hook_loads_it(xla, payload: bytes):
    assert _sums(_load(xla, payload), xla) == [5, 6, 7, 8]


def test_what_was_loaded_is_not_stored_again(xla, payload: bytes):
    """XLA would write it without its functions."""
    assert _load(xla, payload).serialize() is None


JAX_CACHE = """
import jax, numpy as np
jax.config.update("jax_compilation_cache_dir", "jax")
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
import lazycore_xla.lowerings
from lazycore_plugin_api import DType, Node, Segment, TensorSpec, Value
from lazycore_xla.executable import compile_segment
from lazycore_xla.session import JaxSession

x, y = (Value(i, TensorSpec((4,), DType.float32)) for i in range(2))
executable = compile_segment(Segment((x,), [Node("aten.cos.default", (x,), {}, (y,))], (y,)), JaxSession("cpu"))
print(executable.serialize() is None)
"""


def test_what_came_out_of_jax_own_cache_is_not_stored(tmp_path: Path):
    command = [sys.executable, "-c", JAX_CACHE]
    runs = [
        subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path, check=True) for _ in "ab"
    ]
    assert [run.stdout.strip() for run in runs] == ["False", "True"]


def test_arguments_that_nothing_reads_are_left_out(xla, segment, node):
    def compose(values):
        total = node("aten.add.Tensor", values[0], values[2], alpha=1, to=3)
        return [total], total.outputs

    arrays = [np.arange(4.0), np.ones((2, 2), np.int8), np.arange(4.0)]
    stored = xla.compile(segment(arrays, compose)).serialize()
    assert unpack(stored)[0].kept == [0, 2]
    results = _load(xla, stored).run([xla.session.upload(a) for a in arrays])
    assert results[0].to_host().tolist() == [0, 2, 4, 6]


def test_another_machine_refuses_it(xla, payload: bytes):
    header, program = unpack(payload)
    with pytest.raises(BackendError, match=r"is for a z80 and this is jax .*compiled anew"):
        _load(xla, pack(replace(header, host="a z80"), program))


def test_no_byte_of_it_can_be_wrong_unnoticed(xla, payload: bytes):
    header_end = len(payload) - len(unpack(payload)[1])
    for position in (*range(0, header_end, 7), *range(header_end, len(payload), 499)):
        damaged = bytearray(payload)
        damaged[position] ^= 0x11
        try:
            assert _sums(_load(xla, bytes(damaged)), xla) == [5, 6, 7, 8], position
        except BackendError as error:
            assert "stored program" in str(error)  # noqa: PT017


@pytest.mark.parametrize("length", [0, 5, 30, 100, -1])
def test_a_part_of_it_is_refused(xla, payload: bytes, length: int):
    with pytest.raises(BackendError, match="not a stored program"):
        _load(xla, payload[:length])


def test_pickles_are_not_read(xla):
    with pytest.raises(BackendError, match="not a stored program"):
        _load(xla, pickle.dumps(("host", (b"", None, None), ())))
