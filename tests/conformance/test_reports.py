"""What a report says, in all its forms, and that it cannot be talked into a better one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lazycore.conformance.case import Case, Outcome, Status
from lazycore.conformance.document import SCHEMA, as_document, changes, matrix, read
from lazycore.conformance.junit import as_junit
from lazycore.conformance.running import Report, Request, judged, run_suite
from lazycore.conformance.scorecard import as_page

ADD, EXP = "graph/aten.add.Tensor/float32", "graph/aten.exp.default/float32"


def _report(**states: Status) -> Report:
    report = Report(Request("acme", level=1), about={"backend": "acme", "versions": {}, "host": {}})
    for name, status in states.items():
        case = Case(
            0 if name == "session" else 1, f"contract/{name}" if name == "session" else f"graph/aten.{name}.x/float32"
        )
        claimed = set() if status is Status.unclaimed else {f"aten.{name}.x float32"}
        report.outcomes[case] = Outcome(status, "why\x00 <not>", claimed=claimed, executed=set(claimed))
    return report


@pytest.mark.parametrize(
    ("states", "level"),
    [
        ({"session": Status.passed, "add": Status.passed}, 1),
        ({"session": Status.passed, "add": Status.passed, "mul": Status.unclaimed}, 1),
        ({"session": Status.passed, "add": Status.failed}, 0),
        ({"session": Status.passed, "add": Status.xpassed}, 0),
        ({"session": Status.failed, "add": Status.passed}, -1),
        ({"session": Status.passed, "add": Status.unclaimed}, 0),  # nothing was shown
        ({"session": Status.skipped, "add": Status.passed}, -1),
    ],
)
def test_a_level_is_passed_with_all_below_it(states: dict[str, Status], level: int) -> None:
    assert _report(**states).passed_level() == level


def test_a_part_passes_no_level() -> None:
    report = _report(session=Status.passed, add=Status.passed)
    report.request = Request("acme", level=1, sample=True)
    assert report.passed_level() == -1
    assert report.is_passed


def test_what_was_claimed_and_never_ran_fails_the_run() -> None:
    report = _report(session=Status.passed, add=Status.passed)
    report.unproven = ["aten.add.x float32"]
    assert not report.is_passed
    assert report.passed_level() == 0
    assert matrix(report)["aten.add.x"]["float32"] == "unproven"


@pytest.mark.parametrize(
    ("status", "judgement"),
    [
        (Status.failed, Status.xfailed),
        (Status.passed, Status.xpassed),
        (Status.unclaimed, Status.unclaimed),
        (Status.skipped, Status.skipped),
    ],
)
def test_expected_failures_are_strict(status: Status, judgement: Status) -> None:
    case = Case(1, ADD)
    assert judged(case, Outcome(status), {ADD: "known"}).status is judgement
    assert judged(case, Outcome(status), {EXP: "known"}).status is status


def test_the_vendors_word_is_heard_and_printed(backend: Callable[..., str]) -> None:
    profile = (
        f"XFAILS.update({{{ADD!r}: 'no alpha yet', 'graph/gone': 'stale'}})\nTOLERANCES['aten.exp'] = (1e-3, 0.0)\n"
    )
    fault = 'KERNELS["aten.add.Tensor"] = lambda x, y, alpha: x + y\n'
    report = run_suite(Request(backend("some ulps", profile + fault), cases=f"^({ADD}|{EXP})$"))
    by_id = {case.id: outcome for case, outcome in report.outcomes.items()}
    assert by_id[ADD].status is Status.xfailed
    assert by_id[ADD].message.startswith("no alpha yet (")
    assert by_id[EXP].status is Status.passed
    assert by_id[EXP].tolerances == {"aten.exp.default float32": (1e-3, 0.0)}
    assert report.stale == ["graph/gone"]
    assert not report.is_passed
    page = as_page(as_document(report))
    assert "aten.exp</code><td>rtol 0.001" in page
    assert "no alpha yet" in page
    assert "graph/gone" in page


def test_a_broken_plugin_is_a_report(backend: Callable[..., str]) -> None:
    report = run_suite(Request(backend("", "raise OSError('no device')\n"), cases="^contract/(loading|discovery)$"))
    assert "no device" in report.about["broken"]
    assert [case.id for case, _ in report.failures] == ["contract/loading"]


def test_json_goes_there_and_back(tmp_path: Path) -> None:
    document = as_document(_report(session=Status.passed, add=Status.failed))
    path = tmp_path / "report.json"
    path.write_text(json.dumps(document))
    assert read(path) == document
    failed = next(case for case in document["cases"] if case["status"] == "failed")
    assert failed["reproduce"] == "lazycore conformance --backend acme --cases '^graph/aten.add.x/float32$'"
    assert document["matrix"] == {"aten.add.x": {"float32": "fails"}}
    path.write_text(json.dumps(document | {"schema": SCHEMA + 1}))
    with pytest.raises(ValueError, match="no conformance report of schema"):
        read(path)


def test_junit_is_xml_whatever_the_backend_says() -> None:
    root = ElementTree.fromstring(as_junit(_report(session=Status.passed, add=Status.failed, mul=Status.unclaimed)))
    suites = {suite.get("name"): suite for suite in root.iter("testsuite")}
    assert suites["level 1"].get("failures") == "1"
    assert suites["level 1"].get("skipped") == "1"
    (failure,) = root.iter("failure")
    assert failure.text is not None
    assert "--cases" in failure.text


def test_the_page_stands_alone_and_escapes() -> None:
    earlier = as_document(_report(session=Status.passed, add=Status.passed, sub=Status.failed))
    now = as_document(_report(session=Status.passed, add=Status.failed, mul=Status.passed))
    page = as_page(now, earlier)
    assert "<not>" not in page
    assert "&lt;not&gt;" in page
    assert "http" not in page
    assert changes(earlier, now) == {
        "broken": ["graph/aten.add.x/float32"], "mended": [], "new": ["graph/aten.mul.x/float32"],
        "gone": ["graph/aten.sub.x/float32"],
    }  # fmt: skip
