"""``lazycore new-backend``: what it prints and how it ends."""

from __future__ import annotations

from pathlib import Path

import typer
from lazycore_plugin_api import LazycoreError

from lazycore.cli.configure import USAGE_ERROR
from lazycore.plugins.discovery import installed
from lazycore.scaffold.writing import create

__all__ = ["new_package"]


def new_package(name: str, parent: Path) -> None:
    """Write the package and say how to go on. Raises typer.Exit where it cannot be written."""
    try:
        folder = create(name, parent, installed())
    except LazycoreError as error:
        typer.echo(f"lazycore: {error}", err=True)
        raise typer.Exit(USAGE_ERROR) from error
    typer.echo(f"{folder} is a backend named {name}. Next:\n  cd {folder}\n  pip install -e '.[test]'\n  pytest")
