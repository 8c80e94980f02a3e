"""``lazycore cache``: what compiled programs are kept on disk, and how to be rid of them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import Annotated

import typer
from lazycore_plugin_api import ArtifactMeta
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lazycore.artifacts.entry import Damaged, peek
from lazycore.artifacts.location import store
from lazycore.artifacts.store import Kept
from lazycore.config import config

__all__ = ["app"]

PIPE_WIDTH = 200
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))

app = typer.Typer(no_args_is_help=True, help="Compiled programs that are kept on disk.")


@app.command()
def ls() -> None:
    """List what is kept, the one used last first."""
    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
    files = store().kept()
    if files:
        console.print(_table(reversed(files)))
    state = "" if config.cache else "; not in use, as LAZYCORE_CACHE=0"
    console.print(
        f"{_programs(files)} in {escape(str(store().root))}, of at most {_size(store().capacity)}{state}",
        highlight=False, soft_wrap=True,
    )  # fmt: skip


@app.command()
def clear(
    backend: Annotated[str | None, typer.Option(help="Only this backend's.", metavar="NAME")] = None,
) -> None:
    """Delete what is kept; programs that are running do not need it any more."""
    kept = store()
    files = kept.kept()
    if backend is not None:
        files = [file for file in files if _backend(file) == backend]
    for file in files:
        kept.drop(file.key)
    typer.echo(f"deleted {_programs(files)} from {kept.root}")


def _table(files: Iterable[Kept]) -> Table:
    table = Table("program", "backend", "version", "size", "last used", "for", box=None, pad_edge=False)
    table.columns[3].justify = table.columns[4].justify = "right"
    table.columns[-1].overflow = "fold"
    now = time.time()
    for file in files:
        backend, version, purpose = _described(file)
        table.add_row(file.key[:12], backend, version, _size(file.size), _age(now - file.used), purpose)
    return table


def _described(file: Kept) -> tuple[str, str, str]:
    """Backend, version and what for, as markup."""
    meta = _meta(file)
    if meta is None:
        return "[red]damaged[/]", "", ""
    options = "".join(f", {name}={value}" for name, value in sorted(meta.target.options.items()))
    purpose = f"{meta.target.device}{options}" + (f"; {meta.fingerprint}" if meta.fingerprint else "")
    return escape(meta.backend), escape(meta.backend_version), escape(purpose)


def _meta(file: Kept) -> ArtifactMeta | None:
    try:
        return peek(file.path)
    except (Damaged, OSError):
        # Shown as what it is; the program that wants it says more, and drops it.
        return None


def _backend(file: Kept) -> str | None:
    meta = _meta(file)
    return meta.backend if meta else None


def _programs(files: list[Kept]) -> str:
    total = _size(sum(file.size for file in files))
    return f"{len(files)} program{'s' * (len(files) != 1)}, {total}"


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def _age(seconds: float) -> str:
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{seconds / length:.0f} {unit} ago"
    return f"{max(seconds, 0):.0f} s ago"
