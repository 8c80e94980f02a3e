"""Options that several commands share: which backends, and how strictly."""

from __future__ import annotations

import os

import typer
from lazycore_plugin_api import LazycoreError

from lazycore.config import config
from lazycore.plugins import use_backend
from lazycore.plugins.selection import ENVIRONMENT

__all__ = ["USAGE_ERROR", "configure"]

USAGE_ERROR = 2


def configure(backend: str | None, strict: bool) -> None:
    """Select the backends, for this process and those that the script starts. A selection that cannot be ends the
    command with a line of explanation."""
    if strict:
        os.environ["LAZYCORE_STRICT"] = "1"
        config.strict = True
    if backend is None:
        return
    os.environ[ENVIRONMENT] = backend
    try:
        use_backend(backend)
    except LazycoreError as error:
        typer.echo(f"lazycore: {error}", err=True)
        raise typer.Exit(USAGE_ERROR) from error
