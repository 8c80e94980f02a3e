"""A plugin's profile adds cases of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from lazycore_plugin_api import CheckCase, GraphCase, Profile, Segment

from lazycore.conformance.case import Case, Failed, Status
from lazycore.conformance.document import as_document
from lazycore.conformance.running import Report, Request, run_suite
from lazycore.conformance.scorecard import as_page
from lazycore.conformance.vendor import own_cases

CASES = """
def _chain(name, *ops, **options):
    values = [Value(0, TensorSpec((3,), DType.float32))]
    for op in ops:
        values.append(Value(len(values), values[0].spec))
    nodes = [Node(op, (values[i],), {}, (values[i + 1],)) for i, op in enumerate(ops)]
    array = np.asarray([1.0, -2.0, np.nan], np.float32)
    return GraphCase(name, Segment((values[0],), nodes, (values[-1],), name=name), [array], **options)


def _told():
    raise ValueError("the clock is slow")


CASES = [
    _chain("fused/neg-exp", "aten.neg.default", "aten.exp.default"),
    _chain("takes-not", "aten.sinh.default", level=2),
    _chain("no-op", "aten.nobody.default"),
    CheckCase("clock", _told),
    CheckCase("fan", lambda: None, level=0),
]


@hookimpl
def lazycore_conformance():
    return Profile(cases=CASES)
"""


def _run(name: str) -> Report:
    return run_suite(Request(name, cases="^vendor/", seconds=60))


def test_they_run_and_are_in_the_report(backend: Callable[..., str]) -> None:
    report = _run(backend("", CASES))
    found = {case.id: (case.level, outcome.status, outcome.message) for case, outcome in report.outcomes.items()}
    assert found["vendor/fused/neg-exp"] == (1, Status.passed, "")
    assert found["vendor/fan"] == (0, Status.passed, "")
    level, status, message = found["vendor/takes-not"]
    assert (level, status) == (2, Status.failed)
    assert "does not take aten.sinh.default of its own case" in message
    assert found["vendor/clock"][1] is Status.failed
    assert "ValueError at conformance_kit" in found["vendor/clock"][2]
    assert "the clock is slow" in found["vendor/clock"][2]
    assert found["vendor/no-op"][1] is Status.failed
    document = as_document(report)
    assert document["about"]["own_cases"][0] == [1, "vendor/fused/neg-exp"]
    assert document["tolerances"]["aten.exp.default float32"]
    assert "vendor/fused/neg-exp" in as_page(document)


def test_their_values_come_from_elsewhere(backend: Callable[..., str]) -> None:
    report = _run(backend("some ulps", CASES))
    outcome = report.outcomes[Case(1, "vendor/fused/neg-exp")]
    assert outcome.status is Status.failed
    assert "elements differ" in outcome.message


def test_they_pass_no_level_by_themselves() -> None:
    report = _run_of(Case(0, "vendor/x"))
    assert report.passed_level() == -1
    assert _run_of(Case(0, "contract/session")).passed_level() == 0


def _run_of(case: Case) -> Report:
    from lazycore.conformance.case import Outcome

    return Report(Request("acme", level=0), outcomes={case: Outcome()})


SEGMENT = Segment((), [], ())


@pytest.mark.parametrize(
    ("cases", "message"),
    [
        (["x"], "is neither a GraphCase nor a CheckCase"),
        ([CheckCase("a b", print)], "a name that is taken, or is not of letters"),
        ([CheckCase("a", print), GraphCase("a", SEGMENT, [])], "a name that is taken"),
        ([CheckCase("a", print, level=6)], "levels are 0 to 5"),
    ],
)
def test_what_is_no_case_fails_the_contract(cases: list[CheckCase], message: str) -> None:
    with pytest.raises(Failed, match=message):
        own_cases(Profile(cases=cases))
