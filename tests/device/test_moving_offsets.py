"""Positions in a trace's inputs are run-time values: a loop over them compiles once, whatever it reads or writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import lazycore
from lazycore.frontend.local import tree

ROUNDS = 8


def fresh(device: str) -> torch.Tensor:
    return torch.arange(8 * 32 * 3.0).reshape(8 * 32, 3).to(device)


READS: dict[str, Callable[[torch.Tensor, int], torch.Tensor]] = {
    "batch": lambda x, i: x[i * 32 : (i + 1) * 32] * 2,
    "row": lambda x, i: x[i] + 1,
    "row from the end": lambda x, i: x[-1 - i] + 1,
    "column": lambda x, i: x[:, i % 3] * 2,
    "columns": lambda x, i: x[:, i % 2 : i % 2 + 2] + 1,
    "element": lambda x, i: x[i, i % 3] * 3,
    "narrow": lambda x, i: x.narrow(0, i, 5).sum(0),
    "inner narrow": lambda x, i: x.narrow(1, i % 2, 2).sum(0),
    "stepped": lambda x, i: x[i : i + 20 : 4] * 2,
    "of the transposed": lambda x, i: x.t()[:, i * 2 : i * 2 + 4] + 1,
    "window in both": lambda x, i: x[i : i + 4, i % 2 : i % 2 + 2] * 2,
    "of a slice": lambda x, i: x[8:][i : i + 3][1:] + 1,
    "as strided": lambda x, i: x.as_strided((2, 3), (6, 1), 3 * i) + 1,
    "wrapping": lambda x, i: x.as_strided((4,), (1,), i) * 2,
    "clone": lambda x, i: x[i].clone(),
    "split": lambda x, i: x.split(32)[i] + 1,
    "chunk": lambda x, i: x.chunk(8)[i] + 1,
    "several": lambda x, i: x[i] + x[i + 1] * x[2 * i : 2 * i + 2] - x[:, i % 3].sum(),
}


@pytest.mark.parametrize("name", READS)
def test_reading_at_a_moving_position_compiles_once(name: str, rounds: Any) -> None:
    x, expected = fresh("lazycore"), fresh("cpu")

    def body(i: int) -> None:
        torch.testing.assert_close(READS[name](x, i).cpu(), READS[name](expected, i))

    # A window that runs over the edge of a row is read by another program than one that does not.
    allowed = 2 if name == "wrapping" else 1
    assert rounds(body, ROUNDS)[-1] <= allowed


def store_row(x: torch.Tensor, i: int) -> None:
    x[i] = torch.ones(3, device=x.device) * i


def store_rows(x: torch.Tensor, i: int) -> None:
    x[2 * i : 2 * i + 2] = 1.5


def store_column(x: torch.Tensor, i: int) -> None:
    x[:, i % 3] += 1


def store_element(x: torch.Tensor, i: int) -> None:
    x[i, i % 3] = -1.0


def scale_batch(x: torch.Tensor, i: int) -> None:
    x[i * 32 : (i + 1) * 32].mul_(2)


def copy_rows(x: torch.Tensor, i: int) -> None:
    x[i : i + 2] = x[i + 4 : i + 6] * 0.25


def shift_window(x: torch.Tensor, i: int) -> None:
    x.narrow(0, i, 3).add_(x.narrow(0, i + 3, 3))


def zero_strided(x: torch.Tensor, i: int) -> None:
    x[i : i + 9 : 3].zero_()


def wrap_around(x: torch.Tensor, i: int) -> None:
    x.as_strided((4,), (1,), i).add_(1)


WRITES = [
    store_row, store_rows, store_column, store_element, scale_batch, copy_rows, shift_window, zero_strided, wrap_around
]  # fmt: skip


@pytest.mark.parametrize("write", WRITES)
def test_writing_at_a_moving_position_compiles_at_most_twice(
    write: Callable[[torch.Tensor, int], None], rounds: Any
) -> None:
    x, expected = fresh("lazycore"), fresh("cpu")
    lazycore.sync()

    def body(i: int) -> None:
        write(x, i)
        write(expected, i)
        torch.testing.assert_close(x.cpu(), expected)

    counts = rounds(body, ROUNDS)
    # Two writes in one step may run over an edge or not, each for itself.
    assert counts[-1] <= 2, counts


def test_positions_within_a_trace_are_lifted_once_they_vary(rounds: Any) -> None:
    x = torch.randn(16, 3, device="lazycore")

    def body(i: int) -> None:
        computed = x * 2
        torch.testing.assert_close((computed[i] + 1).cpu(), x.cpu()[i] * 2 + 1)

    lazycore.sync()
    counts = rounds(body, ROUNDS)
    assert counts[1:] == [2] * (ROUNDS - 1), counts


def test_every_position_in_one_trace() -> None:
    """A loop without a barrier writes and reads at many places of one buffer."""
    x, expected = torch.zeros(6, 4, device="lazycore"), torch.zeros(6, 4)
    lazycore.sync()
    for side in (x, expected):
        for i in range(6):
            side[i] = float(i)
            side[:, i % 4] += side[5 - i].sum()
    torch.testing.assert_close(x.cpu(), expected)


def test_the_number_of_nodes_does_not_grow_with_the_positions() -> None:
    x = fresh("lazycore")

    def nodes() -> int:
        counted, todo = 0, list(tree.roots.values())
        while todo:
            children = set(todo.pop().children.values())
            counted += len(children)
            todo += children
        return counted

    (x[0] + 1).cpu()
    (x[1] + 1).cpu()
    before = nodes()
    for i in range(2, 50):
        (x[i] + 1).cpu()
    assert nodes() == before


@pytest.mark.parametrize("backend", ["xla"], indirect=True)
def test_a_cache_of_keys_and_values(rounds: Any) -> None:
    """Autoregressive decoding: one position written a step, a prefix masked by the position."""
    cache, expected = torch.zeros(2, 8, 4, device="lazycore"), torch.zeros(2, 8, 4)
    step = torch.randn(2, 4)
    lazycore.sync()

    def body(i: int) -> None:
        for side in (cache, expected):
            side[:, i] = step.to(side.device) * (i + 3)
            scores = side.sum(-1).masked_fill(torch.arange(8, device=side.device) > i, float("-inf"))
            side[:, i] += scores.softmax(-1)[:, :1]
        torch.testing.assert_close(cache.cpu(), expected)

    counts = rounds(body, ROUNDS)
    assert counts[2] == counts[-1], counts
