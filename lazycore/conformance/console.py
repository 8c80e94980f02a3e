"""What ``lazycore conformance`` shows while it runs and when it is through."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from lazycore.conformance.case import Case, Outcome, Status
from lazycore.conformance.document import as_document, read, reproducer
from lazycore.conformance.journal import Journal
from lazycore.conformance.junit import as_junit
from lazycore.conformance.levels import LEVELS
from lazycore.conformance.running import Report, Request, run_suite
from lazycore.conformance.scorecard import as_page

__all__ = ["prove"]

USAGE_ERROR, INTERRUPTED = 2, 130
_SHOWN = 40


def prove(request: Request, folder: Path | None, earlier: Path | None, resume: bool = False) -> int:
    """Run, show, write reports into ``folder``. 0 if nothing is wrong, 1 if something is, 2 if nothing can be run.
    ``resume``: the run that was interrupted there goes on, whatever the request says but for jobs and seconds."""
    console = Console(stderr=True)
    journal = None if folder is None else Journal(folder)
    try:
        before = None if earlier is None else read(earlier)
        if resume and journal is not None:
            request = journal.request(request.jobs, request.seconds)
        report = _run(request, console, journal, resume)
    except (ValueError, re.error) as error:
        console.print(f"lazycore conformance: {error}", markup=False)
        return USAGE_ERROR
    except KeyboardInterrupt:
        console.print(_interrupted(folder), markup=False, soft_wrap=True)
        return INTERRUPTED
    document = as_document(report)
    _show(console, report, document)
    if folder is not None:
        _write(report, document, before, folder)
        Journal(folder).remove()
        console.print(f"reports are in {folder}", markup=False)
    return 0 if report.is_passed else 1


def _interrupted(folder: Path | None) -> str:
    if folder is None:
        return "interrupted; with --report, it could go on from here"
    return f"interrupted; go on with: lazycore conformance --resume {folder}"


def _run(request: Request, console: Console, journal: Journal | None, resume: bool) -> Report:
    columns = (TextColumn("{task.fields[bad]}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
               TimeRemainingColumn(), TextColumn("{task.description}"))  # fmt: skip
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("the cases are listed", total=None, bad="")
        bad = 0

        def told(done: int, total: int, case: Case, outcome: Outcome) -> None:
            nonlocal bad
            bad += outcome.status is Status.failed
            shown = f"[red]{bad} failed[/]" if bad else "none failed"
            progress.update(task, completed=done, total=total, description=case.id[:48], bad=shown)

        return run_suite(request, told, journal, resume)


def _show(console: Console, report: Report, document: dict[str, Any]) -> None:
    if "broken" in report.about:
        console.print(f"[red]broken[/] {escape(str(report.about['broken']))}")
    for case, outcome in report.failures[:_SHOWN]:
        console.print(f"[red]{outcome.status.value}[/] {escape(case.id)}: {escape(outcome.message)}", highlight=False)
        console.print(f"  {reproducer(report.request.backend, case)}", markup=False, highlight=False, soft_wrap=True)
    if len(report.failures) > _SHOWN:
        console.print(f"… and {len(report.failures) - _SHOWN} more; --report has them all")
    for name, items in (("stale xfail", report.stale), ("claimed, never executed", report.unproven)):
        for item in items:
            console.print(f"[red]{name}[/] {escape(item)}")
    for pattern in report.unmatched:
        console.print(f"[yellow]no case has the pattern[/] {escape(pattern)}")
    for op, pair in report.about.get("loosened", {}).items():
        console.print(f"[yellow]loosened by the vendor[/] {escape(op)}: rtol {pair[0]:g}, atol {pair[1]:g}")
    console.print(_levels(document))
    console.print(f"{len(report.outcomes)} cases in {report.seconds:.0f} s; {_verdict(report)}")


def _levels(document: dict[str, Any]) -> Table:
    table = Table("level", "", "passed", "failed", "unclaimed", "skipped", "xfailed", "seconds", box=None)
    for level in document["levels"]:
        count = level["counts"]
        bad = count["failed"] + count["xpassed"]
        row = (level["number"], level["name"], count["passed"], f"[red]{bad}[/]" if bad else "0", count["unclaimed"])
        table.add_row(*map(str, (*row, count["skipped"], count["xfailed"], level["seconds"])))
    return table


def _verdict(report: Report) -> str:
    level = report.passed_level()
    if level >= 0:
        return f"{report.request.backend} passes level {level}: {LEVELS[level].permits}"
    if report.is_passed:
        return "nothing is wrong; only a run without --sample and --cases passes a level"
    return f"{report.request.backend} passes no level"


def _write(report: Report, document: dict[str, Any], earlier: dict[str, Any] | None, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(json.dumps(document, indent=1))
    (folder / "junit.xml").write_text(as_junit(report))
    (folder / "scorecard.html").write_text(as_page(document, earlier))
