"""The back half in one call: graph -> rewrites -> patterns -> legalization -> partition -> compile -> plan."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from lazycore_plugin_api import Constants, Graph, HostArray, LazycoreError, Pattern, verify

from lazycore.compiler.annotate import Annotator
from lazycore.compiler.attempts import Attempts, Task
from lazycore.compiler.failures import BackendWarning
from lazycore.compiler.patterns import compose
from lazycore.compiler.placement import LostMatch
from lazycore.compiler.plan import Plan
from lazycore.compiler.protocols import Backend, Decompose, Observer, Quiet
from lazycore.compiler.rewrites import rewrite
from lazycore.compiler.sizing.family import Families

__all__ = ["compile_graph"]


def compile_graph(
    graph: Graph,
    *,
    scalars: frozenset[int],
    donatable: frozenset[int],
    replaced: Mapping[int, int] = MappingProxyType({}),
    backends: Sequence[Backend],
    decompose: Decompose,
    strict: bool = False,
    observer: Observer | None = None,
    constants: Mapping[int, HostArray] | None = None,
    insist: bool = False,
    families: Families | None = None,
    ahead: bool = False,
) -> Plan:
    """Compile a graph for the selected backends, tried in order.

    ``scalars``: positions of inputs that arrive as 0-d host arrays. ``donatable``: positions of inputs whose buffer
    nobody reads after the graph; ``replaced``: position of such an input -> of the output that takes its place.
    ``constants``: position of an input -> what it will always be, for backends that bind frozen inputs. ``families``:
    what was compiled for all sizes, to be used and added to; without, everything is compiled for its own sizes.
    ``ahead``: whether numbers may be segments of their own, so that they are there before the rest
    (``compiler.ahead``).

    What no backend takes, whole or decomposed, becomes an eager step. A segment that its backend cannot compile goes to
    the next backend, then to eager, with a ``BackendWarning``. Raises BackendError instead of both where ``strict``,
    instead of the latter where ``insist``; InvalidGraph for a graph that breaks a rule of the IR.
    """
    verify(graph)
    annotator = Annotator(backends)
    graph = rewrite(graph)
    frozen = frozenset(graph.inputs[p].id for p in constants or ())
    lost: list[LostMatch] = []
    for position, backend in enumerate(backends):
        bound = frozenset[int]() if backend.info.constants is Constants.passed else frozen
        graph, more = compose(graph, annotator, position, _patterns(backend, strict), bound)
        lost += more
    task = Task(scalars, donatable, replaced, constants or {}, decompose, strict, strict or insist, families, ahead)
    attempts = Attempts(graph, annotator, task, observer or Quiet(), lost)
    while not attempts.attempt():
        pass
    return attempts.plan()


def _patterns(backend: Backend, strict: bool) -> Sequence[Pattern]:
    try:
        return backend.patterns()
    except LazycoreError as error:
        if strict:
            raise
        warnings.warn(f"{error}; the backend is used without its patterns", BackendWarning, stacklevel=3)
        return ()
