"""``fuzz/<kind>/<seed>``: the graph of a seed, and where it is wrong, the smallest part that is.

Three compute it: the backend, the reference backend and PyTorch on the CPU.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

from lazycore_plugin_api import DType, HostArray, Segment, Supported, to_text, verify
from lazycore_plugin_api.difference import Tolerance, compare

from lazycore.conformance.case import Case, Failed, Outcome, Skipped, Status
from lazycore.conformance.context import Context
from lazycore.conformance.fuzz.graphs import Choice, Drawn, Menu, built, chosen_at_random
from lazycore.conformance.fuzz.menus import exact_menu, rounding_menu
from lazycore.conformance.graph.check import compiled, run_segment
from lazycore.conformance.graph.oracle import Eager
from lazycore.conformance.placement import label_of
from lazycore.conformance.tolerances import FUNCTIONS, ulp

__all__ = ["KINDS", "cases", "run"]

SIZE = 24
_SPARE = 8
"""As many times the choices are drawn, so that a backend of few operators gets graphs as deep as another."""
_EXACT = Tolerance()
# A chain of a dozen functions whose values stay near 1, each as far off as one may be by itself.
_FAR = 12 * FUNCTIONS * ulp(DType.float32)
# Kind -> menu, tolerance, seeds.
KINDS: dict[str, tuple[Menu, Tolerance, int]] = {
    "rounding": (rounding_menu(DType.float32), Tolerance(_FAR, _FAR), 60),
    "exact-float32": (exact_menu(DType.float32), _EXACT, 20),
    "exact-bfloat16": (exact_menu(DType.bfloat16), _EXACT, 10),
    "exact-int64": (exact_menu(DType.int64), _EXACT, 10),
}


def cases() -> list[Case]:
    """One per kind and seed."""
    return [Case(3, f"fuzz/{kind}/{seed}") for kind, (_, _, seeds) in KINDS.items() for seed in range(seeds)]


def run(case: Case, context: Context) -> Outcome:
    """Run the graph of the seed, of the ops that the backend takes. Raises Skipped where the reference and PyTorch
    disagree about what is right."""
    kind, _, seed = case.name.partition("/")
    contest = _Contest(context, *KINDS[kind][:2], int(seed))
    choices = contest.kept(chosen_at_random(int(seed), SIZE * _SPARE))
    found = contest.difference(choices)
    if isinstance(found, str):
        return Outcome(Status.failed, _smallest(choices, found, contest))
    if found is None:
        return Outcome(Status.unclaimed, "it takes none of the operators of the graph")
    labels = {label_of(node) for node in found.nodes}
    return Outcome(samples=1, claimed=set(labels), executed=labels)


class _Contest:
    """The backend against those who know."""

    def __init__(self, context: Context, menu: Menu, tolerance: Tolerance, seed: int) -> None:
        self._context, self._menu, self._tolerance, self._seed = context, menu, tolerance, seed

    def kept(self, choices: Sequence[Choice]) -> list[Choice]:
        """The first of the choices that come to something on this backend."""
        return list(dict.fromkeys(self._taken(choices).origins))[:SIZE]

    def difference(self, choices: Sequence[Choice]) -> Segment | str | None:
        """The segment where the backend is right, what is wrong where it is not, None where it takes nothing."""
        drawn = self._taken(choices)
        segment = drawn.segment
        if not segment.nodes:
            return None
        verify(segment)
        expected = self._expected(drawn)
        backend = self._context.backend
        try:
            outputs = run_segment(backend, compiled(backend, segment), segment, drawn.arrays, self._context.foreign)
        except Failed as error:
            return f"{error}\n{to_text(segment)}"
        found = self._compared(outputs, expected)
        return f"{found}\n{to_text(segment)}" if found else segment

    def _taken(self, choices: Sequence[Choice]) -> Drawn:
        """The graph without the moves of which the backend takes a node not. Leaving one out changes what others get,
        so that it is asked again."""
        while True:
            drawn = built(choices, self._menu, self._seed)
            pairs = zip(drawn.segment.nodes, drawn.origins, strict=True)
            declined = [c for node, c in pairs if not isinstance(self._context.decision(node), Supported)]
            if not declined:
                return drawn
            choices = [c for c in choices if all(c is not other for other in declined)]

    def _expected(self, drawn: Drawn) -> list[HostArray]:
        eager = Eager().expected(drawn.segment, drawn.arrays)
        right = self._context.oracle.expected(drawn.segment, drawn.arrays)
        if eager is None or right is None:
            raise Skipped("PyTorch refuses the graph, though the opset has it")
        found = self._compared(right, eager)
        if found:
            raise Skipped(f"the reference backend and PyTorch disagree, which is no fault of this backend: {found}")
        return right

    def _compared(self, outputs: Sequence[HostArray], expected: Sequence[HostArray]) -> str:
        for position, (mine, right) in enumerate(zip(outputs, expected, strict=True)):
            difference = compare(position, mine, right, self._tolerance)
            if difference is not None:
                return f"output {position}: {difference}"
        return ""

    def is_wrong(self, choices: Sequence[Choice]) -> bool:
        """Whether the backend is; a part of which nobody knows what is right does not count."""
        try:
            return isinstance(self.difference(choices), str)
        except Skipped:
            return False


def _smallest(choices: Sequence[Choice], found: str, contest: _Contest) -> str:
    if importlib.util.find_spec("hypothesis") is None:
        return _shorter(choices, found, contest)
    from hypothesis import HealthCheck, Phase, find, settings
    from hypothesis import strategies as st
    from hypothesis.errors import NoSuchExample

    kept = st.lists(st.sampled_from(range(len(choices))), unique=True, min_size=1).map(sorted)
    options = settings(
        max_examples=150, database=None, deadline=None, derandomize=True, phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    try:
        best = find(kept, lambda places: contest.is_wrong([choices[p] for p in places]), settings=options)
    except NoSuchExample:  # none of the parts that it tried is wrong
        return _shorter(choices, found, contest)
    return _shorter([choices[p] for p in best], found, contest)


def _shorter(choices: Sequence[Choice], found: str, contest: _Contest) -> str:
    """Drop one choice after the other, as long as it stays wrong: what hypothesis leaves, or all without it."""
    kept = list(choices)
    for choice in choices:
        rest = [c for c in kept if c is not choice]
        if rest and contest.is_wrong(rest):
            kept = rest
    smaller = contest.difference(kept)
    return smaller if isinstance(smaller, str) else found
