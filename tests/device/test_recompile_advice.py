"""What a warning of recompilations says of each kind of difference, and what to do about it."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
import torch

import lazycore
from lazycore.report.recompiles import RecompileWarning

X = torch.arange(12.0).reshape(3, 4)


def picked(x: torch.Tensor, i: int) -> torch.Tensor:
    return [x + 1, x * 2, x - 3][i].sin()


def stacked(x: torch.Tensor, i: int) -> torch.Tensor:
    return torch.stack([x + 1, x * 2, x - 3, x / 4][: i + 1])


def reordered(x: torch.Tensor, i: int) -> torch.Tensor:
    parts = [x + 1, x * 2, x - 3]
    return torch.stack([parts[0], parts[i]])


def accumulated(x: torch.Tensor, i: int) -> torch.Tensor:
    return x.cumsum([0, 1, -1][i])


def permuted(x: torch.Tensor, i: int) -> torch.Tensor:
    return x.flip([[0], [1], [0, 1]][i])


def rounded(x: torch.Tensor, i: int) -> torch.Tensor:
    return torch.round(x, decimals=i + 1)


def cast(x: torch.Tensor, i: int) -> torch.Tensor:
    return x.sum(0, dtype=[torch.float32, torch.float64, torch.int64][i])


def attended(x: torch.Tensor, i: int) -> torch.Tensor:
    sequence = x[None, None]
    return torch.nn.functional.scaled_dot_product_attention(sequence, sequence[:, :, i:], sequence[:, :, i:])


def shortened(x: torch.Tensor, i: int) -> torch.Tensor:
    return x[i:].exp()


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        (shortened, ("operand self", "a view size (1, 4)", "a program of its own")),
        (attended, ("attention", "operand key", "a view size (1, 1, 1, 4)", "a program of its own")),
        (picked, ("aten.sin.default", "operand self", "value 2 where value 1 is known", "take the same ones")),
        (stacked, ("aten.cat.default", "operand tensors", "[value 0, value 1", "take the same ones")),
        (reordered, ("operand tensors", "[value 0, value 2] where [value 0, value 1] is known", "take the same ones")),
        (accumulated, ("aten.cumsum.default", "operand dim", "-1 where 1 is known", "few values")),
        (permuted, ("aten.flip.default", "operand dims", "[0, 1] where [1] is known", "few values")),
        (rounded, ("aten.round.decimals", "operand decimals", "3 where 2 is known", "few values")),
        (cast, ("operand dtype", "torch.int64 where torch.float64 is known", "few values")),
    ],
)
def test_what_differs_and_what_to_do(body: Callable[[torch.Tensor, int], torch.Tensor], parts: tuple[str, ...]) -> None:
    x = X.to("lazycore")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(3):
            kept = body(x, i)
            lazycore.sync()
            torch.testing.assert_close(kept.cpu(), body(X, i))
            del kept
    (warning,) = [w for w in caught if issubclass(w.category, RecompileWarning)]
    assert warning.filename == __file__
    for part in parts:
        assert part in str(warning.message)
