"""Each op of the case tables, on each backend, against PyTorch on CPU.

All samples of an op are compiled as one segment, which is quicker than one segment each; where that
segment fails, the samples are tried one by one to name those at fault.
"""

from __future__ import annotations

import numpy as np
import pytest
from lazycore_plugin_api import Buffer, Node, Rejected, Supported, node_text, verify
from lowering.backends import Backend
from lowering.case import Case
from lowering.cases import ALL
from lowering.compare import check_ownership, check_spec, check_values
from lowering.required import EXTRA, PARTIAL, REQUIRED, is_asked
from lowering.segments import SegmentBuilder, liftable, rounded_scalars

OPS = list(dict.fromkeys(case.op for case in ALL))
LIFTABLE = list(dict.fromkeys(case.op for case in ALL if liftable(case)))


def _check_node(node: Node, case: Case, results: list[Buffer], backend: Backend) -> None:
    for i, (buffer, value, expected) in enumerate(zip(results, node.outputs, case.expected(), strict=True)):
        where = f"{backend.info.name}, output {i} of {node_text(node)} for {case.args} {case.kwargs}:"
        check_spec(buffer, value.spec, where)
        if expected is not None and i not in case.shape_only:
            check_values(buffer.to_host(), expected, case.tolerance, where)


def _check_together(cases: list[Case], backend: Backend, lift: bool) -> None:
    builder = SegmentBuilder()
    nodes = [builder.add(case, lift) for case in cases]
    segment, arrays = builder.segment(), builder.arrays
    verify(segment)
    for node in nodes:
        decision = backend.supports(node)
        assert isinstance(decision, Supported), f"{decision}: {node_text(node)}"
    before = [a.copy() for a in arrays]
    results = list(backend.compile(segment).run(backend.bind(segment, arrays)))
    assert len(results) == len(segment.outputs)
    check_ownership([b.to_host() for b in results], [np.asarray(a) for a in arrays], segment.name)
    remaining = iter(results)
    for node, case in zip(nodes, cases, strict=True):
        _check_node(node, case, [next(remaining) for _ in node.outputs], backend)
    for array, copy in zip(arrays, before, strict=True):
        assert array.tobytes() == copy.tobytes(), f"an input was written by\n{segment}"


def _failures(cases: list[Case], backend: Backend, lift: bool) -> list[str]:
    found = []
    for i, case in enumerate(cases):
        try:
            _check_together([case], backend, lift)
        except Exception as error:
            found.append(f"sample {i}: {type(error).__name__}: {error}")
    return found


def _taken(cases: list[Case], backend: Backend, lift: bool) -> list[Case]:
    """The cases that a backend takes which may leave some of them to others; at least one."""
    if backend.info.name not in PARTIAL:
        return cases
    builder = SegmentBuilder()
    decisions = [(case, backend.supports(builder.add(case, lift))) for case in cases]
    left = [d for _, d in decisions if isinstance(d, Rejected)]
    assert all(d.code in ("dtype", "shape", "attribute") and d.reason for d in left), left
    taken = [case for case, decision in decisions if isinstance(decision, Supported)]
    assert taken, f"{backend.info.name} takes none of its samples: {left}"
    return taken


def _check(cases: list[Case], backend: Backend, lift: bool) -> None:
    if not is_asked(backend.info.name, cases[0].op):
        pytest.skip(f"{cases[0].op} is not required, and {backend.info.name} does not list it")
    cases = _taken(cases, backend, lift)
    try:
        _check_together(cases, backend, lift)
    except Exception as error:
        alone = _failures(cases, backend, lift)
        text = "\n".join(alone) or "every sample passes alone, all of them together fail"
        pytest.fail(f"{len(alone)} of {len(cases)} samples of {cases[0].op} fail on their own:\n{text}\n\n{error}")


@pytest.mark.parametrize("op", OPS)
def test_op(backend: Backend, op: str) -> None:
    _check([case for case in ALL if case.op == op], backend, lift=False)


@pytest.mark.parametrize("op", LIFTABLE)
def test_scalar_as_run_time_input(backend: Backend, op: str) -> None:
    _check([rounded_scalars(c) for c in ALL if c.op == op and liftable(c)], backend, lift=True)


@pytest.mark.parametrize("op", list(dict.fromkeys([*REQUIRED, *(op for ops in EXTRA.values() for op in ops)])))
def test_every_listed_op_has_a_case(op: str) -> None:
    assert op in OPS
