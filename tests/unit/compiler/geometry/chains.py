"""Random chains of PyTorch's view operators on bases of random dense layout."""

from __future__ import annotations

import torch
from hypothesis import strategies as st

from .oracle import base_tensor

__all__ = ["bases", "chains"]


@st.composite
def bases(draw: st.DrawFn, least: int = 0, most: int = 7) -> torch.Tensor:
    size = tuple(draw(st.lists(st.integers(least, most), max_size=4)))
    contiguous = draw(st.booleans())
    order = tuple(range(len(size))) if contiguous else tuple(draw(st.permutations(range(len(size)))))
    return base_tensor(size, order)


def _permute(draw: st.DrawFn, x: torch.Tensor) -> torch.Tensor:
    return x.permute(draw(st.permutations(range(x.ndim))))


def _slice(draw: st.DrawFn, x: torch.Tensor) -> torch.Tensor:
    dim = draw(st.integers(0, x.ndim - 1))
    start = draw(st.integers(0, x.shape[dim]))
    stop = draw(st.integers(start, x.shape[dim]))
    return x[(slice(None),) * dim + (slice(start, stop, draw(st.integers(1, 3))),)]


def _select(draw: st.DrawFn, x: torch.Tensor) -> torch.Tensor:
    dim = draw(st.integers(0, x.ndim - 1))
    return x.select(dim, draw(st.integers(0, x.shape[dim] - 1))) if x.shape[dim] else x


def _unsqueeze(draw: st.DrawFn, x: torch.Tensor) -> torch.Tensor:
    return x.unsqueeze(draw(st.integers(0, x.ndim)))


def _squeeze(draw: st.DrawFn, x: torch.Tensor) -> torch.Tensor:
    return x.squeeze(draw(st.integers(0, x.ndim - 1)))


def _expand(draw: st.DrawFn, x: torch.Tensor) -> torch.Tensor:
    many = draw(st.integers(2, 3))
    lead = [many] * draw(st.integers(0, 1))
    return x.expand([*lead, *(many if n == 1 and draw(st.booleans()) else n for n in x.shape)])


def _flatten(draw: st.DrawFn, x: torch.Tensor) -> torch.Tensor:
    """Flatten two neighbours where that is a view."""
    dim = draw(st.integers(0, x.ndim - 1))
    if dim + 1 == x.ndim:
        return x
    try:
        return x.view([*x.shape[:dim], x.shape[dim] * x.shape[dim + 1], *x.shape[dim + 2 :]])
    except RuntimeError:
        return x


def _unflatten(draw: st.DrawFn, x: torch.Tensor) -> torch.Tensor:
    dim = draw(st.integers(0, x.ndim - 1))
    divisors = [d for d in range(1, x.shape[dim] + 1) if x.shape[dim] % d == 0]
    if not divisors:
        return x
    outer = draw(st.sampled_from(divisors))
    return x.unflatten(dim, (outer, x.shape[dim] // outer))


def _diagonal(draw: st.DrawFn, x: torch.Tensor) -> torch.Tensor:
    if x.ndim < 2:
        return x
    a, b = draw(st.permutations(range(x.ndim)))[:2]
    return x.diagonal(draw(st.integers(-2, 2)), a, b)


def _unfold(draw: st.DrawFn, x: torch.Tensor) -> torch.Tensor:
    dim = draw(st.integers(0, x.ndim - 1))
    return x.unfold(dim, draw(st.integers(0, x.shape[dim])), draw(st.integers(1, 3)))


NESTING = [_permute, _slice, _select, _unsqueeze, _squeeze, _expand, _flatten, _unflatten]
ANY = [*NESTING, _diagonal, _unfold]


@st.composite
def chains(draw: st.DrawFn, *, nesting: bool, least: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """A base and a view of it. ``nesting``: only operators whose views are never to be gathered."""
    base = view = draw(bases(least, 9))
    for operator in draw(st.lists(st.sampled_from(NESTING if nesting else ANY), max_size=7)):
        if view.ndim or operator in (_permute, _unsqueeze, _expand):
            view = operator(draw, view)
        if view.numel() > 3000:
            break
    return base, view
