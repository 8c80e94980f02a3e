"""An explanation as data, as text, as JSON and as a page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lazycore.report.explain.ledger import LEDGER
from lazycore.report.explain.page import render
from lazycore.report.explain.records import EAGER, PlanRecord
from lazycore.report.metrics import metrics

__all__ = ["FORMAT", "Explanation", "LineReport", "explain"]

FORMAT = 1
SHOWN = 20


@dataclass(frozen=True)
class LineReport:
    """One line of the user's program: ops by where they run, and the reasons of the eager ones."""

    line: str
    ops: dict[str, int]
    eager: dict[str, str]


@dataclass(frozen=True)
class Explanation:
    """What the process has run so far. ``divergences``: why traces were compiled beyond the first, oldest first."""

    counters: dict[str, Any]
    plans: list[PlanRecord]
    lines: list[LineReport]
    divergences: list[dict[str, Any]]

    def to_json(self) -> str:
        """The whole as JSON; ``format`` changes where a reader would have to."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=1)

    def to_html(self) -> str:
        """One page that needs nothing else, with each plan drawn."""
        return render(self)

    def __str__(self) -> str:
        return "\n".join([*self._head(), *self._plans(), *self._lines(), *self._causes()])

    def _head(self) -> list[str]:
        c = self.counters
        return [
            f"{c['ops_recorded']} ops recorded, {c['syncs']} traces run ({c['cache_hits']} known), "
            f"{c['compiles']} compilations in {c['compile_seconds']:.2f} s",
            "",
        ]

    def _plans(self) -> list[str]:
        out = ["Plans"]
        for plan in self.plans:
            out.append(f"  {plan.number}. {plan.summary.removeprefix('lazycore: ')}; ended by {plan.cause}")
            for step in plan.steps if len(plan.steps) <= SHOWN else plan.steps[:SHOWN]:
                timed = f", {step.seconds * 1e3 / step.runs:.2f} ms x {step.runs}" if step.seconds is not None else ""
                sizes = f", {step.sizes}" if step.sizes else ""
                out.append(f"       {step.backend}: {step.name}, {sum(step.ops.values())} ops{sizes}{timed}")
            inner = [c for c in plan.crossings if c.source >= 0 and c.target >= 0]
            if inner:
                moved = sum(c.nbytes for c in inner)
                out.append(f"       {sum(c.values for c in inner)} values cross between steps, {_size(moved)}")
        return [*out, ""]

    def _lines(self) -> list[str]:
        out = ["Lines"]
        for line in self.lines[:SHOWN]:
            placed = ", ".join(f"{backend} {n}" for backend, n in line.ops.items())
            out.append(f"  {line.line}: {placed}")
            out += [f"       eager {op}: {why}" for op, why in line.eager.items()]
        if len(self.lines) > SHOWN:
            out.append(f"  and {len(self.lines) - SHOWN} more")
        return [*out, ""]

    def _causes(self) -> list[str]:
        if not self.divergences:
            return ["No trace left the known paths."]
        return ["Where traces left the known paths", *(f"  {d['text']}" for d in self.divergences[-SHOWN:])]


def explain(divergences: Sequence[Any] = ()) -> Explanation:
    """Everything known now. ``divergences`` come from the trace tree."""
    counters = {k: dict(v) if k == "fallbacks" else v for k, v in metrics().items()}
    plans = list(LEDGER.plans)
    return Explanation(counters, plans, _by_line(plans), [_divergence(d) for d in divergences])


def _divergence(d: Any) -> dict[str, Any]:
    where = str(d.source) if d.source else None
    return {
        "op": d.op,
        "operand": d.operand,
        "line": where,
        "depth": d.depth,
        "difference": d.difference,
        "text": str(d),
    }


def _by_line(plans: Sequence[PlanRecord]) -> list[LineReport]:
    counts: dict[str, Counter[str]] = {}
    reasons: dict[str, dict[str, str]] = {}
    for plan in plans:
        for step in plan.steps:
            for line, ops in step.lines.items():
                counts.setdefault(line, Counter())[step.backend] += sum(ops.values())
        for entry in plan.refused:
            if entry["taken_by"] == EAGER:
                reasons.setdefault(str(entry["line"]), {})[str(entry["op"])] = _why(entry["refusals"])
    ordered = sorted(counts, key=lambda line: (-counts[line].total(), line))
    return [LineReport(line, dict(counts[line]), reasons.get(line, {})) for line in ordered]


def _why(refusals: Any) -> str:
    return "; ".join(f"{r['backend']}: {r['reason']}" for r in refusals)


def _size(nbytes: int) -> str:
    for unit in ("B", "KiB", "MiB"):
        if nbytes < 1024:
            return f"{nbytes} {unit}"
        nbytes //= 1024
    return f"{nbytes} GiB"
