"""A plan as a drawing: steps as boxes in layers, what crosses as curves between them."""

from __future__ import annotations

from dataclasses import dataclass

from lazycore.report.explain.records import PlanRecord

__all__ = ["Box", "Curve", "Drawing", "draw"]

WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 230, 76, 28, 56, 14
WIDEST = 5
"""Boxes side by side before a layer goes on below: long chains of eager steps stay on a screen."""


@dataclass(frozen=True)
class Box:
    """One step: where its box lies and what is written in it."""

    x: int
    y: int
    backend: str
    title: str
    note: str
    ops: str


@dataclass(frozen=True)
class Curve:
    """One crossing, as an SVG path; ``weight`` is the stroke's width."""

    path: str
    label: str
    weight: float


@dataclass(frozen=True)
class Drawing:
    """A plan's boxes and curves, and the size of the sheet."""

    width: int
    height: int
    boxes: list[Box]
    curves: list[Curve]


def draw(plan: PlanRecord) -> Drawing:
    """Lay the steps out in layers by the longest way from a step without producers."""
    places = _places(plan)
    boxes = [_box(plan, position, place) for position, place in enumerate(places)]
    inner = [c for c in plan.crossings if c.source >= 0 and c.target >= 0]
    curves = [_curve(boxes[c.source], boxes[c.target], c.values, c.nbytes) for c in inner]
    width = max((b.x for b in boxes), default=0) + WIDTH + MARGIN
    height = max((b.y for b in boxes), default=0) + HEIGHT + MARGIN
    return Drawing(width, height, boxes, curves)


def _places(plan: PlanRecord) -> list[tuple[int, int]]:
    level = [0] * len(plan.steps)
    for crossing in sorted((c for c in plan.crossings if c.source >= 0 and c.target >= 0), key=lambda c: c.target):
        level[crossing.target] = max(level[crossing.target], level[crossing.source] + 1)
    rows: list[list[int]] = []
    for number in range(max(level, default=-1) + 1):
        members = [i for i, own in enumerate(level) if own == number]
        rows += [members[at : at + WIDEST] for at in range(0, len(members), WIDEST)]
    where = {step: (column, row) for row, members in enumerate(rows) for column, step in enumerate(members)}
    return [where[i] for i in range(len(plan.steps))]


def _box(plan: PlanRecord, position: int, place: tuple[int, int]) -> Box:
    step = plan.steps[position]
    column, row = place
    count = sum(step.ops.values())
    note = f"{count} op{'s' if count != 1 else ''}"
    if step.seconds is not None:
        note += f", {step.seconds * 1e3 / step.runs:.2f} ms"
    x, y = MARGIN + column * (WIDTH + GAP_X), MARGIN + row * (HEIGHT + GAP_Y)
    return Box(x, y, step.backend, f"{step.backend}: {step.name}", note, _commonest(step.ops))


def _commonest(ops: dict[str, int]) -> str:
    """The ops that a step has most of, by their plain names."""
    ordered = sorted(ops.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{op.split('.')[1]} {count}" for op, count in ordered)


def _curve(source: Box, target: Box, values: int, nbytes: int) -> Curve:
    x1, y1 = source.x + WIDTH // 2, source.y + HEIGHT
    x2, y2 = target.x + WIDTH // 2, target.y
    bend = max(24, (y2 - y1) // 2)
    path = f"M {x1} {y1} C {x1} {y1 + bend}, {x2} {y2 - bend}, {x2} {y2}"
    return Curve(path, f"{values} values, {nbytes} bytes", min(6.0, 1.0 + nbytes.bit_length() / 6))
