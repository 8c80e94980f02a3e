"""The documents' programs, run as they stand: the user's, and vendors' backends installed by their entry points."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

COUNT_RUNS = """
import runpy
import acme_lazycore
runs = []
run = acme_lazycore.Program.run
acme_lazycore.Program.run = lambda self, inputs: runs.append(len(self.segment.nodes)) or run(self, inputs)
runpy.run_path("train.py", run_name="__main__")
assert runs, "no segment reached the vendor's backend"
"""


def blocks(language: str, document: str = "README.md") -> list[str]:
    """A document's fenced blocks in one language, in order."""
    return [code for tag, code in FENCE.findall((ROOT / document).read_text()) if tag == language]


def install(directory: Path, document: str = "README.md") -> None:
    """Lay a document's Python blocks out as files, and the vendor's package as an installer would leave it."""
    for code in blocks("python", document):
        name = code.splitlines()[0].removeprefix("# ")
        (directory / name).write_text(code)
    (toml,) = blocks("toml", document)
    project = tomllib.loads(toml)["project"]
    info = directory / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    header = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(header)
    ((group, points),) = project["entry-points"].items()
    lines = [f"[{group}]", *(f"{name} = {module}" for name, module in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


def run(directory: Path, *arguments: str, backend: str) -> str:
    """The standard output of ``python arguments`` in the directory; fails with its standard error."""
    environment = {**os.environ, "LAZYCORE_BACKEND": backend, "OMP_NUM_THREADS": "1"}
    paths = [str(directory), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    return done.stdout


def losses(output: str) -> list[float]:
    """The losses that the user's program prints."""
    return [float(number) for number in re.findall(r"loss ([\d.]+)", output)]


@pytest.mark.parametrize("backend", ["reference", "xla"])
def test_user_program_trains(tmp_path: Path, backend: str) -> None:
    install(tmp_path)
    output = run(tmp_path, "train.py", backend=backend)
    first, *_, last = losses(output)
    assert last < 0.8 * first
    assert re.search(r"^[1-9]\d* compilations$", output, re.MULTILINE)


def test_vendor_backend_takes_part(tmp_path: Path) -> None:
    install(tmp_path)
    expected = losses(run(tmp_path, "train.py", backend="reference"))
    got = losses(run(tmp_path, "-c", COUNT_RUNS, backend="acme,reference"))
    assert len(got) == 3
    assert got == pytest.approx(expected, rel=1e-4)


def test_vendor_backend_is_listed(tmp_path: Path) -> None:
    install(tmp_path)
    assert "acme" in run(tmp_path, "-m", "lazycore", "backends", backend="reference")


def test_vendor_backend_keeps_the_contract(tmp_path: Path) -> None:
    install(tmp_path)
    run(tmp_path, "-m", "lazycore", "conformance", "--backend", "acme", "--cases", "^contract/", backend="reference")


def test_examples_have_the_size_that_is_promised() -> None:
    user, vendor = (code.splitlines() for code in blocks("python"))
    assert len(user) <= 25
    assert len(vendor) <= 60


def test_vendors_page_leads_to_a_backend_that_is_used(tmp_path: Path) -> None:
    install(tmp_path, "docs/vendors.md")
    assert "tiny" in run(tmp_path, "-m", "lazycore", "backends", backend="reference")
    record = tmp_path / "explanation.json"
    options = ["--backend", "tiny,reference", "--json", str(record), "try_it.py"]
    output = run(tmp_path, "-m", "lazycore", "explain", *options, backend="reference")
    assert "aten.tanh.default(" in output, "the page has the backend print its segment"
    expected = torch.tanh(torch.linspace(-1, 1, 6) * 3).cumsum(0)
    assert json.loads(output.splitlines()[-1]) == pytest.approx(expected.tolist(), abs=1e-5)
    plans = json.loads(record.read_text())["plans"]
    taken = [step["ops"] for plan in plans for step in plan["steps"] if step["backend"] == "tiny"]
    assert taken == [{"aten.mul.Tensor": 1, "aten.add.Tensor": 1, "aten.tanh.default": 1}]
    refusals = [r for plan in plans for entry in plan["refused"] for r in entry["refusals"]]
    assert "tiny has no aten.cumsum.default" in {r["reason"] for r in refusals}
