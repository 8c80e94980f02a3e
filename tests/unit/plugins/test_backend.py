"""A selected backend: right results pass through, wrong ones are named, absent hooks have their defaults."""

from __future__ import annotations

from typing import Any

import pytest
from lazycore_plugin_api import (
    Artifact,
    ArtifactMeta,
    BackendError,
    Compat,
    CompileFailure,
    DType,
    Estimate,
    Executable,
    HostSession,
    Node,
    PluginError,
    Profile,
    Rejected,
    Segment,
    Source,
    Supported,
    Target,
    TensorSpec,
    Value,
)

from lazycore.plugins import LoadedBackend, PluginWarning
from lazycore.plugins.loading import Plugin, load

SPEC = TensorSpec((4,), DType.float32)
ESTIMATE = Estimate(flops=4, bytes_in=16, bytes_out=16, crossings=1)

COMPILES = """
    from dataclasses import replace
    from lazycore_plugin_api import *

    class Ran(Executable):
        def __init__(self, name):
            self.name = name
        def run(self, inputs):
            return inputs

    @hookimpl
    def lazycore_compile(segments, ctx):
        return [Ran(s.name) for s in segments]
"""


def relu(name: str = "segment") -> Segment:
    x, y = Value(0, SPEC), Value(1, SPEC)
    node = Node("aten.relu.default", (x,), {}, (y,), Source("train.py", 12))
    return Segment((x,), [node], (y,), name=name)


@pytest.fixture
def backend(install: Any) -> Any:
    def make(extra: str = "") -> LoadedBackend:
        plugin = load(install("acme", extra=extra))
        assert isinstance(plugin, Plugin), plugin.reason
        return LoadedBackend(plugin, Target("acme", "cpu", {"level": 2}))

    return make


def test_supports_passes_decisions_through(backend: Any) -> None:
    assert backend().supports(relu().nodes[0]) == Supported()
    assert backend().supports(Node("aten.exp.default", ())) == Rejected("op", "only relu")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("1 // 0", "lazycore_supports raised ZeroDivisionError for aten.relu.default at train.py:12"),
        ("None", "lazycore_supports returned None for aten.relu.default at train.py:12; it must return Supported"),
        ("True", "lazycore_supports returned True of type bool"),
    ],
)
def test_a_supports_that_fails_rejects_and_warns(backend: Any, body: str, message: str) -> None:
    broken = backend(f"@hookimpl\ndef lazycore_supports(node, target): return {body}")
    with pytest.warns(PluginWarning) as warned:
        decision = broken.supports(relu().nodes[0])
    assert decision.code == "plugin_error"
    assert decision.reason.startswith("backend 'acme': " + message)
    assert message in str(warned[0].message)


def test_absent_hooks_have_their_defaults(backend: Any) -> None:
    plain = backend()
    segment = relu()
    assert isinstance(plain.session, HostSession)
    assert list(plain.patterns()) == []
    assert plain.preserve_ops() == []
    assert plain.accept_segment(segment, ESTIMATE) is True
    assert plain.prepare(segment) is segment
    assert plain.prepare_constants(segment, {0: 1}) == {0: 1}
    assert plain.conformance() == Profile()
    assert plain.load(Artifact(meta(plain), b"")) is None
    plain.observe("lazycore_synced", cause="item")


def meta(backend: LoadedBackend, version: str = "3.1") -> ArtifactMeta:
    return ArtifactMeta("acme", version, (1, 0), backend.target, "key")


def test_artifacts_are_optimal_for_the_same_version_only(backend: Any) -> None:
    plain = backend()
    assert plain.check_artifact(meta(plain)) is Compat.optimal
    assert plain.check_artifact(meta(plain, "3.0")) is Compat.recompile


WRONG = {
    "lazycore_open(ctx)": lambda b: b.session,
    "lazycore_patterns()": lambda b: b.patterns(),
    "lazycore_preserve_ops(target)": lambda b: b.preserve_ops(),
    "lazycore_accept_segment(segment)": lambda b: b.accept_segment(relu(), ESTIMATE),
    "lazycore_prepare(segment)": lambda b: b.prepare(relu()),
    "lazycore_prepare_constants(segment)": lambda b: b.prepare_constants(relu(), {}),
    "lazycore_load(artifact)": lambda b: b.load(Artifact(meta(b), b"")),
    "lazycore_check_artifact(meta)": lambda b: b.check_artifact(meta(b)),
    "lazycore_conformance()": lambda b: b.conformance(),
}


@pytest.mark.parametrize("hook", WRONG)
@pytest.mark.parametrize("result", ["None", "'text'", "[1]"])
def test_a_wrong_result_is_a_plugin_error_that_names_the_hook(backend: Any, hook: str, result: str) -> None:
    broken = backend(f"@hookimpl\ndef {hook}: return {result}")
    with pytest.raises(PluginError) as caught:
        WRONG[hook](broken)
    assert "backend 'acme': " + hook.partition("(")[0] + " returned " in str(caught.value)
    assert "it must return" in str(caught.value)


@pytest.mark.parametrize("hook", WRONG)
def test_an_exception_is_a_backend_error_with_its_cause(backend: Any, hook: str) -> None:
    broken = backend(f"@hookimpl\ndef {hook}: raise OSError('disk')")
    with pytest.raises(BackendError, match=r"backend 'acme': lazycore_\w+ raised OSError.*: disk") as caught:
        WRONG[hook](broken)
    assert isinstance(caught.value.__cause__, OSError)


def test_the_target_reaches_the_hooks(backend: Any) -> None:
    echo = backend("@hookimpl\ndef lazycore_preserve_ops(target): return (target.device, str(target.options['level']))")
    assert echo.preserve_ops() == ["cpu", "2"]


def test_compile_gives_one_result_per_segment_in_order(backend: Any) -> None:
    results = backend(COMPILES).compile([relu("a"), relu("b")])
    assert [r.name for r in results] == ["a", "b"]
    assert all(isinstance(r, Executable) for r in results)


def test_compile_of_nothing_asks_nobody(backend: Any) -> None:
    assert backend("@hookimpl\ndef lazycore_compile(segments): raise AssertionError").compile([]) == []


@pytest.mark.parametrize(
    ("body", "reason", "kind"),
    [
        (
            "1 // 0",
            "lazycore_compile raised ZeroDivisionError for a (aten.relu.default … at train.py:12)",
            BackendError,
        ),
        ("None", "lazycore_compile returned None for a (aten.relu.default … at train.py:12)", PluginError),
        ("[CompileFailure('x')]", "it must return 2 results, one per segment", PluginError),
        ("[1, 2]", "lazycore_compile returned 1 of type int for a", PluginError),
    ],
)
def test_compile_never_raises(backend: Any, body: str, reason: str, kind: type[Exception]) -> None:
    results = backend(f"@hookimpl\ndef lazycore_compile(segments): return {body}").compile([relu("a"), relu("b")])
    assert len(results) == 2
    assert all(isinstance(r, CompileFailure) and isinstance(r.error, kind) for r in results)
    assert reason in results[0].reason


def test_a_session_that_does_not_open_fails_the_compile(backend: Any) -> None:
    results = backend("@hookimpl\ndef lazycore_open(ctx): raise OSError('no device')").compile([relu()])
    assert results[0].reason == "backend 'acme': lazycore_open raised OSError: no device"


def test_compile_prepares_a_copy_first(backend: Any) -> None:
    prepares = """
    @hookimpl
    def lazycore_prepare(segment, ctx):
        segment.nodes.append(Node("aten.exp.default", segment.outputs, {}, (Value(2, segment.outputs[0].spec),)))
        return replace(segment, name=segment.name + "!")
    """
    segment = relu("a")
    results = backend(COMPILES + prepares).compile([segment])
    assert [r.name for r in results] == ["a!"]
    assert len(segment.nodes) == 1


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("segment.nodes.clear() or segment", "lazycore_prepare broke bad"),
        ("replace(segment, outputs=segment.outputs * 2)", "lazycore_prepare changed the outputs of bad"),
        ("replace(segment, inputs=(Value(9, segment.inputs[0].spec), *segment.inputs))", "changed the inputs of bad"),
        ("None", "lazycore_prepare returned None for bad"),
    ],
)
def test_a_wrong_prepare_fails_its_own_segment_only(backend: Any, body: str, reason: str) -> None:
    prepares = f"""
    @hookimpl
    def lazycore_prepare(segment, ctx):
        return ({body}) if segment.name == "bad" else segment
    """
    results = backend(COMPILES + prepares).compile([relu("a"), relu("bad"), relu("b")])
    assert [getattr(r, "name", None) for r in results] == ["a", None, "b"]
    assert reason in results[1].reason
    assert isinstance(results[1].error, PluginError)


def test_observers_hear_what_they_asked_for(backend: Any) -> None:
    hears = backend("heard = []\n@hookimpl\ndef lazycore_synced(cause): heard.append(cause); ctx = 1 // len(cause)")
    hears.observe("lazycore_synced", cause="item")
    with pytest.raises(BackendError, match="lazycore_synced raised ZeroDivisionError"):
        hears.observe("lazycore_synced", cause="")
