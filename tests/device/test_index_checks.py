"""Indices out of range raise what CPU raises: before launch where they are inputs, else at the next observation."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch

import lazycore
from lazycore.frontend.local import local

Use = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

USES: dict[str, Use] = {
    "embedding": lambda x, i: torch.nn.functional.embedding(i, x),
    "embedding_bag": lambda x, i: torch.nn.functional.embedding_bag(i, x, torch.zeros_like(i[:1])),
    "largest of an embedding_bag": lambda x, i: torch.nn.functional.embedding_bag(
        i, x, torch.zeros_like(i[:1]), mode="max"
    ),
    "index_select": lambda x, i: x.index_select(0, i),
    "gather": lambda x, i: x.gather(0, i[:, None].expand(-1, 3)),
    "index": lambda x, i: x[i],
    "second index": lambda x, i: x[:, i],
    "pair of indices": lambda x, i: x[i.clamp(0, 3), i],
    "index_put": lambda x, i: x.clone().index_put_((i,), torch.ones(3, device=x.device)),
    "assignment": lambda x, i: assign(x.clone(), i),
    "index_add": lambda x, i: x.clone().index_add_(0, i, torch.ones(len(i), 3, device=x.device)),
    "index_copy": lambda x, i: x.clone().index_copy_(0, i, torch.ones(len(i), 3, device=x.device)),
    "index_fill": lambda x, i: x.clone().index_fill_(0, i, 2.0),
    "scatter": lambda x, i: x.clone().scatter_(0, i[:, None].expand(-1, 3), 5.0),
    "scatter_add": lambda x, i: x.clone().scatter_add_(0, i[:, None].expand(-1, 3), torch.ones(2, 3, device=x.device)),
    "take": lambda x, i: x.take(i * 4),
    "cross_entropy": lambda x, i: torch.nn.functional.cross_entropy(x[:2], i),
    "nll_loss": lambda x, i: torch.nn.functional.nll_loss(x[:2].log_softmax(1), i),
    "index_reduce": lambda x, i: x.clone().index_reduce_(0, i, torch.ones(len(i), 3, device=x.device), "amax"),
    "index_fill by a tensor": lambda x, i: x.clone().index_fill_(0, i, x[0, 1]),
    "scatter that adds": lambda x, i: x.clone().scatter_(0, i[:, None].expand(-1, 3), 5.0, reduce="add"),
    "max_unpool2d": lambda x, i: torch.nn.functional.max_unpool2d(x[None, :1, :2], i.reshape(1, 1, 2), (1, 2)),
    "multi_margin_loss": lambda x, i: torch.nn.functional.multi_margin_loss(x[:2], i),
    "searchsorted": lambda x, i: torch.searchsorted(x[0], x[1], sorter=torch.cat([i, i[1:]])),
    "searchsorted of a number": lambda x, i: torch.searchsorted(x[0], 5.0, sorter=torch.cat([i, i[1:]])),
    "lu_solve": lambda x, i: torch.linalg.lu_solve(1.0 + torch.eye(2, device=x.device), i.int(), x[:2]),
    "lu_unpack": lambda x, i: torch.lu_unpack(x[:2], i.int())[0],
    "multilabel_margin_loss": lambda x, i: torch.nn.functional.multilabel_margin_loss(x[0], torch.cat([i, i[:1]])),
}


def assign(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    x[i] = 4.0
    return x


def base() -> torch.Tensor:
    return torch.arange(12.0).reshape(4, 3)


def outcome(use: Use, device: str, index: torch.Tensor, computed: bool) -> Any:
    """The result on the CPU, or the exception of the observation."""
    x, i = base().to(device), index.to(device)
    if computed:
        lazycore.sync()
        i = i + 0 * i.sum()
    try:
        return use(x, i).cpu()
    except (IndexError, RuntimeError) as error:
        return error


@pytest.mark.parametrize("computed", [False, True], ids=("input", "computed"))
@pytest.mark.parametrize("values", [(0, 7), (5, 1), (-1, 1), (-9, 0), (2, 1)], ids=str)
@pytest.mark.parametrize("name", USES)
def test_the_type_of_error_is_the_cpus(name: str, values: tuple[int, int], computed: bool) -> None:
    index = torch.tensor(values)
    expected = outcome(USES[name], "cpu", index, computed)
    got = outcome(USES[name], "lazycore", index, computed)
    if isinstance(expected, Exception):
        assert type(got) is type(expected), f"{got!r} where CPU has {expected!r}"
        assert "test_index_checks.py" in str(got), "the line that asked for it"
    else:
        torch.testing.assert_close(got, expected)


@pytest.mark.parametrize("computed", [False, True], ids=("input", "computed"))
def test_offsets_of_bags_lie_within_the_indices(computed: bool) -> None:
    def use(x: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.embedding_bag(torch.arange(4, device=x.device), x, offsets)

    good, bad = torch.tensor([0, 4]), torch.tensor([0, 5])
    torch.testing.assert_close(outcome(use, "lazycore", good, computed), outcome(use, "cpu", good, computed))
    expected, got = outcome(use, "cpu", bad, computed), outcome(use, "lazycore", bad, computed)
    assert type(got) is type(expected)
    assert str(got).startswith(str(expected))
    late = torch.tensor([1, 2])
    for device in ("cpu", "lazycore"):
        refused = outcome(use, device, late, computed)
        assert isinstance(refused, RuntimeError)
        assert str(refused).startswith(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start"
        )


@pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
@pytest.mark.parametrize("name", USES)
def test_the_error_is_raised_once_and_the_next_step_works(name: str) -> None:
    bad, good = torch.tensor([0, 77]), torch.tensor([1, 2])
    for computed in (False, True):
        assert isinstance(outcome(USES[name], "lazycore", bad, computed), Exception)
        lazycore.sync()
        got = outcome(USES[name], "lazycore", good, computed)
        torch.testing.assert_close(got, outcome(USES[name], "cpu", good, computed))


def test_an_input_is_checked_before_anything_runs() -> None:
    x, i = base().to("lazycore"), torch.tensor([9]).to("lazycore")
    state = torch.zeros(3).to("lazycore")
    state.add_(1)
    state.add_(x[i].sum())
    with pytest.raises(IndexError):
        lazycore.sync()
    assert state.tolist() == [0.0, 0.0, 0.0], "the storage keeps what it held"


def test_a_computed_index_raises_at_the_next_observation_of_anything() -> None:
    x, i = base().to("lazycore"), torch.tensor([3]).to("lazycore")
    lazycore.sync()
    looked_up = x[i * 3]
    weight = torch.ones(2, requires_grad=True, device="lazycore")
    optimizer = torch.optim.SGD([weight], lr=0.5)
    (weight * 2).sum().backward()
    optimizer.step()
    with pytest.raises(IndexError, match=r"index 9 is out of bounds for dimension 0 with size 4"):
        weight.sum().item()
    assert weight.tolist() == [0.0, 0.0]
    assert looked_up.shape == (1, 3)


@pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
@pytest.mark.parametrize("bad", [-0.1, 1.5, float("nan")])
@pytest.mark.parametrize("which", ["input", "target"])
def test_shares_beyond_what_is_whole(which: str, bad: float) -> None:
    good, spoiled = torch.tensor([0.0, 1.0, 0.5]), torch.tensor([0.5, bad, 0.5])
    x, target = (good, spoiled) if which == "target" else (spoiled, good)
    message = f"all elements of {which} should be between 0 and 1"
    for device in ("cpu", "lazycore"):
        moved = x.to(device), target.to(device)
        with pytest.raises(RuntimeError, match=message) as raised:
            torch.nn.functional.binary_cross_entropy(*moved).item()
        assert str(raised.value) == message or "(" + __file__ in str(raised.value), "the line that asked for it"
    expected = torch.nn.functional.binary_cross_entropy(good, good)
    torch.testing.assert_close(
        torch.nn.functional.binary_cross_entropy(good.to("lazycore"), good.to("lazycore")).cpu(), expected
    )


def test_no_pivots_are_in_range() -> None:
    lu, pivots, b = torch.ones(0, 0), torch.ones(0, dtype=torch.int32), torch.ones(0, 2)
    moved = lu.to("lazycore"), pivots.to("lazycore"), b.to("lazycore")
    assert torch.linalg.lu_solve(*moved).cpu().shape == torch.linalg.lu_solve(lu, pivots, b).shape


def test_targets_to_ignore_may_be_anything() -> None:
    scores = torch.randn(4, 3)
    for ignore in (-100, 255, -1):
        target = torch.tensor([0, ignore, 2, ignore])
        expected = torch.nn.functional.cross_entropy(scores, target, ignore_index=ignore)
        moved = scores.to("lazycore"), target.to("lazycore")
        got = torch.nn.functional.cross_entropy(*moved, ignore_index=ignore)
        torch.testing.assert_close(got.cpu(), expected)
        computed = torch.nn.functional.cross_entropy(moved[0], moved[1] + 0, ignore_index=ignore)
        torch.testing.assert_close(computed.cpu(), expected)


def test_a_target_that_is_wrong_beside_one_to_ignore() -> None:
    scores = torch.randn(3, 3).to("lazycore")
    for shift in (0, 1):
        target = torch.tensor([0, -100, 7 - shift]).to("lazycore") + torch.tensor([0, 0, shift]).to("lazycore")
        with pytest.raises(IndexError, match="Target 7 is out of bounds"):
            torch.nn.functional.cross_entropy(scores, target).item()


def test_no_index_at_all_is_in_range() -> None:
    x, none = base().to("lazycore"), torch.empty(0, dtype=torch.int64).to("lazycore")
    assert x[none].shape == (0, 3)
    assert x[none].cpu().shape == (0, 3)
    assert x.index_select(0, none).cpu().shape == (0, 3)


def lookups(bad_at: int | None, steps: int) -> torch.Tensor:
    """Steps that look up computed indices and never observe; one of them is out of range."""
    table = torch.zeros(10, 3, device="lazycore", requires_grad=True)
    optimizer = torch.optim.SGD([table], lr=0.1)
    picks = [torch.tensor([1, 2]).to("lazycore"), torch.tensor([1, 20]).to("lazycore")]
    for step in range(steps):
        table[picks[step == bad_at] + 1].sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    return table


def test_many_steps_without_an_observation_keep_few_flags() -> None:
    table = lookups(None, 300)
    assert 0 < len(local.recorder.flags) <= 64
    assert table[2, 0].item() == pytest.approx(-30.0, rel=1e-4)


@pytest.mark.parametrize("bad_at", [0, 100, 199])
def test_an_old_error_is_raised_all_the_same(bad_at: int) -> None:
    table = lookups(bad_at, 200)
    with pytest.raises(IndexError, match="index 21 is out of bounds"):
        table.sum().item()
    assert table.sum().item() != 0, "raised once"


def test_another_thread_does_not_get_the_error() -> None:
    table = lookups(0, 1)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: (torch.ones(2).to("lazycore") * 2.5).tolist()).result(60) == [2.5, 2.5]
    with pytest.raises(IndexError):
        table.sum().item()


def test_a_failing_trace_undoes_its_writes_but_not_those_before_a_sync() -> None:
    x, bad = torch.ones(3, device="lazycore"), torch.tensor([9]).to("lazycore")
    x.mul_(2)
    lazycore.sync()
    x.mul_(5)
    with pytest.raises(IndexError):
        x[bad].tolist()
    assert x.tolist() == [2.0, 2.0, 2.0]
