"""``lazycore conformance``: its options."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["conformance"]


def conformance(
    backend: Annotated[str, typer.Option(help="The one to prove: name[:device][?option=value].")] = "",
    level: Annotated[int, typer.Option(min=0, max=5, help="Up to which level.")] = 5,
    sample: Annotated[bool, typer.Option("--sample", help="A fixed share of the cases: minutes, not hours.")] = False,
    cases: Annotated[str, typer.Option(help="Only cases whose id contains this regular expression.")] = "",
    report: Annotated[Path | None, typer.Option(help="Where report.json, junit.xml and scorecard.html go.")] = None,
    resume: Annotated[
        Path | None, typer.Option(exists=True, file_okay=False, help="Go on with the run whose --report this was.")
    ] = None,
    compare: Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="An earlier report.json.")] = None,
    jobs: Annotated[int, typer.Option("-n", "--jobs", min=1, help="Cases at a time.")] = os.cpu_count() or 1,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds that a case may take.")] = 120.0,
) -> None:
    """Prove a backend: contract, operators, training, semantics, programs, endurance. Exit code 0 if nothing is wrong,
    1 if something is, 2 if nothing could be run."""
    # No other command needs the suite.
    from lazycore.conformance.console import prove
    from lazycore.conformance.running import Request

    if bool(backend) == bool(resume):
        raise typer.BadParameter("say either --backend or --resume, which goes on with the backend of that run")
    request = Request(backend, level, sample, cases, jobs, timeout)
    raise typer.Exit(prove(request, resume or report, compare, resume is not None))
