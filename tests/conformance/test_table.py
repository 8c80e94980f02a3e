"""The graph cases cover the opset, and draw the same everywhere."""

from __future__ import annotations

import re

import numpy as np
import pytest
from lazycore_plugin_api import DType
from lazycore_plugin_api.opset import OPSET

from lazycore.conformance.graph.draw import B, I, P, S, X, draw
from lazycore.conformance.graph.oracle import Eager
from lazycore.conformance.graph.sample import sample_of
from lazycore.conformance.graph.table import rows_by_op
from lazycore.conformance.suite import GROUPS, all_cases, sampled
from lazycore.conformance.survey import Request, chosen
from lazycore.conformance.tolerances import ACCUMULATED, FUNCTIONS, ROUNDED, keeps_zeros, tolerance_for, ulp


def test_every_operator_has_a_row() -> None:
    assert sorted(set(OPSET) - set(rows_by_op())) == [], "add a row to lazycore/conformance/graph/table"


def test_every_operator_has_a_sample_that_pytorch_computes() -> None:
    eager = Eager()
    for op, rows in rows_by_op().items():
        samples = (sample_of(row, dtype, eager.specs) for row in rows for dtype in row.dtypes)
        assert any(s is not None and eager.expected(s.segment, s.arrays) is not None for s in samples), op


def test_every_row_is_a_call_of_its_operator() -> None:
    for rows in rows_by_op().values():
        for row in rows:
            samples = [sample_of(row, dtype, Eager().specs) for dtype in row.dtypes]
            assert any(samples), f"{row.op}{row.args}"


@pytest.mark.parametrize("what", [X(3, 4), P(5), I(6, below=3), B(2, 2), S()])
def test_draws_are_the_same_each_time(what: object) -> None:
    first, second, other = (draw(what, DType.float32, seed) for seed in ("a", "a", "b"))  # type: ignore[arg-type]
    assert first.tobytes() == second.tobytes()
    assert first.shape == other.shape


def test_draws_keep_their_range() -> None:
    assert draw(I(99, below=3), DType.float32, "x").max() == 2
    assert draw(P(99), DType.int8, "x").min() >= 1
    assert draw(X(99), DType.uint8, "x").min() >= 0
    assert np.isnan(draw(S(), DType.bfloat16, "x").astype(np.float32)).sum() == 1


def test_tolerances() -> None:
    assert tolerance_for("aten.permute.default", DType.float32, {}).rtol == 0
    assert tolerance_for("aten.exp.default", DType.int64, {"aten.exp": (1, 1)}).rtol == 0
    assert tolerance_for("aten.exp.default", DType.float32, {}).rtol == FUNCTIONS * 2.0**-23
    assert tolerance_for("aten.mm.default", DType.complex128, {}).atol == ACCUMULATED * 2.0**-52
    assert tolerance_for("aten.mul.Tensor", DType.float64, {}).rtol == ROUNDED * 2.0**-52
    assert tolerance_for("aten.mul.Tensor", DType.bfloat16, {}).rtol == ulp(DType.bfloat16) == 2.0**-7
    assert tolerance_for("aten.add.Tensor", DType.float16, {}).rtol == 2 * ulp(DType.float16)
    assert tolerance_for("aten.index_add.default", DType.float16, {}).atol == 16 * ulp(DType.float16)
    assert tolerance_for("aten.exp.default", DType.float32, {"aten.exp": (0.5, 0)}).rtol == 0.5
    assert tolerance_for("aten.exp.default", DType.float16, {"aten.exp.default float32": (0.5, 0)}).rtol < 0.1
    assert keeps_zeros("aten.neg.default")
    assert not keeps_zeros("aten.maximum.default")


def test_case_ids_are_unique_and_somebody_runs_them() -> None:
    cases = all_cases(5, ("contract", "graph", "fuzz", "semantics", "endurance"))
    assert len({case.id for case in cases}) == len(cases)
    assert {case.group for case in cases} <= set(GROUPS)
    # What a report prints to show a case again is an expression that is the case's id.
    assert all(re.fullmatch(r"[\w./-]+", case.id) for case in cases)
    assert all(chosen(Request("acme", cases=f"^{case.id}$")) == [case] for case in cases[::97])
    few = sampled(cases)
    assert [case for case in few if case.level == 0] == [case for case in cases if case.level == 0]
    assert 0.05 < sum(c.group == "graph" for c in few) / sum(c.group == "graph" for c in cases) < 0.15
