"""docs/coverage.md: which operators run on which backend, of what was measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tools.coverage.data import FOLDER, Coverage
from tools.coverage.marks import MARKS, Cell, worst

__all__ = ["GROUPS", "PAGE", "page"]

PAGE = FOLDER.parent / "coverage.md"
SHOWN = 12

_HEAD = """\
# What runs on which backend

<!-- Made by `make docs` from docs/coverage/*.json. Not edited by hand. -->

PyTorch's own operator database (OpInfo) has sample inputs for each of its operators. `make opinfo` runs them on a
backend that is selected alone, compares values and gradients with the CPU's, and notes what ran where: what the backend
does not take, PyTorch runs on the CPU, which is right as well but no use of the backend. The numbers are counts of a
few evenly chosen samples per operator and dtype, forward and backward counted apart.
[The table of lowerings](opset-table.md) says which operators the backends claim; this page is what was measured.

`python -m tools.coverage collect BACKEND opinfo.jsonl...` brings rows of new runs into `docs/coverage`.
"""


_LEGEND = """
An empty cell: not measured, mostly as the CPU does not compute it, either. A column of two dtypes shows the worse one.
A gradient is a formula of several operators: native is one of which nothing had to be decomposed. The last column names
what PyTorch ran.
"""


@dataclass(frozen=True)
class Group:
    """A column of each backend."""

    title: str
    dtypes: tuple[str, ...]
    direction: str = "forward"


GROUPS = (
    Group("float32", ("float32",)),
    Group("float32 backward", ("float32",), "backward"),
    Group("int64, bool", ("int64", "bool")),
    Group("float16, bfloat16", ("float16", "bfloat16")),
    Group("float64", ("float64",)),
    Group("complex64", ("complex64",)),
)
_FORWARD = Group("float32, int64, bool", ("float32", "int64", "bool"))


def page(measured: Sequence[Coverage]) -> str:
    """The page's text."""
    return "\n".join([_HEAD, *_summary(measured), *_fallbacks(measured), *_table(measured)]) + "\n"


def _summary(measured: Sequence[Coverage]) -> Iterator[str]:
    yield "## Samples without any fallback\n"
    yield f"| | {' | '.join(c.backend for c in measured)} |"
    yield f"| --- |{' ---: |' * len(measured)}"
    for group in (_FORWARD, *GROUPS):
        yield f"| {group.title} | {' | '.join(_share(c, group) for c in measured)} |"
    yield ""
    yield f"Operators, by the worst that became of their {_FORWARD.title} samples and gradients:\n"
    yield f"| | {' | '.join(c.backend for c in measured)} |"
    yield f"| --- |{' ---: |' * len(measured)}"
    for mark, meaning in MARKS.items():
        yield f"| {meaning.partition(':')[0]} | {' | '.join(str(_operators(c, mark)) for c in measured)} |"
    yield ""
    yield from (f"- {coverage.backend}: {_circumstances(coverage)}" for coverage in measured)


def _share(coverage: Coverage, group: Group) -> str:
    cells = coverage.cells(group.dtypes, group.direction)
    tried, native = sum(c.tried for c in cells), sum(c.native for c in cells)
    return f"{100 * native / tried:.1f} % of {tried}" if tried else ""


def _operators(coverage: Coverage, mark: str) -> int:
    whole = (worst(_marks(kinds, _FORWARD.dtypes)) for kinds in coverage.ops.values())
    return sum(found == mark for found in whole)


def _marks(kinds: Mapping[str, Mapping[str, Cell]], dtypes: Iterable[str]) -> Iterator[str]:
    return (cell.mark for dtype in dtypes for cell in kinds.get(dtype, {}).values())


def _circumstances(coverage: Coverage) -> str:
    """What it was measured with, and what is not right, which tests/opinfo/known.json gives the reasons of."""
    cells = [(op, c) for op, kinds in coverage.ops.items() for ways in kinds.values() for c in ways.values()]
    versions = ", ".join(f"{package} {number}" for package, number in coverage.versions.items())
    most = max((c.tried for _, c in cells), default=0)
    tried, wrong = sum(c.tried for _, c in cells), sum(c.tried - c.right for _, c in cells)
    where = ", ".join(sorted({f"`{op}`" for op, c in cells if c.right < c.tried}))
    named = f", all of {where}" if where else ""
    return f"{versions}; up to {most} samples each; {wrong} of {tried} passes refused or wrong{named}"


def _fallbacks(measured: Sequence[Coverage]) -> Iterator[str]:
    yield "\n## What falls back most\n\nBy operators and dtypes of the database that meet it.\n"
    for coverage in measured:
        count: Counter[str] = Counter()
        for kinds in coverage.ops.values():
            for ways in kinds.values():
                count.update({_short(op) for cell in ways.values() for op in cell.eager})
        ordered = sorted(count.items(), key=lambda item: (-item[1], item[0]))[:SHOWN]
        yield f"- {coverage.backend}: {', '.join(f'`{op}` {n}' for op, n in ordered) or 'nothing'}"


def _table(measured: Sequence[Coverage]) -> Iterator[str]:
    yield "\n## Operator by operator\n"
    yield from (f"- **{mark}** {meaning}" for mark, meaning in MARKS.items())
    yield _LEGEND
    titles = [f"{c.backend} {g.title}" for c in measured for g in GROUPS]
    yield f"| operator | {' | '.join(titles)} | fell back |"
    yield f"| --- |{' :---: |' * len(titles)} --- |"
    for op in sorted({op for coverage in measured for op in coverage.ops}):
        marks = (_mark(coverage, op, group) for coverage in measured for group in GROUPS)
        yield f"| `{op}` | {' | '.join(marks)} | {_eager(measured, op)} |"


def _mark(coverage: Coverage, op: str, group: Group) -> str:
    kinds = coverage.ops.get(op, {})
    cells = (kinds[d][group.direction] for d in group.dtypes if group.direction in kinds.get(d, {}))
    return worst(cell.mark for cell in cells).strip()


def _eager(measured: Sequence[Coverage], op: str) -> str:
    named = []
    for coverage in measured:
        ways = (way for kind in coverage.ops.get(op, {}).values() for way in kind.values())
        ops = sorted({_short(name) for cell in ways for name in cell.eager})
        if ops:
            named.append(f"{coverage.backend}: {', '.join(ops)}")
    return "; ".join(named)


def _short(op: str) -> str:
    return op.removeprefix("aten.").removesuffix(".default")
