"""The page of results says what the kept reports say, and these are of whole runs of this suite."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lazycore.conformance.case import Status
from lazycore.conformance.document import SCHEMA
from lazycore.conformance.graph.table import rows_by_op

ROOT = Path(__file__).parents[2]


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conformance_page", ROOT / "tools" / "conformance_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = _tool()
RESULTS: dict[str, dict[str, Any]] = TOOL.results()


def test_the_page_is_made_of_the_results() -> None:
    assert TOOL.PAGE.read_text() == TOOL.page(RESULTS), "make docs"


@pytest.mark.parametrize("backend", RESULTS)
def test_results_add_up(backend: str) -> None:
    result = RESULTS[backend]
    assert result["schema"] == SCHEMA
    assert result["about"]["backend"] == backend
    assert [level["number"] for level in result["levels"]] == list(range(result["request"]["level"] + 1))
    for status in Status:
        assert sum(level["counts"][status.value] for level in result["levels"]) == result["counts"][status.value]
    assert result["passed"] is (result["counts"]["failed"] + result["counts"]["xpassed"] == 0)
    assert len(result["about"]["xfails"]) == result["counts"]["xfailed"]


@pytest.mark.parametrize("backend", RESULTS)
def test_results_are_of_the_operators_that_the_suite_has(backend: str) -> None:
    assert set(RESULTS[backend]["matrix"]) <= set(rows_by_op())
    assert set(RESULTS[backend]["matrix"]) >= {op for op in rows_by_op() if op.endswith((".Tensor", ".default"))}


def _document(**changes: Any) -> dict[str, Any]:
    counts = {status.value: 0 for status in Status} | {"passed": 2}
    request = {"backend": "reference", "level": 0, "sample": False, "cases": ""}
    about = {key: {} for key in TOOL.ABOUT} | {
        "backend": "reference", "version": "1", "own_cases": [[0, "vendor/x"]], "host": {"machine": "m", "cpus": 2},
        "loosened": {"aten.exp": [0.5, 0.0]}, "xfails": {"graph/a": "known"}, "versions": {"torch": "2"},
    }  # fmt: skip
    level = {"number": 0, "passed": True, "counts": counts, "seconds": 1.0}
    matrix = {"aten.exp.default": {"float64": "native", "float32": "fails", "int64": "unclaimed"}}
    return {
        "schema": SCHEMA, "started": "2026-01-02T00:00:00", "seconds": 60, "request": request, "passed": True,
        "passed_level": 0, "counts": counts, "about": about, "levels": [level], "matrix": matrix, **changes,
    }  # fmt: skip


def test_what_is_kept_and_shown() -> None:
    kept = TOOL.summary(_document())
    assert kept["matrix"] == {"aten.exp.default": {"fails": "float32", "native": "float64", "unclaimed": "int64"}}
    text = TOOL.page({"reference": kept})
    assert "| reference | 1 | levels 0 to 0 | 0 to 0 | 2 | 0 | 0 | 0 | 0 | 1 |" in text
    assert "| `aten.exp.default` | r | R | - |" in text
    assert "- `aten.exp`: rtol 0.5, atol 0" in text
    assert "- `graph/a`: known" in text
    assert "lazycore conformance --backend reference --level 0 --report reference-report" in text


def test_a_part_is_not_kept() -> None:
    request = {"backend": "reference", "level": 0, "sample": True, "cases": ""}
    with pytest.raises(ValueError, match="whole runs"):
        TOOL.summary(_document(request=request))
