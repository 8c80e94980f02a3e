"""Write docs/opset-table.md: every operator that the opset has a row for, and which backends compute it themselves.

The page is made of the table (``lazycore_plugin_api.opset``) and of the backends' registries; ``make docs`` runs this.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

from lazycore_plugin_api.opset import FAMILIES, OpRow, result_dtypes, shapes

__all__ = ["PAGE", "page"]

PAGE = Path(__file__).parents[1] / "docs" / "opset-table.md"
BACKENDS = ("reference", "xla", "tvm")
SHAPES = (
    "elementwise",
    "reduction",
    "matmul",
    "convolution",
    "pooling",
    "normalization",
    "indexing",
    "views",
    "spectral",
)

_HEAD = """\
# The operators, one by one

<!-- Made by `make docs` from lazycore_plugin_api.opset and the backends' registries. Not edited by hand. -->

[opset.md](opset.md) has the rules that hold for all operators. Here is what `lazycore_plugin_api.opset` knows of each:
its schema, the dtype and the shape of its outputs by the rules that the [end of the page](#rules) explains, and where
its semantics are easily got wrong. The last columns say which backends of this repository compute it themselves (for
dtypes and arguments that they accept); what none of them does is decomposed or run by PyTorch. Operators without a row
are legal, too: they are run all the same, but nobody checks their nodes.

`infer(node)` gives the specs of a node's outputs by these rules, and `verify(graph)` holds every node to them.
"""


def lowered(backend: str) -> frozenset[str]:
    """The overloads that a backend's registry lists. Raises ImportError where it, or its compiler, is missing."""
    importlib.import_module(f"lazycore_{backend}.lowerings")
    registry = importlib.import_module(f"lazycore_{backend}.registry")
    return frozenset(registry.operators() if hasattr(registry, "operators") else registry.TABLE)


def page() -> str:
    """The page's text."""
    native = {backend: lowered(backend) for backend in BACKENDS}
    return "\n".join([_HEAD, *_counts(native), *_tables(native), *_rules()]) + "\n"


def _counts(native: Mapping[str, frozenset[str]]) -> Iterator[str]:
    rows = [row for family in FAMILIES.values() for row in family]
    for backend, ops in native.items():
        yield f"- {backend}: {sum(row.name in ops for row in rows)} of {len(rows)}"


def _tables(native: Mapping[str, frozenset[str]]) -> Iterator[str]:
    for title, rows in FAMILIES.items():
        yield f"\n## {title}\n"
        yield f"| operator | dtype | shape | note | {' | '.join(native)} |"
        yield f"| --- | --- | --- | --- |{' --- |' * len(native)}"
        for row in sorted(rows, key=lambda row: row.name):
            yield _line(row, native.values())


def _line(row: OpRow, native: Iterable[frozenset[str]]) -> str:
    assert row.dtype is not None
    assert row.shape is not None
    marks = ("✓" if row.name in ops else "" for ops in native)
    return f"| `{row.signature}` | {row.dtype.text} | {row.shape.text} | {row.note} | {' | '.join(marks)} |"


def _rules() -> Iterator[str]:
    yield "\n## Rules\n\nIn brackets are the arguments that a rule reads.\n\n### Dtypes\n"
    yield from _explained(result_dtypes)
    yield "\n### Shapes\n"
    for name in SHAPES:
        yield from _explained(importlib.import_module(f"{shapes.__name__}.{name}"))


def _explained(module: ModuleType) -> Iterator[str]:
    for name in sorted(module.__all__):
        text = " ".join(inspect.cleandoc(getattr(module, name).__doc__).split()).replace("``", "`")
        yield f"- `{name}`: {text}"


if __name__ == "__main__":
    PAGE.write_text(page())
