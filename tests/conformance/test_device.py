"""Faults that show only where the device records and runs a program."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from wrongkit.source import FAULTS

from lazycore.conformance.case import Status
from lazycore.conformance.database import internals
from lazycore.conformance.running import Request, Session, run_suite

LEAK = """
KEPT = []
old_run = Program.run
def run(self, inputs):
    KEPT.append(bytes([1]) * 1000)
    return old_run(self, inputs)
Program.run = run
"""


def _outcome(name: str, case: str, seconds: float = 60) -> tuple[Status, str]:
    ((_, outcome),) = run_suite(Request(name, cases=f"^{case}$", seconds=seconds)).outcomes.items()
    return outcome.status, outcome.message


def test_a_leak_is_seen(backend: Callable[..., str]) -> None:
    status, message = _outcome(backend("", LEAK), "endurance/memory-of-runs")
    assert status is Status.failed
    assert "made the process grow by" in message


@pytest.mark.parametrize("case", ["endurance/memory-of-runs", "endurance/failing-compile", "endurance/many-programs"])
def test_the_right_one_endures(backend: Callable[..., str], case: str) -> None:
    assert _outcome(backend(), case) == (Status.passed, "")


def test_a_claimed_operator_that_falls_back_is_seen(backend: Callable[..., str]) -> None:
    status, message = _outcome(backend("claims without compiling"), "opinfo/mul/float32")
    assert status is Status.failed
    assert "claimed, and ran in PyTorch on the CPU: aten.mul.Tensor float32" in message


def test_a_claimed_operator_that_torch_computes_is_seen(backend: Callable[..., str]) -> None:
    status, message = _outcome(backend("runs in PyTorch"), "opinfo/mul/float32")
    assert status is Status.failed
    assert "claimed, and ran elsewhere: PyTorch's aten" in message


@pytest.mark.parametrize(
    ("fault", "case", "status"),
    [
        ("", "opinfo/mul/float32", Status.passed),
        ("", "opinfo/sinh/float32", Status.unclaimed),
        ("", "semantics/in-place-chain", Status.passed),
        ("drops NaN", "semantics/special-values", Status.failed),
        ("", "semantics/special-values", Status.passed),
        ("another axis", "program/mlp", Status.failed),
        ("", "program/mlp", Status.passed),
        ("", "grad/mul", Status.passed),
        ("", "optimizer/adam", Status.passed),
    ],
)
def test_case_of_each_kind(backend: Callable[..., str], fault: str, case: str, status: Status) -> None:
    found, message = _outcome(backend(fault), case)
    assert found is status, message


def test_a_wrong_graph_is_made_small(backend: Callable[..., str]) -> None:
    report = run_suite(Request(backend("no alpha"), cases="^fuzz/rounding/.$", seconds=60))
    messages = [outcome.message for _, outcome in report.failures]
    assert len(messages) > 5
    assert all("aten.add.Tensor" in message for message in messages)
    assert max(message.count(" = aten.") for message in messages) <= 4, messages  # of 24


def test_random_graphs_of_the_right_one(backend: Callable[..., str]) -> None:
    report = run_suite(Request(backend(), cases="^fuzz/", seconds=60))
    assert report.failures == []
    assert sum(outcome.status is Status.passed for outcome in report.outcomes.values()) > 40


def test_a_session_goes_on_after_a_hang(backend: Callable[..., str]) -> None:
    from lazycore.conformance.running import chosen

    request = Request(backend("hangs"), cases=r"^graph/aten\.(neg|exp)\.default/float32$", seconds=4)
    with Session(request) as session:
        status = {case.id.split("/")[1]: session.run(case).status for case in chosen(request)}
    assert status == {"aten.exp.default": Status.passed, "aten.neg.default": Status.failed}
    assert set(FAULTS) >= {"hangs"}


def test_moved_databases_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(internals, "_OPERATORS", ("torch.testing._internal.gone", "op_db"))
    with pytest.raises(internals.Moved, match=r"torch\.testing\._internal\.gone.*Use torch 2\.13, or a release"):
        internals.operator_entries()
    monkeypatch.setattr(internals, "_MODULES", ("torch.testing._internal.common_modules", "gone"))
    with pytest.raises(internals.Moved, match="cannot be read"):
        internals.module_entries()


def test_a_dtype_is_not_to_blame_for_another(backend: Callable[..., str]) -> None:
    extra = """
OLD = lazycore_supports, lazycore_compile
@hookimpl
def lazycore_supports(node):
    wide = {v.spec.dtype for v in (*node.inputs(), *node.outputs)} <= {DType.float32, DType.int64}
    return Supported() if node.op == "aten.mul.Tensor" and wide else OLD[0](node)
@hookimpl
def lazycore_compile(segments):
    whole = [any(v.spec.dtype is DType.int64 for n in s.nodes for v in n.outputs) for s in segments]
    return [CompileFailure("later") if w else p for w, p in zip(whole, OLD[1](segments))]
"""
    report = run_suite(Request(backend("", extra), cases="^opinfo/mul/(int64|complex64|float32)$", seconds=60))
    found = {case.id.rpartition("/")[2]: (outcome.status, outcome.message) for case, outcome in report.outcomes.items()}
    # In one worker, one after the other: int64 is claimed and not compiled, complex64 is not claimed.
    assert found["float32"] == (Status.passed, "")
    assert found["int64"] == (Status.failed, "claimed, and ran in PyTorch on the CPU: aten.mul.Tensor int64")
    assert found["complex64"][0] is Status.unclaimed
