"""The page of measured coverage: what makes a row's letter, that data survive writing, that the page is theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tools.coverage.data import BACKENDS, Coverage, collect, load, save
from tools.coverage.marks import Cell, cells_of, worst
from tools.coverage.page import PAGE, page


def _phase(samples: int = 2, native: int = 2, **ops: dict[str, int]) -> dict[str, Any]:
    return {"samples": samples, "native": native, "ran": {}, "decomposed": {}, "fallbacks": {}} | ops


def _row(op: str, *errors: str, samples: int = 2, **phases: dict[str, Any]) -> dict[str, Any]:
    return {"op": op, "dtype": "float32", "samples": samples, "errors": list(errors), "phases": phases}


@pytest.mark.parametrize(
    ("names", "phase", "mark"),
    [
        ({"add"}, _phase(ran={"aten.add.Tensor": 2}), "n"),
        ({"softmax"}, _phase(ran={"aten._softmax.default": 2}), "n"),
        ({"max_pool2d"}, _phase(ran={"aten.max_pool2d_with_indices.default": 2}), "n"),
        ({"batch_norm"}, _phase(ran={"aten.native_batch_norm.default": 2}), "n"),
        ({"special.i1", "i1"}, _phase(ran={"aten.special_i1.default": 2}), "n"),
        ({"view"}, _phase(), "n"),
        ({"cross_entropy"}, _phase(ran={"aten._log_softmax.default": 2, "aten.nll_loss_forward.default": 2}), "d"),
        ({"log"}, _phase(ran={"aten.logical_not.default": 2}), "d"),
        ({"logit"}, _phase(ran={"aten.log.default": 2}, decomposed={"aten.logit.default": 2}), "d"),
        ({"add"}, _phase(native=1, ran={"aten.add.Tensor": 1}, fallbacks={"aten.add.Tensor": 1}), "f"),
        ({"add"}, _phase(samples=1, native=1, ran={"aten.add.Tensor": 1}), "u"),
        ({"add"}, None, "u"),
    ],
)
def test_marks(names: set[str], phase: dict[str, Any] | None, mark: str) -> None:
    row = _row("op", forward=phase) if phase else _row("op", "forward: wrong")
    assert cells_of(row, names)["forward"].mark == mark


def test_a_gradient_is_native_unless_part_of_it_was_decomposed() -> None:
    phase = _phase(ran={"aten.mul.Tensor": 4})
    assert cells_of(_row("op", forward=_phase(), backward=phase), {"op"})["backward"].mark == "n"
    phase["decomposed"] = {"aten.tanh_backward.default": 2}
    assert cells_of(_row("op", forward=_phase(), backward=phase), {"op"})["backward"].mark == "d"
    wrong = _row("op", "backward: Differs: by 1", forward=_phase(), backward=_phase(samples=1, native=1))
    assert cells_of(wrong, {"op"})["backward"] == Cell(2, 1, 1, True, {})


def test_what_the_cpu_does_not_compute_has_no_cell() -> None:
    assert cells_of(_row("op", samples=0), {"op"}) == {}
    assert list(cells_of(_row("op", forward=_phase()), {"op"})) == ["forward"]


def test_the_worst_mark_stands_for_several() -> None:
    assert [worst("nd"), worst("dfn"), worst("uf"), worst("")] == ["d", "f", "u", " "]


def test_rows_replace_what_was_known_of_their_cases(tmp_path: Path) -> None:
    first = [_row("__rsub__", forward=_phase(ran={"aten.rsub.Tensor": 2})), _row("abs", "forward: wrong")]
    known = collect(Coverage("reference"), first)
    second = _row("abs", forward=_phase(native=1, fallbacks={"aten.abs.default": 1}), backward=_phase())
    found = collect(known, [second])
    assert known.ops["abs"]["float32"]["forward"].mark == "u"
    assert {op: kinds["float32"]["forward"].mark for op, kinds in found.ops.items()} == {"__rsub__": "n", "abs": "f"}
    save(found, tmp_path)
    assert load("reference", tmp_path) == found
    assert set(found.versions) == {"torch", "numpy"}
    text = page([found])
    assert "| `abs` | f | n |  |  |  |  | reference: abs |" in text
    assert "| float32 | 75.0 % of 4 |" in text


def test_the_page_is_up_to_date() -> None:
    measured = [load(backend) for backend in BACKENDS]
    assert all(len(coverage.ops) > 600 for coverage in measured)
    assert page(measured) == PAGE.read_text(), "docs/coverage.md is out of date: run `make docs`"
