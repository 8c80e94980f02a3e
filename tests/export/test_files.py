"""The file: damaged, of another version, for another backend, with ops that nobody took."""

from __future__ import annotations

import json
import shutil
import sys
import threading
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from exported import Block
from lazycore_loader import Program, ProgramError, load
from lazycore_plugin_api import Compat, LazycoreError
from torch import nn

import lazycore
from lazycore.compiler.failures import BackendWarning
from lazycore.config import config

X = np.linspace(-1, 1, 3, dtype=np.float32)


def edited(path: Path, change: Callable[[Any], object], member: str = "manifest.json") -> Path:
    """A copy of the file in which ``change`` has changed one member's JSON."""
    other = path.with_name("other.lcp")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == member:
                record = json.loads(content)
                change(record)
                content = json.dumps(record).encode()
            new.writestr(name, content)
    return other


@pytest.fixture
def exported(path: Path, linear: nn.Module) -> Path:
    lazycore.export(linear, torch.ones(3), path, backend="reference")
    return path


def right(linear: nn.Module) -> Any:
    return linear(torch.from_numpy(X)).detach().numpy()


def test_a_missing_file_is_just_that(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.lcp")


@pytest.mark.parametrize("content", [b"", b"PK", b"\x80\x04K\x01.", b"x" * 1000])
def test_what_is_no_program_is_told(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(ProgramError, match=r"program\.lcp is no readable exported program"):
        load(path)


def test_every_damaged_byte_is_told_or_harmless(exported: Path, linear: nn.Module) -> None:
    whole = exported.read_bytes()
    refused = 0
    for position in range(0, len(whole), 5):
        exported.write_bytes(whole[:position] + bytes([whole[position] ^ 0x41]) + whole[position + 1 :])
        try:
            np.testing.assert_allclose(load(exported)(X), right(linear), rtol=1e-6)
        except LazycoreError:
            refused += 1
    assert refused > len(whole) / 5 / 2


def test_every_truncation_is_told(exported: Path) -> None:
    whole = exported.read_bytes()
    for length in range(0, len(whole), 37):
        exported.write_bytes(whole[:length])
        with pytest.raises(ProgramError):
            load(exported)


def _slot(record: Any) -> None:
    record["steps"][0]["tensors"][0] = 77


def _output(record: Any) -> None:
    record["outputs"] = []


CHANGES: dict[str, tuple[Callable[[Any], object], str]] = {
    "another format": (lambda r: r.update(format=9), "its format is 9, and this version reads 1"),
    "a missing field": (lambda r: r.pop("steps"), "KeyError: 'steps'"),
    "a step of another kind": (lambda r: r["steps"][0].update(kind="magic"), "unknown kind 'magic'"),
    "a slot that is none": (_slot, "a step reads what comes later"),
    "too few outputs": (_output, "the result has more parts"),
    "a missing graph": (lambda r: r["steps"][0].update(graph="steps/9.json"), "no item named 'steps/9.json'"),
    "another shape": (lambda r: r["weights"][0].update(shape=[7]), "a weight has shape"),
    "a missing weight": (lambda r: r["weights"][0].update(name="none"), "KeyError: 'none'"),
    "an unknown backend": (lambda r: r["steps"][0]["meta"]["target"].update(backend="none"), "'none' is not installed"),
    "an unknown device": (lambda r: r["steps"][0]["meta"]["target"].update(device="npu"), "device 'npu'; it has cpu"),
}  # fmt: skip


@pytest.mark.parametrize("kind", CHANGES)
def test_a_wrong_manifest_is_told(kind: str, exported: Path) -> None:
    change, message = CHANGES[kind]
    with pytest.raises(ProgramError, match=message):
        load(edited(exported, change))


def test_a_wrong_graph_is_told(exported: Path) -> None:
    with pytest.raises(ProgramError, match="is damaged"):
        load(edited(exported, lambda r: r["nodes"].pop(), "steps/0.json"))


@pytest.mark.parametrize(
    "change", [{"backend_version": "0.0.1"}, {"fingerprint": "another machine"}, {"api_version": [1, 0]}]
)
def test_what_was_stored_for_another_version_is_compiled_here(
    change: dict[str, Any], backend: str, path: Path, linear: nn.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lazycore_loader.backends import OpenBackend

    compiled = []
    inner = OpenBackend._compile
    monkeypatch.setattr(OpenBackend, "_compile", lambda self, s: compiled.append(s.name) or inner(self, s))
    lazycore.export(linear, torch.ones(3), path, backend=backend)
    np.testing.assert_allclose(load(path)(X), right(linear), rtol=1e-6)
    assert compiled == []
    other = edited(path, lambda r: r["steps"][0]["meta"].update(change))
    np.testing.assert_allclose(load(other)(X), right(linear), rtol=1e-6)
    assert compiled == ([] if "api_version" in change else ["segment0"])


def test_what_does_not_load_is_compiled_with_a_warning(path: Path, linear: nn.Module) -> None:
    lazycore.export(linear, torch.ones(3), path, backend="xla")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(path.with_name("other.lcp"), "w") as new:
        for name in old.namelist():
            new.writestr(name, b"rubbish" if name.endswith(".bin") else old.read(name))
    with pytest.warns(RuntimeWarning, match="cannot load what was stored: BackendError: .*compiled anew"):
        program = load(path.with_name("other.lcp"))
    np.testing.assert_allclose(program(X), right(linear), rtol=1e-6)


def test_a_backend_may_call_it_unsupported(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lazycore_loader.backends import OpenBackend

    monkeypatch.setattr(OpenBackend, "_compat", lambda _self, _meta: Compat.unsupported)
    with pytest.raises(ProgramError, match=r"'reference' does not run what was stored for reference 0\.1\.0 on cpu"):
        load(exported)


def test_another_backend_compiles_the_graph(path: Path, linear: nn.Module) -> None:
    lazycore.export(linear, torch.ones(3), path, backend="xla")
    np.testing.assert_allclose(load(path, backend="reference")(X), right(linear), rtol=1e-6)
    np.testing.assert_allclose(load(path, backend="tvm")(X), right(linear), rtol=1e-6)
    with pytest.raises(ProgramError, match=r"'none' is not installed; installed are: .*reference"):
        load(path, backend="none")


def test_a_backend_that_lacks_an_op_is_told(path: Path) -> None:
    lazycore.export(Spectrum(), torch.ones(3), path, backend="reference")
    with pytest.raises(ProgramError, match=r"'tvm' does not take aten\._fft_r2c\.default|'tvm' cannot compile"):
        load(path, backend="tvm")


def test_a_warm_cache_does_not_leave_the_executable_out(
    tmp_path: Path, path: Path, linear: nn.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    """XLA cannot serialize what it loaded."""
    monkeypatch.setattr(config, "cache", True)
    monkeypatch.setattr(config, "cache_dir", str(tmp_path / "cache"))
    for _ in range(2):
        lazycore.export(linear, torch.ones(3), path, backend="xla")
        assert "steps/0.bin" in zipfile.ZipFile(path).namelist()
    np.testing.assert_allclose(load(path)(X), right(linear), rtol=1e-6)


def test_the_file_says_nothing_of_the_machine_that_exported(exported: Path) -> None:
    with zipfile.ZipFile(exported) as archive:
        for name in archive.namelist():
            assert str(Path(__file__).parent).encode() not in archive.read(name), name


class Spectrum(nn.Module):
    """An op that only some backends have."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.fft.rfft(x).real


class Unknown(nn.Module):
    """An op that no backend has, between two that they have."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.special.bessel_j0(x.cos() + 1) + torch.ops.lazycore_tests_export.twist(x * 2) * 3


@pytest.fixture(scope="module", autouse=True)
def _twist() -> None:
    @torch.library.custom_op("lazycore_tests_export::twist", mutates_args=(), device_types="cpu")
    def twist(x: torch.Tensor) -> torch.Tensor:
        return x.flip(0) / 2

    @twist.register_fake
    def _(x: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(x)


def test_ops_that_nobody_takes_are_a_warning_and_run_by_pytorch(
    path: Path, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = Unknown()
    with pytest.warns(
        BackendWarning, match=r"needs PyTorch: .*lazycore_tests_export\.twist\.default at .*test_files\.py"
    ):
        lazycore.export(module, torch.ones(3), path, backend=backend)
    np.testing.assert_allclose(load(path)(X), module(torch.from_numpy(X)).numpy(), rtol=1e-5)
    monkeypatch.setitem(sys.modules, "lazycore.frontend.eager", None)
    with pytest.raises(ProgramError, match=r"no backend took \S+ at test_files\.py:\d+ when .*; install lazycore"):
        load(path)


def test_several_backends_share_a_program(path: Path) -> None:
    """Values go from one to the other, and the numbers stay right."""
    module = Unknown()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BackendWarning)
        lazycore.export(module, torch.ones(3), path, backend="tvm,xla,reference")
    np.testing.assert_allclose(load(path)(X), module(torch.from_numpy(X)).numpy(), rtol=1e-5)


def test_threads_may_call_it_at_once(path: Path, backend: str) -> None:
    torch.manual_seed(0)
    module = Block().eval()
    lazycore.export(module, torch.zeros(2, 6, dtype=torch.int64), path, backend=backend)
    program: Program = load(path)
    given = [np.random.default_rng(i).integers(0, 11, (2, 6)) for i in range(4)]
    expected = [program(array) for array in given]
    results: list[Any] = [None] * 4

    def work(i: int) -> None:
        for _ in range(10):
            results[i] = program(given[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for got, right_one in zip(results, expected, strict=True):
        np.testing.assert_array_equal(got, right_one)


def test_a_copy_elsewhere_runs(exported: Path, tmp_path: Path, linear: nn.Module) -> None:
    (tmp_path / "elsewhere").mkdir()
    moved = shutil.move(exported, tmp_path / "elsewhere" / "renamed")
    np.testing.assert_allclose(load(moved)(X), right(linear), rtol=1e-6)
