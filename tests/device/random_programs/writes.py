"""Writes and new tensors by name: functions of a tensor, another one, and a few small integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

__all__ = ["ANY_OVERLAP", "ONLY_WARN", "RESULTS", "WRITES"]

Act = Callable[[torch.Tensor, torch.Tensor, Sequence[int]], torch.Tensor | None]


def _number(x: torch.Tensor, pick: int) -> int | float:
    return pick - 2 if not (x.is_floating_point() or x.is_complex()) else (pick - 2) * 0.75


def _fill(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> None:  # noqa: ARG001
    x.fill_(_number(x, p[0]))


def _zero(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> None:  # noqa: ARG001
    x.zero_()


def _copy(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> None:  # noqa: ARG001
    x.copy_(other)


def _copy_from_host(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> None:  # noqa: ARG001
    x.copy_(torch.arange(x.numel(), device="cpu").reshape(x.shape) + p[0])


def _add_number(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> None:  # noqa: ARG001
    x.add_(_number(x, p[0]), alpha=1 + p[1] % 3)


def _add(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> None:
    x.add_(other, alpha=1 + p[0] % 2)


def _mul(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> None:  # noqa: ARG001
    x.mul_(_number(x, p[0]))


def _neg(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> None:  # noqa: ARG001
    x.neg_()


def _index_put(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> None:
    if not x.dim() or not x.size(0):
        return
    # Without repetitions, of which CPU keeps an arbitrary one.
    rows = torch.tensor(sorted({p[0] % x.size(0), p[1] % x.size(0)}), device=x.device)
    x.index_put_((rows,), other if p[2] % 2 else x[rows] + 1)


def _set_item(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> None:
    # A clone, because for a number on the CPU alone torch fills instead of copying, and so sees no overlap.
    x[p[0] % max(x.size(0), 1) :] = other[0].clone() if p[1] % 2 and other.dim() else _number(x, p[1])


def _masked_fill(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> None:
    x.masked_fill_(other.bool(), _number(x, p[0]))


def _clone(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> torch.Tensor:  # noqa: ARG001
    return x.clone()


def _contiguous(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> torch.Tensor:  # noqa: ARG001
    return x.contiguous()


def _sum(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> torch.Tensor:  # noqa: ARG001
    return x + other


def _scaled(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> torch.Tensor:  # noqa: ARG001
    return x * _number(x, p[0])


def _stack(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> torch.Tensor:  # noqa: ARG001
    return torch.stack([x, x + p[0]], p[1] % (x.dim() + 1))


def _flip(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> torch.Tensor:  # noqa: ARG001
    return x.flip(p[0] % x.dim()) if x.dim() else x + 1


def _like(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> torch.Tensor:  # noqa: ARG001
    return torch.full_like(x, p[0])


def _cast(x: torch.Tensor, other: torch.Tensor, p: Sequence[int]) -> torch.Tensor:  # noqa: ARG001
    return x.to((torch.float64, torch.int64)[p[0] % 2]) if not x.is_complex() else x + 1


WRITES: dict[str, Act] = {
    "fill_": _fill,
    "zero_": _zero,
    "copy_": _copy,
    "copy_from_host": _copy_from_host,
    "add_number_": _add_number,
    "add_": _add,
    "mul_": _mul,
    "neg_": _neg,
    "index_put_": _index_put,
    "set_item": _set_item,
    "masked_fill_": _masked_fill,
}
ANY_OVERLAP = frozenset(("fill_", "zero_"))
"""Writes that are defined where several elements of the target share memory."""

ONLY_WARN = frozenset(("index_put_", "masked_fill_"))
"""Writes that torch lets pass, with a warning, where elements of the target share memory."""

RESULTS: dict[str, Act] = {
    "clone": _clone,
    "contiguous": _contiguous,
    "sum": _sum,
    "scaled": _scaled,
    "stack": _stack,
    "flip": _flip,
    "full_like": _like,
    "cast": _cast,
}
