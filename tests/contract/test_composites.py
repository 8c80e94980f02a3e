"""Patterns of a vendor on a real program: the composite that arrives, and what happens where it is not wanted."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from vendorkit.vendor import Vendor

import lazycore
from lazycore.compiler.failures import BackendWarning
from lazycore.compiler.placement import Placement
from lazycore.frontend.observer import OBSERVER

F = torch.nn.functional
COMPOSITE = "acme.linear_relu.composite"

PATTERNS = """
LINEAR = Op("aten.addmm.default", (Any("bias"), Any("x"), Any("w")), {"beta": 1, "alpha": 1})
CHECK = None

@hookimpl
def lazycore_patterns():
    return [Pattern("linear_relu", Op("aten.relu.default", (LINEAR,)), CHECK)]
"""


def operands() -> tuple[torch.Tensor, ...]:
    return torch.arange(8.0).reshape(2, 4) - 3, torch.linspace(-1, 1, 12).reshape(3, 4), torch.ones(3)


def program(device: str) -> torch.Tensor:
    x, w, b = (t.to(device) for t in operands())
    return torch.sin(F.relu(F.linear(x, w, b))).cpu()


def placement() -> Placement:
    return OBSERVER.placements[-1]


def test_the_vendor_compiles_one_node_with_named_arguments(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(PATTERNS)
    with lazycore.use_backend("acme,reference"):
        torch.testing.assert_close(program("lazycore"), program("cpu"))
    (segment,) = acme.segments
    (composite,) = [node for node in segment.nodes if node.body is not None]
    assert composite.op == COMPOSITE
    assert list(composite.kwargs) == ["bias", "x", "w"]
    assert [node.op for node in composite.body.nodes] == ["aten.addmm.default", "aten.relu.default"]
    assert placement().segments[0].ops[COMPOSITE] == 1


def test_a_check_that_refuses_leaves_single_ops_and_a_reason(vendor: Callable[..., Vendor]) -> None:
    check = "\nCHECK = lambda match: Rejected('shape', f\"{match.values['w'].spec} is no multiple of 4\")"
    acme = vendor(PATTERNS + check)
    with lazycore.use_backend("acme,reference"):
        torch.testing.assert_close(program("lazycore"), program("cpu"))
    assert all(node.body is None for segment in acme.segments for node in segment.nodes)
    (lost,) = placement().lost
    assert (lost.code, lost.reason) == ("shape", "f32[4,3] is no multiple of 4")
    assert __file__ in str(lost.source)


def test_a_composite_that_does_not_compile_is_taken_apart(vendor: Callable[..., Vendor]) -> None:
    fails = """
@hookimpl
def lazycore_compile(segments):
    return [
        CompileFailure("no composites today") if any(n.body for n in s.nodes) else Program(s) for s in segments
    ]
"""
    acme = vendor(PATTERNS + fails)
    with lazycore.use_backend("acme,reference"):
        with pytest.warns(BackendWarning, match=r"no composites today\. Its composites are taken apart"):
            lazy = program("lazycore")
        torch.testing.assert_close(lazy, program("cpu"))
    assert [node.op for node in acme.segments[0].nodes][-2:] == ["aten.addmm.default", "aten.relu.default"]
    assert [lost.code for lost in placement().lost] == ["compile"]


def test_prepare_may_change_a_body_without_harm(vendor: Callable[..., Vendor]) -> None:
    spoils = """
@hookimpl
def lazycore_prepare(segment):
    for node in segment.nodes:
        if node.body is not None:
            node.body.nodes.clear()
    return segment
"""
    vendor(PATTERNS + spoils)
    with lazycore.use_backend("acme,reference"):
        with pytest.warns(BackendWarning, match="lazycore_prepare broke segment0: the body of .* is invalid"):
            lazy = program("lazycore")
        torch.testing.assert_close(lazy, program("cpu"))


def test_a_backend_behind_another_gets_what_that_one_leaves(vendor: Callable[..., Vendor]) -> None:
    first = vendor("\nTAKES = {'aten.relu.default'}", name="first")
    acme = vendor(PATTERNS)
    with lazycore.use_backend("first,acme,reference"):
        torch.testing.assert_close(program("lazycore"), program("cpu"))
    assert [node.op for segment in first.segments for node in segment.nodes] == ["aten.relu.default"]
    assert all(node.body is None for segment in acme.segments for node in segment.nodes)
