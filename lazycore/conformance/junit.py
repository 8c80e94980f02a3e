"""A report as JUnit XML, which continuous integration reads."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from lazycore.conformance.case import Case, Outcome, Status
from lazycore.conformance.document import reproducer
from lazycore.conformance.running import Report

__all__ = ["as_junit"]

# What XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd]")


def as_junit(report: Report) -> str:
    """One test case per case; expected failures, skipped and unclaimed ones are skipped. What no case is to blame for
    has one of its own."""
    root = ElementTree.Element("testsuites", name=f"lazycore conformance of {report.request.backend}")
    for level in sorted({case.level for case in report.outcomes}):
        mine = {c: o for c, o in report.outcomes.items() if c.level == level}
        suite = ElementTree.SubElement(root, "testsuite", {"name": f"level {level}", **_totals(mine)})
        for case, outcome in mine.items():
            _add(suite, report, case, outcome)
    for name, ids in (("stale xfail", report.stale), ("claimed, not executed", report.unproven)):
        for item in ids:
            entry = ElementTree.SubElement(root, "testcase", classname=name, name=item)
            ElementTree.SubElement(entry, "failure", message=name)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _totals(mine: dict[Case, Outcome]) -> dict[str, str]:
    bad = sum(o.status.is_bad for o in mine.values())
    passed = sum(o.status is Status.passed for o in mine.values())
    seconds = sum(o.seconds for o in mine.values())
    skipped = len(mine) - bad - passed
    return {"tests": str(len(mine)), "failures": str(bad), "skipped": str(skipped), "time": f"{seconds:.3f}"}


def _add(suite: ElementTree.Element, report: Report, case: Case, outcome: Outcome) -> None:
    entry = ElementTree.SubElement(
        suite, "testcase", classname=f"conformance.{case.group}", name=case.name, time=f"{outcome.seconds:.3f}"
    )
    message = _FORBIDDEN.sub("?", outcome.message)
    if outcome.status.is_bad:
        failure = ElementTree.SubElement(entry, "failure", message=message.split("\n")[0])
        failure.text = f"{message}\n{reproducer(report.request.backend, case)}"
    elif outcome.status is not Status.passed:
        ElementTree.SubElement(entry, "skipped", message=f"{outcome.status.value}: {message}".split("\n")[0])
