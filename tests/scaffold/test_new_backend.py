"""``lazycore new-backend``: the package installs, passes its own tests, and lazycore uses it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from lazycore_plugin_api import LazycoreError

from lazycore.scaffold.names import Names
from lazycore.scaffold.writing import create

PROGRAM = "import torch; print(torch.tanh(torch.ones(2, device='lazycore') * 1.5).cumsum(0).tolist())"


def run(directory: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("LAZYCORE_")}
    return subprocess.run(
        [sys.executable, *command], cwd=directory, env=inherited | environment,
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def test_it_installs_and_passes_its_own_tests(tmp_path: Path) -> None:
    made = run(tmp_path, "-m", "lazycore", "new-backend", "my-chip", "--dir", "new")
    assert made.returncode == 0, made.stderr
    package = tmp_path / "new" / "lazycore-my-chip"
    assert "pip install -e '.[test]'" in made.stdout

    pip = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index")
    done = run(tmp_path, *pip, "--target", str(tmp_path / "site"), str(package))
    assert done.returncode == 0, done.stderr
    # From another folder, so that the installed package is tested and not the sources beside the tests.
    path = os.pathsep.join([str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])])
    tests = run(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(package / "tests"), PYTHONPATH=path)
    assert tests.returncode == 0, tests.stdout
    assert "skipped" not in tests.stdout

    (tmp_path / "program.py").write_text(PROGRAM)
    used = run(
        tmp_path, "-m", "lazycore", "run", "--backend", "my-chip,reference", "program.py",
        PYTHONPATH=path, LAZYCORE_PLACEMENT="1",
    )  # fmt: skip
    assert used.returncode == 0, used.stderr
    assert "my-chip 2 in 1 segment" in used.stderr, "the product and the tangent; the sum is the reference backend's"
    proof = run(
        tmp_path, "-m", "lazycore", "conformance", "--backend", "my-chip", "--cases", "^contract/", PYTHONPATH=path
    )
    assert proof.returncode == 0, proof.stdout
    again = run(tmp_path, "-m", "lazycore", "new-backend", "my-chip", "--dir", "other", PYTHONPATH=path)
    assert again.returncode == 2
    assert "a backend named 'my-chip' is installed" in again.stderr
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("name", ["acme", "a", "acme_2", "a-b_c"])
def test_names_are_valid_everywhere(name: str, tmp_path: Path) -> None:
    folder = create(name, tmp_path)
    with (folder / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)
    module = "lazycore_" + name.replace("-", "_")
    assert project["project"]["entry-points"]["lazycore.backends"] == {name: f"{module}.plugin"}
    assert (folder / module / "py.typed").read_bytes() == b""
    assert not list(folder.rglob("*.j2"))
    for path in folder.rglob("*.py"):
        text = path.read_text()
        ast.parse(text)
        assert "{{" not in text
        assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize(
    "name", ["", "1acme", "Acme", "ac me", "ac.me", "../acme", "acme-", "a--b", "ä", "acme\n", "acme:cpu", '"', "-x"]
)
def test_a_bad_name_is_refused_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    with pytest.raises(LazycoreError, match="is no name for a backend"):
        create(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_exists_stays_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "lazycore-acme"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    with pytest.raises(LazycoreError, match=r"lazycore-acme exists; remove it, or choose another name"):
        create("acme", tmp_path)
    assert [path.name for path in tmp_path.rglob("*")] == ["lazycore-acme", "mine.txt"]


def test_a_parent_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LazycoreError, match="cannot be written"):
        create("acme", tmp_path / "file")


def test_a_failure_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(LazycoreError, match="No space left on device"):
        create("acme", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_names_of_a_backend() -> None:
    names = Names.of("my_chip-2")
    assert (names.module, names.distribution) == ("lazycore_my_chip_2", "lazycore-my-chip-2")
