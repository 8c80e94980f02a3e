"""The judges themselves: each finds what it is there to find."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from programkit import counts
from programkit.outcome import Log, Outcome, Results, assert_same
from programkit.witness import gathers, witnessed

import lazycore


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty table of counts."""
    path = tmp_path / "counts.json"
    monkeypatch.setattr(counts, "TABLE", path)
    return path


def test_growth_is_found(table: Path) -> None:
    counts.update("program", {"ops": 10, "xla": 2})
    counts.update("program", {"ops": 10, "reference": 3})
    counts.check("program", {"ops": 9, "xla": 2, "reference": 3})
    with pytest.raises(AssertionError, match="ops grew from 10 to 11"):
        counts.check("program", {"ops": 11})
    assert table.read_text().count("\n") == 3, "one line a program"


@pytest.mark.usefixtures("table")
def test_unknown_program_is_found() -> None:
    with pytest.raises(AssertionError, match=r"other has no ops in counts\.json: run pytest --update-counts"):
        counts.check("other", {"ops": 1})


def test_gathers_are_found(backend: str) -> None:
    """Overlapping windows with unrelated strides cannot be read but element by element."""
    base = torch.arange(64.0).to("lazycore")
    with witnessed() as segments:
        total = base.as_strided((5, 4, 3), (7, 5, 3)).sum().item()
    assert total == torch.arange(64.0).as_strided((5, 4, 3), (7, 5, 3)).sum().item()
    assert segments, f"{backend} compiled nothing"
    assert gathers(segments)
    assert "aten.take.default" in gathers(segments)[0]
    with witnessed() as later:
        (base[:8] * 2).sum().item()
    assert later
    assert not gathers(later)
    assert lazycore.metrics()["compiles"] == len(segments) + len(later)


@pytest.mark.parametrize(
    ("losses", "weight"), [([1.0, 2.1], 1.0), ([1.0], 1.0), ([1.0, 2.0], 1.1), ([1.0, float("nan")], 1.0)]
)
def test_differences_are_found(losses: list[float], weight: float) -> None:
    right = Outcome(losses=[1.0, 2.0], results={"weight": torch.ones(2)})
    wrong = Outcome(losses=losses, results={"weight": torch.full((2,), weight)})
    assert_same(right, right, rtol=1e-5, atol=1e-5)
    with pytest.raises(AssertionError):
        assert_same(wrong, right, rtol=1e-5, atol=1e-5)


def test_late_compilation_is_found(compare) -> None:
    def program(device: str, log: Log) -> Results:
        x = torch.ones(3).to(device)
        for step in range(6):
            x = torch.cat([x, x[:1]]) if step == 4 else x * 1.5
            log(x.sum())
        return {"x": x}

    with pytest.raises(AssertionError, match="compiles by step"):
        compare(program)
