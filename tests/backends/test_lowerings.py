"""Each op of the case tables, on each backend, against PyTorch on CPU."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from lazycore_plugin_api import Supported, verify
from lowering.backends import Backend
from lowering.case import Case
from lowering.cases import ALL
from lowering.compare import check_ownership, check_spec, check_values
from lowering.required import ABSENT, REQUIRED
from lowering.segments import build, liftable, rounded_scalars


def _named(cases: list[Case]) -> list[object]:
    seen: Counter[str] = Counter()
    named = []
    for case in cases:
        named.append(pytest.param(case, id=f"{case.op}-{seen[case.op]}"))
        seen[case.op] += 1
    return named


def _run(case: Case, backend: Backend, lift: bool) -> None:
    segment, arrays = build(case, lift)
    verify(segment)
    if case.op in ABSENT.get(backend.info.name, {}):
        pytest.skip(f"{backend.info.name}: {ABSENT[backend.info.name][case.op]}")
    decision = backend.supports(segment.nodes[0])
    assert isinstance(decision, Supported), f"{decision}\n{segment}"
    before = [a.copy() for a in arrays]
    executable, inputs = backend.compile(segment), backend.bind(segment, arrays)
    outputs = list(executable.run(inputs))
    assert len(outputs) == len(segment.outputs)
    for i, (buffer, value, expected) in enumerate(zip(outputs, segment.outputs, case.expected(), strict=True)):
        where = f"{backend.info.name}, output {i} of\n{segment}\n"
        check_spec(buffer, value.spec, where)
        if expected is not None and i not in case.shape_only:
            check_values(buffer.to_host(), expected, case.tolerance, where)
    for array, copy in zip(arrays, before, strict=True):
        assert array.tobytes() == copy.tobytes(), f"an input was written by\n{segment}"
    check_ownership([b.to_host() for b in outputs], [np.asarray(a) for a in arrays], case.op)


@pytest.mark.parametrize("case", _named(ALL))
def test_op(backend: Backend, case: Case) -> None:
    _run(case, backend, lift=False)


@pytest.mark.parametrize("case", _named([c for c in ALL if liftable(c)]))
def test_scalar_as_run_time_input(backend: Backend, case: Case) -> None:
    _run(rounded_scalars(case), backend, lift=True)


@pytest.mark.parametrize("op", REQUIRED)
def test_every_required_op_has_a_case(op: str) -> None:
    assert any(case.op == op for case in ALL)
