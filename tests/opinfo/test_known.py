"""A run passes exactly when the list of known failures is right."""

from __future__ import annotations

from typing import Any

import pytest

from lazycore.conformance.database.outcome import Outcome
from lazycore.conformance.workers import Failure, Here, run_cases
from tests.opinfo.known import KNOWN, known_failures, report


def _row(op: str, dtype: str, *errors: str) -> dict[str, Any]:
    return Outcome(op, dtype, samples=1, forward=not errors, errors=list(errors)).row()


ROWS = [_row("add", "float32"), _row("cat", "float16", "forward: wrong"), _row("cat", "errors")]


@pytest.mark.parametrize(
    ("known", "line"),
    [
        ({"cat float16": "why"}, None),
        ({}, "FAILED cat float16: forward: wrong"),
        ({"cat float16": "why", "add float32": "why"}, "PASSES add float32: take it off the list"),
        ({"cat float16": "why", "cat errors": "why"}, "PASSES cat errors: take it off the list"),
        ({"cat float16": "why", "gone float16": "why"}, "UNKNOWN gone float16"),
        ({"cat float16": "why", "add int64": "another part runs it"}, None),
    ],
)
def test_report(known: dict[str, str], line: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    code = report(ROWS, known, ("float32", "float16", "errors"))
    assert code == (0 if line is None else 1)
    assert line is None or line in capsys.readouterr().out


def test_a_part_of_the_database_misses_no_listed_case() -> None:
    assert report(ROWS, {"cat float16": "why", "mul float16": "not run"}, ()) == 0


def test_the_list_is_sorted_one_line_a_case() -> None:
    lines = [f'    "{case}": ' for backend in ("reference", "xla", "tvm") for case in sorted(known_failures(backend))]
    written = [line for line in KNOWN.read_text().splitlines() if line.startswith("    ")]
    assert len(lines) == len(written)
    assert all(line.startswith(start) for start, line in zip(lines, written, strict=True))


def test_a_case_that_raises_is_one_failure() -> None:
    def divide(case: tuple[str, str]) -> int:
        return 12 // int(case[1])

    results = dict(run_cases(divide, [("a", "3"), ("b", "0"), ("c", "4")], 1, 60, origin=Here()))
    assert (results["a", "3"], results["c", "4"]) == (4, 3)
    assert isinstance(results["b", "0"], Failure)
    assert "ZeroDivisionError" in str(results["b", "0"])
