"""Each wrong backend is caught by the case that should catch it, at its level, and a right one passes."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint

import pytest
from lazycore_plugin_api import LazycoreError
from wrongkit.source import FAULTS

from lazycore.conformance.case import Status
from lazycore.conformance.graph import oracle
from lazycore.conformance.running import Request, run_suite
from lazycore.plugins.discovery import Candidate

# Fault -> (level, the case that catches it, what it says).
CAUGHT = {
    "some ulps": (1, "graph/aten.exp.default/float32", "elements differ"),
    "half precision": (1, "graph/aten.mm.default/float32", "elements differ"),
    "another axis": (1, "graph/aten.sum.dim_IntList/float32", "due is"),
    "drops NaN": (3, "odd/aten.maximum.default/float32", "nan is right"),
    "no alpha": (1, "graph/aten.add.Tensor/float32", "elements differ"),
    "returns its input": (1, "graph/aten.alias.default/float32", "shares memory with, input 0"),
    "writes its input": (1, "graph/aten.neg.default/float32", "input 0 was written"),
    "one result twice": (0, "contract/outputs-apart", "outputs 0 and 1 share memory"),
    "wrong dtype": (0, "contract/compile-in-order", "due is"),
    "claims without compiling": (1, "graph/aten.mul.Tensor/float32", "claimed, and not compiled: later"),
    "runs in PyTorch": (1, "graph/aten.mul.Tensor/float32", "claimed, and ran elsewhere: PyTorch's aten"),
    "runs on the reference": (1, "graph/aten.mul.Tensor/float32", "ran elsewhere: lazycore_reference"),
    "hangs": (1, "graph/aten.neg.default/float32", "timeout: no result in 5 s"),
    "crashes": (1, "graph/aten.neg.default/float32", "crash: SIGSEGV"),
    "exits": (1, "graph/aten.neg.default/float32", "SystemExit"),
    "bakes a number in": (0, "contract/scalars", "baked into the program"),
    "claims the unknown": (0, "contract/unknown-operator", "nobody.has_this.default"),
    "supports raises": (0, "contract/decisions", "lazycore_supports raised KeyError"),
    "changes its mind": (0, "contract/decisions", "answers differently"),
    "wrong order": (0, "contract/compile-in-order", ""),
    "loads garbage": (0, "contract/serialize", "lazycore_load returned None"),
    "another version's artifacts": (0, "contract/other-version", "another version"),
    "not of many threads": (0, "contract/run-threads", "in one of 4 threads"),
}


@pytest.mark.parametrize("fault", [f for f in FAULTS if f in CAUGHT])
def test_fault_is_caught(backend: Callable[..., str], fault: str) -> None:
    level, name, message = CAUGHT[fault]
    report = run_suite(Request(backend(fault), cases=f"^{name}$|^contract/loading$", seconds=5))
    outcome = {case.id: outcome for case, outcome in report.outcomes.items()}[name]
    assert outcome.status is Status.failed
    assert message in outcome.message
    assert [case.level for case, _ in report.failures] == [level]
    assert not report.is_passed


def test_the_right_one_passes(backend: Callable[..., str]) -> None:
    names = "add.Tensor|exp.default|maximum|neg.default|sum.dim_Int|mm.default|alias|mul.Tensor|sinh.default"
    report = run_suite(Request(backend(), level=3, cases=rf"^contract/|^(graph|odd)/aten\.({names})", seconds=60))
    assert [(case.id, outcome.message) for case, outcome in report.failures] == []
    by_id = {case.id: outcome for case, outcome in report.outcomes.items()}
    assert by_id["graph/aten.mul.Tensor/float32"].samples == 3
    assert by_id["graph/aten.sinh.default/float32"].status is Status.unclaimed
    assert report.unproven == []
    assert report.is_passed


def test_a_crash_and_a_hang_are_two_cases_and_the_run_goes_on(backend: Callable[..., str]) -> None:
    crash = FAULTS["crashes"].replace("aten.neg.default", "aten.exp.default")
    name = backend("hangs", crash)
    report = run_suite(Request(name, level=1, cases=r"^graph/aten\.(neg|exp|mm|abs)\.default/float32", seconds=4))
    status = {case.id.split("/")[1]: outcome.status.value for case, outcome in report.outcomes.items()}
    assert status == {
        "aten.exp.default": "failed", "aten.abs.default": "unclaimed", "aten.neg.default": "failed",
        "aten.mm.default": "passed",
    }  # fmt: skip


def test_every_fault_is_looked_for() -> None:
    assert set(FAULTS) == set(CAUGHT)


def test_a_whole_run_passes_its_level(backend: Callable[..., str]) -> None:
    report = run_suite(Request(backend(), level=0, seconds=60))
    assert report.passed_level() == 0
    assert report.is_passed


def test_nobody_poses_as_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    impostor = Candidate("reference", EntryPoint("reference", "impostor", "lazycore.backends"))
    monkeypatch.setattr(oracle, "installed", lambda: {"reference": impostor})
    with pytest.raises(LazycoreError, match="the oracle must be lazycore-reference"):
        oracle.oracle_for("acme")
    assert isinstance(oracle.oracle_for("reference"), oracle.Eager)  # PyTorch judges the reference itself
