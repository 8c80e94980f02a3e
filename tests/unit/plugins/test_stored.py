"""Executables that outlive the process, of a plugin that stores them: whatever is wrong, the program goes on."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lazycore_plugin_api import (
    Artifact,
    CompileFailure,
    DType,
    Executable,
    Node,
    Segment,
    Source,
    Target,
    TensorSpec,
    Value,
)

from lazycore.artifacts.entry import pack, unpack
from lazycore.artifacts.location import store
from lazycore.artifacts.warning import CacheWarning
from lazycore.config import config
from lazycore.plugins.backend import LoadedBackend
from lazycore.plugins.build import build_of
from lazycore.plugins.loading import Plugin, load

SPEC = TensorSpec((4,), DType.float32)
STORES = """
    from lazycore_plugin_api import Compat, Executable
    ASKED = []

    class Ran(Executable):
        def __init__(self, name):
            self.name = name
        def run(self, inputs):
            return inputs
        def serialize(self):
            return self.name.encode()

    @hookimpl
    def lazycore_compile(segments, ctx):
        ASKED.extend(s.name for s in segments)
        return [CompileFailure("bad") if s.name == "bad" else Ran(s.name) for s in segments]

    @hookimpl
    def lazycore_load(artifact, ctx):
        return Ran(artifact.payload.decode())
"""


def relu(name: str = "first", size: int = 4) -> Segment:
    x, y = (Value(i, TensorSpec((size,), DType.float32)) for i in range(2))
    return Segment((x,), [Node("aten.relu.default", (x,), {}, (y,), Source("a.py", 1))], (y,), name=name)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "cache", True)
    monkeypatch.setattr(config, "cache_dir", str(tmp_path / "cache"))


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture
def backend(install: Any) -> Any:
    def make(extra: str = "", **options: Any) -> LoadedBackend:
        plugin = load(install("acme", extra=STORES + extra))
        assert isinstance(plugin, Plugin), plugin.reason
        return LoadedBackend(plugin, Target("acme", "cpu", options))

    return make


def compiled(backend: LoadedBackend, segment: Segment) -> list[Any]:
    """Looked up in vain, and so compiled and stored, as a program does it."""
    assert backend.restore([segment]) == [None]
    return backend.compile([segment])


def names(results: list[Any]) -> list[Any]:
    return [result.name if isinstance(result, Executable) else None for result in results]


def test_what_was_compiled_is_restored_whatever_it_is_called(backend: Any) -> None:
    one = backend()
    assert names(compiled(one, relu())) == ["first"]
    moved = replace(relu("second"), nodes=[replace(relu().nodes[0], source=Source("b.py", 7))])
    assert names(one.restore([moved, relu(size=5)])) == ["first", None]


def test_what_nobody_looked_up_is_not_stored(backend: Any) -> None:
    """Parts of a segment that are compiled to find a fault would fill the cache."""
    assert names(backend().compile([relu()])) == ["first"]
    assert store().kept() == []


def test_failures_are_not_stored(backend: Any) -> None:
    one = backend()
    assert isinstance(compiled(one, relu("bad"))[0], CompileFailure)
    assert one.restore([relu("bad")]) == [None]
    assert store().kept() == []


def test_another_target_has_other_programs(install: Any) -> None:
    plugin = load(install("acme", extra=STORES))
    assert isinstance(plugin, Plugin)
    one, other = (LoadedBackend(plugin, Target("acme", "cpu", {"level": level})) for level in (1, 2))
    compiled(one, relu())
    assert other.restore([relu()]) == [None]


def test_another_build_has_other_programs(backend: Any) -> None:
    compiled(backend(), relu())
    assert backend("# the same but for this line").restore([relu()]) == [None]


def test_a_plugin_that_cannot_load_stores_nothing(install: Any) -> None:
    plugin = load(install("acme", extra=STORES.partition("    @hookimpl\n    def lazycore_load")[0]))
    assert isinstance(plugin, Plugin)
    assert names(LoadedBackend(plugin, Target("acme", "cpu")).compile([relu()])) == ["first"]
    assert store().kept() == []


def test_nothing_is_read_or_written_where_the_setting_says_so(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    one = backend()
    compiled(one, relu())
    monkeypatch.setattr(config, "cache", False)
    assert one.restore([relu()]) == [None]
    compiled(one, relu(size=5))
    assert len(store().kept()) == 1


def _truncated(data: bytes) -> bytes:
    return data[:-3]


def _flipped(data: bytes) -> bytes:
    return data[:-3] + bytes([data[-3] ^ 1]) + data[-2:]


def _empty(_data: bytes) -> bytes:
    return b""


def _of_another_program(data: bytes) -> bytes:
    artifact = unpack(data)
    return pack(replace(artifact, meta=replace(artifact.meta, graph_key="0" * 64)))


def _of_another_version(data: bytes) -> bytes:
    artifact = unpack(data)
    return pack(replace(artifact, meta=replace(artifact.meta, backend_version="0.9")))


def _not_loadable(data: bytes) -> bytes:
    return pack(Artifact(unpack(data).meta, b"\xff\xff"))


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_truncated, "checksum does not fit"), (_flipped, "checksum does not fit"), (_empty, "does not begin as"),
        (_of_another_program, "another program's"), (_of_another_version, "'acme' says of it: recompile"),
        (_not_loadable, "lazycore_load raised UnicodeDecodeError"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_dropped_and_replaced(backend: Any, spoil: Any, why: str) -> None:
    one = backend()
    compiled(one, relu())
    (kept,) = store().kept()
    kept.path.write_bytes(spoil(kept.path.read_bytes()))
    with pytest.warns(CacheWarning, match=rf"the stored program .*{kept.key}.* is dropped and compiled anew: .*{why}"):
        assert one.restore([relu()]) == [None]
    assert store().kept() == []
    compiled(one, relu())
    assert names(one.restore([relu()])) == ["first"]


@pytest.mark.parametrize("answer", ["Compat.recompile", "Compat.unsupported", "'yes'"])
def test_the_plugin_may_refuse_a_file(backend: Any, answer: str) -> None:
    checks = f"""
    @hookimpl
    def lazycore_check_artifact(meta):
        ASKED.append(meta)
        return {answer}
    """
    one = backend(checks)
    compiled(one, relu())
    with pytest.warns(CacheWarning, match="dropped"):
        assert one.restore([relu()]) == [None]
    assert store().kept() == []


@pytest.mark.parametrize(
    ("result", "why"),
    [("None", None), ("1 / 0", "serialize raised ZeroDivisionError for first"), ("'x'", "serialize returned a str")],
)
def test_an_executable_that_cannot_be_serialized_is_used_all_the_same(backend: Any, result: str, why: Any) -> None:
    one = backend(f"\n    Ran.serialize = lambda self: {result}\n")
    if why is None:
        assert names(compiled(one, relu())) == ["first"]
    else:
        with pytest.warns(CacheWarning, match=why):
            assert names(compiled(one, relu())) == ["first"]
    assert store().kept() == []


def test_a_directory_that_cannot_be_made_is_a_warning(
    backend: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(config, "cache_dir", str(tmp_path / "file" / "cache"))
    one = backend()
    segment = relu()
    with pytest.warns(CacheWarning, match="cannot be read"):
        assert one.restore([segment]) == [None]
    with pytest.warns(CacheWarning, match=r"cannot be written: .*LAZYCORE_CACHE_DIR"):
        assert names(one.compile([segment])) == ["first"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_without_permission_is_a_warning(backend: Any, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir(mode=0o500)
    with pytest.warns(CacheWarning, match="cannot be written"):
        assert names(compiled(backend(), relu())) == ["first"]


PREPARES = """
    import os
    from dataclasses import replace
    from lazycore_plugin_api import Node, Value

    @hookimpl
    def lazycore_prepare(segment, ctx):
        ASKED.append("prepared " + segment.name)
        (x,) = segment.inputs
        added = [Node("aten.neg.default", (x,), {}, (Value(9, x.spec),))] if os.environ.get("ACME_ADDS") else []
        return replace(segment, nodes=[*segment.nodes, *added])
"""


def test_passes_of_the_plugin_run_once_for_a_segment_that_is_not_stored(install: Any) -> None:
    plugin = load(install("acme", extra=STORES + PREPARES))
    assert isinstance(plugin, Plugin)
    one, segment = LoadedBackend(plugin, Target("acme", "cpu")), relu()
    assert one.restore([segment]) == [None]
    one.compile([segment])
    assert sys.modules[plugin.candidate.entry.module].ASKED == ["prepared first", "first"]


def test_another_result_of_the_plugin_s_passes_is_another_program(
    backend: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = backend(PREPARES)
    compiled(one, relu())
    assert names(one.restore([relu()])) == ["first"]
    monkeypatch.setenv("ACME_ADDS", "1")
    assert names(one.restore([relu()])) == [None]


def test_a_build_is_told_by_the_files_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    digests = []
    for name, text in (("built_a", "x = 1"), ("built_b", "x = 1"), ("built_c", "x = 2")):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "__init__.py").write_text("")
        (tmp_path / name / "deep" / "part.py").write_text(text)
        __import__(name)
        digests.append(build_of(f"{name}.plugin"))
    assert digests[0] == digests[1] != digests[2]
