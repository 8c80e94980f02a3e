"""Stored programs: they run as the compiled ones do, and only where they may."""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import numpy as np
import pytest
from lazycore_plugin_api import (
    Artifact,
    ArtifactMeta,
    BackendError,
    CompileContext,
    Executable,
    HostArray,
    Segment,
    from_text,
)

if TYPE_CHECKING:
    from lowering.backends import Backend

pytest.importorskip("tvm")

from lazycore_tvm import artifact
from lazycore_tvm.artifact import pack, unpack
from lazycore_tvm.tvm_runtime import linker

pytestmark = pytest.mark.skipif(linker() is None, reason="storing a program takes a C compiler, which links it")

# Two functions of NumPy's with a kernel between them, a scalar, and an empty result.
TEXT = """
    segment(%0: f32[2,3], %1: f32[3,2], %2: f32[] scalar, %7: f32[0,3]) {
      %3: f32[2,2] = aten.mm.default(%0, %1)  # train.py:7
      %4: f32[2,2] = aten.add.Scalar(%3, %2, 1)
      %5: f32[2,2] = aten.relu.default(%4)
      %6: f32[2,3] = aten.mm.default(%5, %0)
      %8: f32[0,2] = aten.mm.default(%7, %1)
      return %6, %8, %5
    }
"""
LEFT = np.arange(6, dtype=np.float32).reshape(2, 3) - 3
RIGHT = np.arange(6, dtype=np.float32).reshape(3, 2)
ARRAYS: list[HostArray] = [LEFT, RIGHT, np.asarray(0.5, np.float32), np.empty((0, 3), np.float32)]
RELU = np.maximum(LEFT @ RIGHT + np.float32(0.5), 0)


def _segment(text: str) -> Segment:
    graph = from_text(dedent(text))
    assert isinstance(graph, Segment)
    return graph


def _stored(tvm: Backend, text: str) -> bytes:
    payload = tvm.compile(_segment(text)).serialize()
    assert payload is not None
    return payload


@pytest.fixture(scope="module")
def payload(tvm: Backend) -> bytes:
    return _stored(tvm, TEXT)


def _load(tvm: Backend, payload: bytes) -> Executable:
    meta = ArtifactMeta("tvm", tvm.info.version, tvm.info.api_version, tvm.target, "key", tvm.info.fingerprint)
    context = CompileContext(tvm.session, tvm.target)
    loaded = tvm.hook.lazycore_load(artifact=Artifact(meta, payload), ctx=context)
    assert isinstance(loaded, Executable)
    return loaded


def _run(tvm: Backend, executable: Executable, text: str, *arrays: HostArray) -> list[HostArray]:
    return [b.to_host() for b in executable.run(tvm.bind(_segment(text), list(arrays)))]


LOAD = """
    import sys

    class Blocker:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in ("torch", "lazycore", "jax"):
                raise ImportError(f"{name} is not to be had")

    sys.meta_path.insert(0, Blocker())
    from pathlib import Path
    import numpy as np
    from lazycore_plugin_api import Artifact, ArtifactMeta, CompileContext, OpenContext, Target
    from lazycore_tvm import plugin

    info, target = plugin.lazycore_backend_info(), Target("tvm", "cpu")
    assert "tvm" not in sys.modules, "listing backends must not import TVM"
    meta = ArtifactMeta("tvm", info.version, info.api_version, target, "key", info.fingerprint)
    session = plugin.lazycore_open(OpenContext(target))
    stored = Artifact(meta, Path(sys.argv[1]).read_bytes())
    executable = plugin.lazycore_load(stored, CompileContext(session, target))
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3) - 3, np.arange(6, dtype=np.float32).reshape(3, 2)
    arrays = session.upload(a), session.upload(b), np.asarray(0.5, np.float32), session.upload(a[:0])
    product, empty, relu = (buffer.to_host() for buffer in executable.run(arrays))
    np.testing.assert_allclose(relu, np.maximum(a @ b + 0.5, 0), rtol=1e-6)
    np.testing.assert_allclose(product, relu @ a, rtol=1e-6)
    print(empty.shape, relu.tolist())
"""


def test_another_process_without_torch_runs_it(payload: bytes, tmp_path: Path) -> None:
    stored = tmp_path / "program"
    stored.write_bytes(payload)
    command = [sys.executable, "-c", dedent(LOAD), str(stored)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"(0, 2) {RELU.tolist()}"


def test_programs_call_their_own_functions(tvm: Backend, payload: bytes) -> None:
    """Two programs in one process, each of whose first call is another function; one of them was compiled here."""
    other = "segment(%0: f32[2,2]) {\n  %1: f32[2,2] = aten.cumsum.default(%0, 0, dtype=None)\n  return %1\n}"
    executables = [_load(tvm, payload), _load(tvm, _stored(tvm, other)), tvm.compile(_segment(other))]
    for _ in range(2):
        np.testing.assert_allclose(_run(tvm, executables[0], TEXT, *ARRAYS)[0], RELU @ LEFT, rtol=1e-6)
        for executable in executables[1:]:
            (sums,) = _run(tvm, executable, other, np.ones((2, 2), np.float32))
            assert sums.tolist() == [[1, 1], [2, 2]]


def _loaded_libraries() -> int:
    gc.collect()
    return Path("/proc/self/maps").read_text().count("program.so")


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="the system does not tell what is loaded")
def test_a_program_goes_with_its_executable(tvm: Backend, payload: bytes) -> None:
    before = _loaded_libraries()
    executable = _load(tvm, payload)
    results = executable.run(tvm.bind(_segment(TEXT), ARRAYS))
    assert _loaded_libraries() > before
    del executable
    assert _loaded_libraries() == before
    np.testing.assert_allclose(results[2].to_host(), RELU, rtol=1e-6)


def test_errors_of_stored_programs_name_the_op_and_nobody_elses_line(tvm: Backend) -> None:
    text = """
        segment(%0: f32[3], %1: i64[1], %2: f32[1]) {
          %3: f32[3] = aten.scatter_add.default(%0, 0, %1, %2)  # train.py:12
          return %3
        }
    """
    executable = _load(tvm, _stored(tvm, text))
    with pytest.raises(BackendError, match=r"aten\.scatter_add\.default: (?!.*train\.py)"):
        _run(tvm, executable, text, np.zeros(3, np.float32), np.array([5]), np.ones(1, np.float32))


def test_what_was_loaded_is_not_stored_again(tvm: Backend, payload: bytes) -> None:
    assert _load(tvm, payload).serialize() is None


def test_nothing_is_stored_without_a_compiler(tvm: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    executable = tvm.compile(_segment("segment(%0: f32[2]) {\n  %1: f32[2] = aten.neg.default(%0)\n  return %1\n}"))
    monkeypatch.setenv("CXX", "a-compiler-that-is-not-there")
    assert executable.serialize() is None
    monkeypatch.setenv("CXX", str(shutil.which("false")))
    with pytest.raises(RuntimeError):
        executable.serialize()


def test_another_machine_refuses_it(tvm: Backend, payload: bytes) -> None:
    header, library = unpack(payload)
    for changed in (replace(header, host="a z80"), replace(header, target="z80 code")):
        with pytest.raises(BackendError, match=r"is for .*z80.* and this is tvm .*compiled anew"):
            _load(tvm, pack(changed, library))


def test_no_byte_of_it_can_be_wrong_unnoticed(tvm: Backend, payload: bytes) -> None:
    for position in (*range(0, 500, 7), *range(500, len(payload), 997)):
        damaged = bytearray(payload)
        damaged[position] ^= 0x11
        with pytest.raises(BackendError, match="not a stored program"):
            _load(tvm, bytes(damaged))


@pytest.mark.parametrize("length", [0, 5, 30, 100, -1])
def test_a_part_of_it_is_refused(tvm: Backend, payload: bytes, length: int) -> None:
    with pytest.raises(BackendError, match="not a stored program"):
        _load(tvm, payload[:length])


@pytest.mark.parametrize("library", [b"", b"no library at all", b"\x7fELF" + b"\0" * 100])
def test_what_is_no_library_is_refused(tvm: Backend, payload: bytes, library: bytes) -> None:
    with pytest.raises(BackendError, match="the stored program does not load"):
        _load(tvm, pack(unpack(payload)[0], library))


def test_neither_storing_nor_loading_leaves_files(
    tvm: Backend, payload: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artifact.tempfile, "tempdir", str(tmp_path))
    _stored(tvm, "segment(%0: f32[5]) {\n  %1: f32[5] = aten.neg.default(%0)\n  return %1\n}")
    executable = _load(tvm, payload)
    assert list(tmp_path.iterdir()) == []
    np.testing.assert_allclose(_run(tvm, executable, TEXT, *ARRAYS)[2], RELU, rtol=1e-6)
