"""A trace computes what is still referenced, and nothing is kept longer than somebody needs it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any
from weakref import ref

import pytest
import torch

import lazycore
from lazycore.frontend.launch import CompiledTrace
from lazycore.frontend.local import tree
from lazycore.trace.node import Node


@pytest.fixture
def few_plans() -> Iterator[int]:
    before = tree.limits.plans
    tree.limits.plans = 6
    yield 6
    tree.limits.plans = before


def plans() -> list[CompiledTrace]:
    """All plans in the tree."""
    return [node.plan for node in nodes() if node.plan is not None]


def nodes() -> list[Node]:
    found: list[Node] = []
    todo = list(tree.roots.values())
    while todo:
        children = set(todo.pop().children.values())
        found += children
        todo += children
    return found


def segment_ops(plan: CompiledTrace) -> list[str]:
    return [node.op for step in plan.plan.steps if hasattr(step, "segment") for node in step.segment.nodes]


def test_outputs_are_the_storages_still_referenced() -> None:
    x = torch.tensor([1.0, 2.0]).to("lazycore")
    kept = (x.sin() + 1) * x.exp()
    lazycore.sync()
    (plan,) = plans()
    assert len(plan.outputs) == 1
    assert kept.tolist() == pytest.approx((torch.tensor([1.0, 2.0]).sin() + 1).mul(torch.tensor([1.0, 2.0]).exp()))


def test_what_nobody_needs_is_not_computed() -> None:
    x = torch.tensor([1.0, 2.0]).to("lazycore")
    x.sin()
    kept = x + 1
    lazycore.sync()
    (plan,) = plans()
    assert segment_ops(plan).count("aten.sin.default") == 0
    assert kept.tolist() == [2.0, 3.0]


def test_a_trace_of_which_nothing_lives_is_not_run() -> None:
    x = torch.tensor([1.0, 2.0]).to("lazycore")
    (x + 1).sin()
    lazycore.sync()
    assert lazycore.metrics()["compiles"] == 0
    assert not plans()


@pytest.mark.parametrize(
    "hold",
    [
        lambda y: [y],
        lambda y: [y.detach()],
        lambda y: [y[0]],
        lambda y: [y.t(), y.view(-1)],
        lambda y: {"deep": (y.unsqueeze(0),)},
    ],
)
def test_a_view_of_a_value_keeps_it_alive(hold: Callable[[torch.Tensor], Any]) -> None:
    held = hold(torch.ones(2, 2, device="lazycore") * 3)
    gc.collect()
    lazycore.sync()
    assert lazycore.metrics()["compiles"] == 1
    first = next(iter(held.values()))[0] if isinstance(held, dict) else held[0]
    assert set(first.flatten().tolist()) == {3.0}


def test_what_autograd_saved_is_alive() -> None:
    x = torch.tensor([1.0, 2.0]).to("lazycore").requires_grad_()
    loss = (x * 2).exp().sum()
    lazycore.sync()
    loss.backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad.cpu(), 2 * (torch.tensor([1.0, 2.0]) * 2).exp())


def step(x: torch.Tensor, keep: tuple[int, ...]) -> list[torch.Tensor]:
    values = [x + 1.5, x * 2.5, x - 3.5]
    total = values[0] + values[1] + values[2]
    return [[*values, total][k] for k in keep]


EXPECTED = [torch.tensor([2.5, 3.5]), torch.tensor([2.5, 5.0]), torch.tensor([-2.5, -1.5]), torch.tensor([2.5, 7.0])]


def check(x: torch.Tensor, keep: tuple[int, ...]) -> int:
    """Run a step whose kept results are read together; compilations so far."""
    results = step(x, keep)
    lazycore.sync()
    for got, k in zip(results, keep, strict=True):
        torch.testing.assert_close(got.cpu(), EXPECTED[k])
    return int(lazycore.metrics()["compiles"])


def test_an_executable_serves_any_subset_of_its_outputs() -> None:
    x = torch.tensor([1.0, 2.0]).to("lazycore")
    assert check(x, (0, 1, 3)) == 1
    assert [check(x, keep) for keep in ((0,), (3, 1), (1,), (0, 1, 3))] == [1, 1, 1, 1]


def test_a_superset_compiles_the_union_of_all_seen() -> None:
    x = torch.tensor([1.0, 2.0]).to("lazycore")
    assert [check(x, keep) for keep in ((0,), (1,), (2, 3))] == [1, 2, 3]
    assert [check(x, keep) for keep in ((0, 1, 2, 3), (0,), (1, 2), (3,))] == [3, 3, 3, 3]


def test_values_are_freed_with_their_last_reference() -> None:
    x = torch.ones(1000).to("lazycore")
    y = x * 2
    lazycore.sync()
    watch = ref(y.untyped_storage().state.value)
    z = y + 1
    assert watch() is not None
    del y
    gc.collect()
    assert watch() is not None, "the open trace still reads it"
    z.cpu()
    gc.collect()
    assert watch() is None


def test_an_open_trace_keeps_no_storage_alive() -> None:
    x = torch.ones(3, device="lazycore") * 2
    watch = ref(x.untyped_storage().state)
    del x
    assert watch() is None


def test_programs_whose_shapes_never_repeat_stay_bounded(few_plans: int) -> None:
    for n in range(1, 60):
        x = torch.arange(float(n)).to("lazycore")
        assert (x * 2 + 1).sum().item() == n * n
    assert len(plans()) <= few_plans
    assert len(nodes()) <= few_plans * 4


def test_prefixes_that_never_end_in_a_plan_stay_bounded(few_plans: int) -> None:
    for n in range(1, 60):
        torch.zeros(n, device="lazycore") + 1  # nothing lives, so that nothing is compiled
        lazycore.sync()
    assert len(nodes()) <= few_plans * 4


def test_a_forgotten_plan_is_compiled_again_and_right(few_plans: int) -> None:
    def run(n: int) -> float:
        return float((torch.arange(float(n)).to("lazycore") * 2).sum().item())

    for _ in range(2):
        assert [run(n) for n in range(1, 2 * few_plans)] == [n * (n - 1) for n in range(1, 2 * few_plans)]


def test_the_plan_in_use_longest_ago_goes_first(few_plans: int) -> None:
    def run(n: int) -> int:
        x = torch.ones(3).to("lazycore")
        for _ in range(n):
            x = x * 2.5
        x.sum().item()
        return int(lazycore.metrics()["compiles"])

    for n in range(1, few_plans + 1):
        run(n)
    counted = run(1)
    run(few_plans + 1)
    assert run(1) == counted + 1, "kept, as it was used again"
    assert run(2) == counted + 2, "forgotten"
