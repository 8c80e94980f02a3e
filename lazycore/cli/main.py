"""The command line: a function for each command of ``lazycore``, its options, and what it hands them to."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import lazycore
from lazycore.cli import cache
from lazycore.cli.allocator import keep_memory, peak_mib
from lazycore.cli.configure import configure
from lazycore.cli.conformance import conformance
from lazycore.cli.listing import list_backends
from lazycore.cli.script import run_script
from lazycore.config import config
from lazycore.plugins import current
from lazycore.plugins.grammar import GRAMMAR
from lazycore.report.metrics import metrics
from lazycore.report.placement import summary

__all__ = ["main"]

PIPE_WIDTH = 200
_KEEP = (
    "Freed memory stays with the process, so that steps do not fault it in anew (glibc), or goes back to the system."
)

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="A PyTorch device that compiles with the codegen you bring."
)
app.add_typer(cache.app, name="cache")
app.command()(conformance)


def main() -> None:
    """The console script. Always raises SystemExit."""
    # The script runs when typer is through, since typer would turn its KeyboardInterrupt and errors into its own.
    launches: list[Callable[[], None]] = []
    try:
        typer.main.get_command(app).main(prog_name="lazycore", obj=launches)
    except SystemExit as stop:
        if not launches or stop.code:
            raise
    launches[0]()
    raise SystemExit(0)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lazycore {version('lazycore')}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Options of the command itself."""


@app.command(context_settings={"allow_interspersed_args": False})
def run(
    context: typer.Context,
    script: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="A Python file.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="The script's own arguments.")] = None,
    backend: Annotated[str | None, typer.Option(help=f"Backends, in order: {GRAMMAR}", metavar="SELECTION")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="An op that no backend takes is an error.")] = False,
    keep: Annotated[bool, typer.Option("--keep-memory/--return-memory", help=_KEEP)] = True,
) -> None:
    """Run a script, with the lazycore device at hand, and print what ran where."""
    configure(backend, strict)
    if keep:
        keep_memory()
    atexit.register(_print_summary, os.getpid())
    context.obj.append(lambda: run_script(str(script), arguments or []))


@app.command(context_settings={"allow_interspersed_args": False})
def explain(
    context: typer.Context,
    script: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="A Python file.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="The script's own arguments.")] = None,
    backend: Annotated[str | None, typer.Option(help=f"Backends, in order: {GRAMMAR}", metavar="SELECTION")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the explanation as JSON.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the explanation as a page.")] = None,
) -> None:
    """Run a script, timing each step, and say what ran where and why."""
    configure(backend, False)
    config.explain = True
    atexit.register(_print_explanation, os.getpid(), json, html)
    context.obj.append(lambda: run_script(str(script), arguments or []))


def _print_explanation(pid: int, json: Path | None, html: Path | None) -> None:
    if os.getpid() != pid:
        return  # a forked child of the script
    explanation = lazycore.explain()
    if json is not None:
        json.write_text(explanation.to_json())
    if html is not None:
        html.write_text(explanation.to_html())
    typer.echo(str(explanation), err=True)


@app.command(context_settings={"allow_interspersed_args": False})
def verify(
    context: typer.Context,
    script: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="A Python file.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="The script's own arguments.")] = None,
    backend: Annotated[str | None, typer.Option(help=f"Backends, in order: {GRAMMAR}", metavar="SELECTION")] = None,
    out: Annotated[Path, typer.Option(help="Where a reproducer is written.")] = Path("lazycore-repro.zip"),
    rtol: Annotated[float | None, typer.Option(min=0, help="Relative tolerance of all floating dtypes.")] = None,
    atol: Annotated[float | None, typer.Option(min=0, help="Absolute tolerance of all floating dtypes.")] = None,
) -> None:
    """Run a script, comparing every segment with eager PyTorch, and reduce the first that differs to its wrong op."""
    from lazycore.cli.verifying import verify_script

    configure(backend, False)
    context.obj.append(lambda: verify_script(str(script), arguments or [], out.absolute(), rtol, atol))


@app.command()
def repro(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="What `verify` wrote.")],
    backend: Annotated[str | None, typer.Option(help="Another backend than the one that was wrong.")] = None,
) -> None:
    """Run a reproducer. Exit code 1 while the backend's result differs, 0 when it is right."""
    from lazycore.cli.verifying import rerun

    rerun(file, backend)


@app.command("new-backend")
def new_backend(
    name: Annotated[str, typer.Argument(help="What --backend will take.")],
    directory: Annotated[Path, typer.Option("--dir", help="Where the package's folder is made.")] = Path(),
) -> None:
    """Make a backend's package: entry point, a few operators, tests. It installs and passes its tests as it is."""
    from lazycore.cli.creating import new_package

    new_package(name, directory)


@app.command()
def backends(
    verbose: Annotated[bool, typer.Option("--verbose", help="Show why a plugin is broken: its traceback.")] = False,
) -> None:
    """List the installed backends."""
    # Rich takes a pipe for 80 columns wide and would cut what a program is to read.
    list_backends(Console(width=None if sys.stdout.isatty() else PIPE_WIDTH), verbose)


def _print_summary(process: int) -> None:
    # A forked child inherits the registration; the line is the parent's to print.
    if os.getpid() == process:
        counts = metrics()
        line = summary(counts, current() if counts["ops_recorded"] else ())
        peak = peak_mib()
        print(line if peak is None else f"{line}; peak memory: {peak} MiB", file=sys.stderr, flush=True)
