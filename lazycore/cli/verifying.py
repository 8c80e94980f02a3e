"""``lazycore verify`` and ``lazycore repro``: which op a backend gets wrong, and the file that shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import typer
from lazycore_plugin_api import BackendError, DType, LazycoreError, Rejected, Segment
from lazycore_plugin_api.difference import Difference, Tolerance, tolerance_of
from lazycore_plugin_api.repro import describe, differences, execute
from lazycore_plugin_api.reproducer import Reproducer, read, write

import lazycore
from lazycore.cli.configure import USAGE_ERROR
from lazycore.cli.script import run_script
from lazycore.compiler.patterns import dissolve
from lazycore.config import config
from lazycore.frontend.eager import run_eager
from lazycore.frontend.launch import WATCHERS
from lazycore.plugins import use_backend
from lazycore.plugins.backend import LoadedBackend
from lazycore.verify.finding import Finding
from lazycore.verify.watch import Stop, Verifier

__all__ = ["rerun", "verify_script"]

DIFFERS = 1


def verify_script(script: str, arguments: Sequence[str], out: Path, rtol: float | None, atol: float | None) -> None:
    """Run a script with every segment compared. Always raises SystemExit: 0 where all is right, 1 where something
    differs, 2 where nothing was compared; the script's own code where it failed before anything differed."""
    # What is verified is what the compiler makes today, not what an earlier one left on disk.
    config.cache = False
    verifier = Verifier(run_eager, _tolerances(rtol, atol))
    WATCHERS.append(verifier.watch)
    code = _code(lambda: run_script(script, arguments))
    if verifier.finding is None:
        code = code or _code(lazycore.sync)
    raise SystemExit(_conclude(verifier, code, out))


def _tolerances(rtol: float | None, atol: float | None) -> dict[DType, Tolerance]:
    """The tolerances of the command line, where there are any."""
    tolerances = {}
    for dtype in (d for d in DType if d.is_floating or d.is_complex):
        own = tolerance_of(dtype)
        tolerances[dtype] = Tolerance(own.rtol if rtol is None else rtol, own.atol if atol is None else atol)
    return tolerances


def _code(action: Callable[[], object]) -> int | str | None:
    try:
        action()
    except Stop:
        return DIFFERS
    except SystemExit as stop:
        return stop.code
    return 0


def _conclude(verifier: Verifier, code: int | str | None, out: Path) -> int | str:
    if verifier.finding is not None:
        _report(verifier.finding, out)
        return DIFFERS
    for segment, reason in verifier.unknown.items():
        typer.echo(
            f"lazycore verify: eager PyTorch cannot compute {segment}, so it was not compared: {reason}", err=True
        )
    compared = f"{verifier.launches} launches of {verifier.segments} segments compared with eager PyTorch"
    if code:
        typer.echo(f"lazycore verify: the script failed; until then, {compared}: none differs", err=True)
        return code
    if not verifier.launches:
        typer.echo("lazycore verify: nothing was compared, as no segment ran on a backend", err=True)
        return USAGE_ERROR
    typer.echo(f"lazycore verify: {compared}: none differs", err=True)
    return 0


def _report(finding: Finding, out: Path) -> None:
    typer.echo(f"lazycore verify: {finding}", err=True)
    try:
        write(finding.reproducer, out)
    except OSError as error:
        typer.echo(f"  the reproducer could not be written: {error}", err=True)
        return
    typer.echo(f"  `lazycore repro {out}` shows it again", err=True)


def rerun(file: Path, selection: str | None) -> None:
    """Run a reproducer on the backend that was wrong or another one. Always raises SystemExit: 0 where the result is
    right, 1 where it differs, 2 where it cannot be run."""
    config.cache = False
    try:
        reproducer = read(file)
        backend = _backend(reproducer, selection)
        found, shown = _outcome(reproducer, backend)
    except (LazycoreError, OSError) as error:
        typer.echo(f"lazycore repro: {error}", err=True)
        raise SystemExit(USAGE_ERROR) from error
    typer.echo(describe(shown, found, str(backend)))
    raise SystemExit(DIFFERS if found else 0)


def _backend(reproducer: Reproducer, selection: str | None) -> LoadedBackend:
    (backend, *others) = use_backend(selection or _selection(reproducer)).backends
    if others:
        raise LazycoreError("a reproducer runs on one backend; name one")
    return backend


def _selection(reproducer: Reproducer) -> str:
    target = reproducer.target
    options = "&".join(f"{name}={value}" for name, value in target.options.items())
    return f"{target.backend}:{target.device}" + (f"?{options}" if options else "")


def _outcome(reproducer: Reproducer, backend: LoadedBackend) -> tuple[list[Difference], Reproducer]:
    """What differs, and the reproducer as it was run."""
    if backend.name != reproducer.target.backend:
        reproducer = replace(reproducer, segment=_without_composites(reproducer.segment))
    for node in reproducer.segment.nodes:
        decision = backend.supports(node)
        if isinstance(decision, Rejected):
            raise BackendError(f"{backend} does not take {node.op}: {decision.reason}")
    return differences(reproducer, execute(backend, reproducer.segment, reproducer.inputs)), reproducer


def _without_composites(segment: Segment) -> Segment:
    """The segment for another backend than the one whose patterns made its composites."""
    plain = dissolve(segment, lambda _: True)
    return replace(segment, nodes=plain.nodes, outputs=plain.outputs)
