"""``lazycore.explain()``: every op, line, crossing and compile cause of a small program is in it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import lazycore
from lazycore.frontend.local import tree
from lazycore.report.explain import LEDGER


@pytest.fixture(scope="module", autouse=True)
def op_without_lowering() -> Iterator[None]:
    """An operator that torch can infer and run, and that no backend knows."""
    library = torch.library.Library("explained", "FRAGMENT")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CPU")
    torch.library.register_fake("explained::twice", lambda x: torch.empty_like(x), lib=library)
    yield
    library._destroy()


@pytest.fixture
def timed() -> Iterator[None]:
    lazycore.sync()
    lazycore.config.explain = True
    LEDGER.reset()
    tree.divergences.clear()
    lazycore.reset_metrics()
    with lazycore.use_backend("reference"):
        yield
    lazycore.config.explain = False


def middle(size: int) -> torch.Tensor:
    x = torch.ones(size, 3, device="lazycore")
    y = torch.ops.explained.twice(x + 1)
    return (y * 3).cpu()


@pytest.mark.usefixtures("timed")
def test_steps_lines_and_causes() -> None:
    assert torch.equal(middle(2), torch.full((2, 3), 12.0))
    middle(2)
    middle(4)
    explanation = lazycore.explain()
    first = explanation.plans[0]
    assert [step.backend for step in first.steps] == ["reference", "eager", "reference"]
    assert first.cause == "a copy to the CPU"
    assert all(step.runs == 2 and step.seconds is not None and step.seconds > 0 for step in first.steps)
    inner = [(c.source, c.target, c.values, c.nbytes) for c in first.crossings if c.source >= 0 and c.target >= 0]
    assert inner == [(0, 1, 1, 24), (1, 2, 1, 24)]
    eager = [line for line in explanation.lines if line.eager]
    assert len(eager) == 1
    assert "explained.twice.default" in eager[0].eager
    assert "reference" in eager[0].eager["explained.twice.default"]
    assert eager[0].line.startswith(__file__)
    assert any(d["difference"].count("f32[4,3]") or "[4" in d["difference"] for d in explanation.divergences)


@pytest.mark.usefixtures("timed")
def test_forms_agree() -> None:
    middle(5)
    explanation = lazycore.explain()
    record = json.loads(explanation.to_json())
    assert record["format"] == 1
    assert [s["backend"] for s in record["plans"][0]["steps"]] == ["reference", "eager", "reference"]
    page = explanation.to_html()
    assert page.count("<rect") == 3
    assert page.count("<path") == 2
    assert "explained.twice.default" in page
    assert "http" not in page.replace("http://www.w3.org", ""), "the page loads nothing"
    text = str(explanation)
    assert "eager: explained.twice.default" in text
    assert "values cross between steps, 120 B" in text


def test_nothing_is_timed_unasked() -> None:
    LEDGER.reset()
    with lazycore.use_backend("reference"):
        middle(7)
    assert all(step.seconds is None for plan in lazycore.explain().plans for step in plan.steps)


def test_command_writes_all_forms(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import torch\nprint((torch.ones(3, device='lazycore') + 1).sum().item())\n")
    options = ["--backend", "reference", "--json", str(tmp_path / "e.json"), "--html", str(tmp_path / "e.html")]
    command = [sys.executable, "-m", "lazycore", "explain", *options, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == "6.0\n"
    assert f"{script}:2: reference" in done.stderr
    assert json.loads((tmp_path / "e.json").read_text())["counters"]["syncs"] == 1
    assert (tmp_path / "e.html").read_text().startswith("<!doctype html>")
