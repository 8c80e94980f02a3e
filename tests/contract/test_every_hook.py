"""Each hook is called where its page says so: a program runs, and the plugin wrote the call down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from lazycore_plugin_api import Artifact, ArtifactMeta, Compat, Executable, Graph, Node, Segment, hooks
from vendorkit.vendor import Vendor

import lazycore

F = torch.nn.functional


def program(launches: int = 1) -> list[torch.Tensor]:
    """A linear layer, a relu and a sine; a few launches of one trace with the same weight and another input."""
    weight = (torch.arange(12.0).reshape(3, 4) - 5).to("lazycore")
    bias = torch.ones(3).to("lazycore")
    return [
        torch.sin(F.relu(F.linear(torch.full((2, 4), float(i)).to("lazycore"), weight, bias))).cpu()
        for i in range(launches)
    ]


def expected(launches: int = 1) -> list[torch.Tensor]:
    weight = torch.arange(12.0).reshape(3, 4) - 5
    inputs = [torch.full((2, 4), float(i)) for i in range(launches)]
    return [torch.sin(F.relu(F.linear(x, weight, torch.ones(3)))) for x in inputs]


def log(hook: str, arguments: str, what: str, result: str) -> str:
    return f"\n@hookimpl\ndef {hook}({arguments}):\n    CALLS.append(({hook!r}, {what}))\n    return {result}\n"


# Hook -> what makes the plugin write it down, and how the calls of one run must look.
CASES: dict[str, tuple[str, Callable[[list[Any]], bool]]] = {
    "lazycore_backend_info": ("", lambda calls: calls == ["acme"]),
    "lazycore_open": (
        log("lazycore_open", "ctx", "ctx.target.device", "HostSession()"),
        lambda calls: calls == ["cpu"],
    ),
    "lazycore_supports": ("", lambda calls: {"aten.addmm.default", "aten.sin.default"} <= set(calls)),
    "lazycore_compile": ("", lambda calls: calls == [1]),
    "lazycore_patterns": (
        log("lazycore_patterns", "", "0", "[Pattern('p', Op('aten.relu.default', (Op('aten.addmm.default'),)))]"),
        lambda calls: calls == [0],
    ),
    "lazycore_preserve_ops": (
        log("lazycore_preserve_ops", "target", "target.backend", "['aten.linear.default']"),
        lambda calls: "acme" in calls,
    ),
    "lazycore_accept_segment": (
        log("lazycore_accept_segment", "segment, estimate", "(len(segment.nodes), estimate)", "True"),
        lambda calls: [n for n, _ in calls] == [3] and calls[0][1].flops > 0 and calls[0][1].crossings == 1,
    ),
    "lazycore_prepare": (
        log("lazycore_prepare", "segment, ctx", "(segment, ctx.target.backend)", "segment"),
        lambda calls: [type(s) for s, _ in calls] == [Segment] and calls[0][1] == "acme",
    ),
    "lazycore_traced": (
        log("lazycore_traced", "graph", "graph", "None"),
        lambda calls: [type(graph) for graph in calls] == [Graph] and calls[0].nodes[-1].op == "aten.sin.default",
    ),
    "lazycore_compiled": (
        log("lazycore_compiled", "segment, backend, seconds", "(len(segment.nodes), backend, seconds)", "None"),
        lambda calls: [call[:2] for call in calls] == [(3, "acme")] and calls[0][2] > 0,
    ),
    "lazycore_fell_back": (
        log("lazycore_fell_back", "node, reasons", "(node, reasons)", "None"),
        lambda calls: [(type(n), n.op, r) for n, r in calls] == [
            (Node, "aten.sin.default", {"acme": "no aten.sin.default"})
        ],
    ),
    "lazycore_synced": (
        log("lazycore_synced", "cause", "cause", "None"),
        lambda calls: len(calls) == 1 and isinstance(calls[0], str) and calls[0] != "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("hook", CASES)
def test_a_program_calls_the_hook_and_a_known_trace_does_not(hook: str, vendor: Callable[..., Vendor]) -> None:
    extra, right = CASES[hook]
    acme = vendor(extra)
    with lazycore.use_backend("acme"):
        torch.testing.assert_close(program(3), expected(3))
    calls = acme.calls(hook)
    assert calls
    assert right(calls), calls
    assert len(acme.calls("run")) == 3


def test_constants_are_prepared_once_for_a_program_that_repeats(vendor: Callable[..., Vendor]) -> None:
    prepares = log("lazycore_prepare_constants", "segment, constants, ctx", "sorted(constants)", "constants")
    acme = vendor("POLICY = Constants.own" + prepares)
    with lazycore.use_backend("acme"):
        torch.testing.assert_close(program(8), expected(8))
    assert acme.calls("lazycore_prepare_constants") == [[1, 2]]


# Hooks that a program without a cache of compiled programs does not call: the wrapper's call for each.
UNCALLED: dict[str, tuple[str, str, str, Callable[[Any, ArtifactMeta], Any], Callable[[Any], bool]]] = {
    "lazycore_load": (
        "artifact, ctx", "artifact.payload", "Program(Segment((), [], ()))",
        lambda backend, meta: backend.load(Artifact(meta, b"x")), lambda result: isinstance(result, Executable),
    ),
    "lazycore_check_artifact": (
        "meta", "meta.graph_key", "Compat.unsupported",
        lambda backend, meta: backend.check_artifact(meta), lambda result: result is Compat.unsupported,
    ),
    "lazycore_conformance": (
        "", "0", "Profile(xfails={'a': 'b'})",
        lambda backend, _: backend.conformance(), lambda result: result.xfails == {"a": "b"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("hook", UNCALLED)
def test_the_wrapper_calls_the_hook_and_a_program_does_not(hook: str, vendor: Callable[..., Vendor]) -> None:
    arguments, what, result, call, right = UNCALLED[hook]
    acme = vendor(log(hook, arguments, what, result))
    with lazycore.use_backend("acme") as (backend,):
        program()
        assert acme.calls(hook) == []
        assert right(call(backend, ArtifactMeta("acme", "3.1", (1, 0), backend.target, "key")))
    assert len(acme.calls(hook)) == 1


def test_no_hook_is_left_out_here() -> None:
    specified = {name for name in vars(hooks) if name.startswith("lazycore_")}
    assert {*CASES, *UNCALLED, "lazycore_prepare_constants"} == specified
