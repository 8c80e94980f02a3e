"""Who may import whom: the contracts in pyproject.toml, and what really is in memory after an import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def python(code: str) -> str:
    """What ``code`` prints in a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def lint_imports(config: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", str(config)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)


def test_the_contracts_are_kept() -> None:
    done = lint_imports(ROOT / "pyproject.toml")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("source", "forbidden"),
    [
        ("lazycore.cli", "typer"),
        ("lazycore.plugins", "lazycore_plugin_api"),
        ("lazycore_reference", "numpy"),
        ("lazycore.runtime", "lazycore.compiler"),
    ],
)
def test_the_linter_sees_the_imports_there_are(tmp_path: Path, source: str, forbidden: str) -> None:
    """A contract that the tree is known to break must be reported, or the kept ones would prove nothing."""
    config = tmp_path / "broken.toml"
    roots = ["lazycore", "lazycore_plugin_api", "lazycore_loader", "lazycore_reference", "lazycore_xla", "lazycore_tvm"]
    config.write_text(
        f"[tool.importlinter]\nroot_packages = {roots}\ninclude_external_packages = true\n"
        f'[[tool.importlinter.contracts]]\nname = "broken"\ntype = "forbidden"\n'
        f'source_modules = ["{source}"]\nforbidden_modules = ["{forbidden}"]\n'
    )
    done = lint_imports(config)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{source} is not allowed to import {forbidden}" in done.stdout


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("lazycore_plugin_api", ("torch", "lazycore", "jax", "tvm")),
        ("lazycore_reference.plugin", ("torch", "lazycore", "jax", "tvm")),
        ("lazycore_loader", ("torch", "lazycore", "jax", "tvm", "lazycore_reference")),
        ("lazycore_xla.plugin", ("torch", "lazycore", "tvm")),
        ("lazycore_tvm.plugin", ("torch", "lazycore", "jax", "tvm")),
        ("lazycore", ("jax", "tvm", "lazycore_reference", "lazycore_xla", "lazycore_tvm")),
    ],
)
def test_importing_brings_in_no_more_than_it_may(module: str, absent: tuple[str, ...]) -> None:
    assert python(f"import sys, {module}; print([m for m in {absent!r} if m in sys.modules])").strip() == "[]"


def test_the_backends_directories_are_no_packages() -> None:
    """``backends/tvm/__init__.py`` would make ``import tvm`` find it wherever ``backends`` is on the path."""
    directories = [ROOT / "backends", *(d for d in (ROOT / "backends").iterdir() if d.is_dir())]
    assert len(directories) > 3
    assert [d for d in directories if (d / "__init__.py").exists()] == []
