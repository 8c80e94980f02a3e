"""The opset's table against the backends: what they take has a row, and every sample of an op keeps its row's rules."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from lazycore_plugin_api import DType, Node, TensorSpec, node_text
from lazycore_plugin_api.opset import OPSET, infer
from lazycore_plugin_api.opset.inference import fault_of
from lowering.cases import ALL
from lowering.required import is_asked
from lowering.segments import SegmentBuilder

ROOT = Path(__file__).parents[2]
SAMPLED = list(dict.fromkeys(case.op for case in ALL))


def nodes_of(op: str) -> list[Node]:
    return [SegmentBuilder().add(case, lift=False) for case in ALL if case.op == op]


def changed(node: Node, index: int, spec: TensorSpec) -> Node:
    outputs = list(node.outputs)
    outputs[index] = replace(outputs[index], spec=spec)
    return replace(node, outputs=tuple(outputs))


def opset_page() -> ModuleType:
    """The script that makes the page of all operators."""
    spec = importlib.util.spec_from_file_location("opset_page", ROOT / "tools" / "opset_page.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


@pytest.mark.parametrize("backend", ["reference", "xla", "tvm"])
def test_what_a_backend_lowers_has_a_row_and_samples(backend: str) -> None:
    pytest.importorskip(f"lazycore_{backend}.lowerings")
    lowered = opset_page().lowered(backend)
    assert len(lowered) > 200
    assert sorted(lowered - set(OPSET)) == [], "these need rows in lazycore_plugin_api/opset/table"
    untested = sorted(op for op in lowered if op not in SAMPLED or not is_asked(backend, op))
    assert untested == [], "these need cases, and a place in tests/backends/lowering/required.py"


@pytest.mark.parametrize("op", SAMPLED)
def test_samples_keep_the_rules_and_changed_ones_do_not(op: str) -> None:
    checked = 0
    for node in nodes_of(op):
        assert fault_of(node, static=True) is None, node_text(node)
        for i, spec in enumerate(infer(node)):
            if spec is not None:
                assert spec == node.outputs[i].spec
                longer = TensorSpec((*spec.shape, 5), spec.dtype)
                other = DType.float64 if spec.dtype is not DType.float64 else DType.int8
                assert fault_of(changed(node, i, longer), static=True)
                assert fault_of(changed(node, i, TensorSpec(spec.shape, other)), static=True)
                checked += 1
        assert fault_of(replace(node, args=(*node.args, None)), static=True)
        assert fault_of(replace(node, kwargs={**node.kwargs, "no_such": None}), static=True)
        assert fault_of(replace(node, outputs=(*node.outputs, node.outputs[0])), static=True)
    assert checked


def test_the_page_is_up_to_date() -> None:
    for backend in ("reference", "xla", "tvm"):
        pytest.importorskip(f"lazycore_{backend}.lowerings")
    tool = opset_page()
    assert tool.page() == tool.PAGE.read_text(), "docs/opset-table.md is out of date: run `make docs`"
