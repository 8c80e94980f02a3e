"""Whatever a plugin does wrong is reported by its name, hook and place, and harms nobody else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from lazycore_plugin_api import BackendError, PluginError
from vendorkit.source import SOURCE
from vendorkit.vendor import Vendor

import lazycore
from lazycore.compiler.failures import BackendWarning
from lazycore.plugins import PluginWarning

HERE = Path(__file__).name


def program() -> torch.Tensor:
    return torch.relu(torch.arange(-2.0, 2.0).to("lazycore")).cpu()


RIGHT = torch.tensor([0.0, 0.0, 0.0, 1.0])

UNUSABLE = {
    "fails to import": ("import no_such_module", "broken: ModuleNotFoundError"),
    "ends the program": ("raise SystemExit(1)", "broken: SystemExit"),
    "another major version": (
        SOURCE.replace('"3.1", const', '"3.1", api_version=(99, 0), const'),
        "incompatible: .*version 99.0",
    ),
    "a misspelt hook": (SOURCE + "\n@hookimpl\ndef lazycore_suports(node): return None", "broken: .*lazycore_suports"),
    "no required hook": (SOURCE + "\ndel lazycore_supports", "broken: .*lazycore_supports not implemented"),
    "a name that is none": (SOURCE.replace("BackendInfo(NAME", "BackendInfo(7"), "broken: .*BackendInfo.name|says 7"),
    "unsound constants": (SOURCE + "\nPOLICY = 'bind'", "broken: BackendInfo.constants is 'bind'"),
}


@pytest.mark.parametrize("fault", UNUSABLE)
def test_an_unusable_plugin_fails_loudly_where_it_is_asked_for_and_nowhere_else(
    fault: str, vendor: Callable[..., Vendor]
) -> None:
    source, message = UNUSABLE[fault]
    vendor(name="bad", source=source)
    acme = vendor()
    with pytest.raises(PluginError, match=f"backend 'bad' .* is {message}") as caught:
        lazycore.use_backend("bad,acme")
    assert "lazycore backends --verbose" in str(caught.value)
    with lazycore.use_backend("acme"):
        torch.testing.assert_close(program(), RIGHT)
    assert acme.calls("run") == [1]


# What goes wrong while compiling -> the warning. The next backend in line does the work.
FAULTS = {
    "supports raises": ("lazycore_supports(node)", "1 // 0", PluginWarning, r"lazycore_supports raised ZeroDivisionE"),
    "supports returns nonsense": ("lazycore_supports(node)", "'yes'", PluginWarning, "must return Supported or"),
    "compile raises": ("lazycore_compile(segments)", "1 // 0", BackendWarning, "lazycore_compile raised ZeroDivisionE"),
    "compile returns too little": ("lazycore_compile(segments)", "[]", BackendWarning, "1 results, one per segment"),
    "compile returns nonsense": ("lazycore_compile(segments)", "[7]", BackendWarning, "an Executable or a CompileFail"),
    "open raises": ("lazycore_open(ctx)", "1 // 0", BackendWarning, "lazycore_open raised ZeroDivisionError"),
    "open returns nonsense": ("lazycore_open(ctx)", "7", BackendWarning, "lazycore_open returned 7"),
    "accept raises": ("lazycore_accept_segment(segment)", "1 // 0", BackendWarning, "lazycore_accept_segment raised"),
    "accept returns nonsense": ("lazycore_accept_segment(segment)", "1", BackendWarning, "it must return bool"),
    "prepare raises": ("lazycore_prepare(segment)", "1 // 0", BackendWarning, "lazycore_prepare raised ZeroDivision"),
    "prepare breaks the graph": (
        "lazycore_prepare(segment)", "segment.nodes.clear() or segment", BackendWarning, "lazycore_prepare broke",
    ),
    "prepare drops an output": (
        "lazycore_prepare(segment)", "Segment(segment.inputs, [], ())", BackendWarning, "lazycore_prepare changed",
    ),
    "prepare donates": (
        "lazycore_prepare(segment)", "setattr(segment, 'donatable', frozenset({0})) or segment", BackendWarning,
        "lazycore_prepare changed the donatable inputs",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_while_compiling_is_named_and_another_backend_does_the_work(
    fault: str, vendor: Callable[..., Vendor]
) -> None:
    hook, body, kind, message = FAULTS[fault]
    vendor(f"\n@hookimpl\ndef {hook}: return {body}", name="bad")
    acme = vendor()
    with lazycore.use_backend("bad,acme"):
        with pytest.warns(kind, match=message) as warned:
            torch.testing.assert_close(program(), RIGHT)
        assert "'bad'" in str(warned[0].message)
        assert HERE in str(warned[0].message) or hook.startswith("lazycore_open")
    assert len(acme.calls("run")) == 1


UNHEARD = {
    "patterns": ("lazycore_patterns()", "1 // 0", BackendWarning, "'bad': lazycore_patterns raised ZeroDivisionError"),
    "two patterns of a name": (
        "lazycore_patterns()", "[Pattern('p', Op('aten.relu.default'))] * 2", BackendWarning,
        "'bad': lazycore_patterns declares p: two patterns have this name",
    ),
    "a pattern of a bad name": (
        "lazycore_patterns()", "[Pattern('p.q', Op('aten.relu.default'))]", BackendWarning, "a name consists of",
    ),
    "a pattern without an op": ("lazycore_patterns()", "[Pattern('p', Any())]", BackendWarning, "a root must be an Op"),
    "a pattern of two islands": (
        "lazycore_patterns()", "[Pattern('p', (Op('a.b.c', (Any('x'),)), Op('d.e.f', (Any('y'),))))]", BackendWarning,
        "root 1 shares no name",
    ),
    "a pattern of nonsense": ("lazycore_patterns()", "[Pattern('p', Op('a.b.c', (7,)))]", BackendWarning, "7 is no"),
    "an observer": ("lazycore_traced(graph)", "1 // 0", PluginWarning, "'bad': lazycore_traced raised ZeroDivisionErr"),
}  # fmt: skip


@pytest.mark.parametrize("fault", UNHEARD)
def test_a_fault_that_no_op_depends_on_is_named_and_its_backend_goes_on(
    fault: str, vendor: Callable[..., Vendor]
) -> None:
    hook, body, kind, message = UNHEARD[fault]
    bad = vendor(f"\n@hookimpl\ndef {hook}: return {body}", name="bad")
    with lazycore.use_backend("bad"), pytest.warns(kind, match=message):
        torch.testing.assert_close(program(), RIGHT)
    assert len(bad.calls("run")) == 1


def test_an_observer_may_do_what_it_likes_to_its_graph(vendor: Callable[..., Vendor]) -> None:
    vendor("\n@hookimpl\ndef lazycore_traced(graph): graph.nodes.clear()")
    with lazycore.use_backend("acme"):
        torch.testing.assert_close(program(), RIGHT)


RUNS = {
    "raises": ("1 // 0", BackendError, "failed: ZeroDivisionError"),
    "returns too much": ("[HostBuffer(np.zeros(4, 'f4'))] * 2", PluginError, "returned 2 outputs where 1 are due"),
    "returns another shape": (
        "[HostBuffer(np.zeros(5, 'f4'))]",
        PluginError,
        r"returned f32\[5\] .* where f32\[4\] is",
    ),
    "returns another dtype": (
        "[HostBuffer(np.zeros(4))]",
        PluginError,
        r"returned f64\[4\] as output 0 where f32\[4\]",
    ),
    "returns an array": ("[np.zeros(4, 'f4')]", PluginError, "returned a ndarray as output 0, which is no Buffer"),
    "returns its input": ("list(inputs)", PluginError, "returned an input"),
}


@pytest.mark.parametrize("fault", RUNS)
def test_a_fault_while_running_is_an_error_that_names_it(fault: str, vendor: Callable[..., Vendor]) -> None:
    body, kind, message = RUNS[fault]
    vendor(f"\nProgram.run = lambda self, inputs: {body}", name="bad")
    with lazycore.use_backend("bad"), pytest.raises(kind, match=message) as caught:
        program()
    assert "bad's segment0 (aten.relu.default)" in str(caught.value)
    assert HERE in str(caught.value)
    with lazycore.use_backend("reference"):
        torch.testing.assert_close(program(), RIGHT)


@pytest.mark.parametrize("body", ["None", "{0: 1}", "{p: 'text' for p in constants}", "1 // 0"])
def test_constants_prepared_wrongly_leave_the_plan_without_them(body: str, vendor: Callable[..., Vendor]) -> None:
    prepares = f"\n@hookimpl\ndef lazycore_prepare_constants(segment, constants): return {body}"
    bad = vendor("POLICY = Constants.own" + prepares, name="bad")
    with lazycore.use_backend("bad,reference"):
        x = torch.arange(4.0).to("lazycore")
        lazycore.sync()
        with pytest.warns(BackendWarning, match="'bad': lazycore_prepare_constants .*its inputs stay unbound"):
            results = [torch.neg(x).cpu() for _ in range(8)]
    for result in results:
        torch.testing.assert_close(result, -torch.arange(4.0))
    assert len(bad.calls("run")) == 8


def test_a_broken_plugin_breaks_neither_torch_nor_lazycore(vendor: Callable[..., Vendor], tmp_path: Path) -> None:
    vendor(name="bad", source="raise SystemExit('no')")
    (path,) = [entry for entry in sys.path if Path(entry).parent == tmp_path]
    code = "import torch, lazycore; print((torch.ones(2, device='lazycore') + 1).cpu().tolist())"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([path, *filter(None, [os.environ.get("PYTHONPATH")])])}
    environment["LAZYCORE_BACKEND"] = "reference"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "[2.0, 2.0]\n"), done.stderr
