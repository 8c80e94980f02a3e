"""View operators by name: each makes a view of a tensor from a few small integers, or None where it does not apply."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

__all__ = ["VIEWS"]

View = Callable[[torch.Tensor, Sequence[int]], torch.Tensor | None]


def _dim(x: torch.Tensor, pick: int) -> int:
    return pick % x.dim() - (x.dim() if pick % 2 else 0)


def _transpose(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:
    return x.transpose(_dim(x, p[0]), _dim(x, p[1])) if x.dim() > 1 else None


def _permute(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:
    order = sorted(range(x.dim()), key=lambda d: (p[d % len(p)], d))
    return x.permute(order)


def _slice(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:
    if not x.dim():
        return None
    dim = p[0] % x.dim()
    start = p[1] % (x.size(dim) + 1)
    return x[(slice(None),) * dim + (slice(start, start + p[2] % (x.size(dim) + 1), 1 + p[3] % 3),)]


def _narrow(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:
    if not x.dim():
        return None
    dim = _dim(x, p[0])
    start = p[1] % (x.size(dim) + 1)
    return x.narrow(dim, start, p[2] % (x.size(dim) - start + 1))


def _select(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:
    if not x.dim() or not x.size(p[0] % x.dim()):
        return None
    dim = p[0] % x.dim()
    return x.select(dim, p[1] % (2 * x.size(dim)) - x.size(dim))


def _unsqueeze(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:
    return x.unsqueeze(p[0] % (x.dim() + 1)) if x.dim() < 5 else None


def _squeeze(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:
    return x.squeeze(_dim(x, p[0])) if x.dim() and p[1] % 2 else x.squeeze()


def _expand(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:
    if x.dim() > 4 or x.numel() > 60:
        return None
    size = [2 + p[0] % 2 if extent == 1 else -1 for extent in x.shape]
    return x.expand([1 + p[1] % 3, *size] if p[2] % 2 else size)


def _unfold(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:
    if not x.dim() or x.dim() > 4 or x.numel() > 60:
        return None
    dim = p[0] % x.dim()
    return x.unfold(dim, p[1] % (x.size(dim) + 1), 1 + p[2] % 3)


def _diagonal(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:
    if x.dim() < 2:
        return None
    first = p[0] % x.dim()
    return x.diagonal(p[2] % 5 - 2, first, (first + 1 + p[1] % (x.dim() - 1)) % x.dim())


def _view(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:
    if not x.is_contiguous() or not x.numel():
        return None
    shapes = [(x.numel(),), (1, -1), (-1, 1), *((-1, k) for k in (2, 3, 4) if x.numel() % k == 0)]
    return x.view(shapes[p[0] % len(shapes)])


def _flatten(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:  # noqa: ARG001
    return x.flatten()  # a view where it can be, else a copy


def _as_strided(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:
    size, stride = (1 + p[0] % 3, 1 + p[1] % 3), (p[2] % 4, p[3] % 3)
    return x.as_strided(size, stride, p[1] % 3)  # an error where the storage is too small


def _view_dtype(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:
    if x.is_complex() or x.is_conj() or x.is_neg():
        return None
    return x.view((torch.int32, torch.int64, torch.int16)[p[0] % 3])


def _conj(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:  # noqa: ARG001
    return x.conj() if x.is_complex() else None


def _real(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:
    if not x.is_complex():
        return None
    return x.real if p[0] % 2 else x.imag


def _detach(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:
    return x.data if p[0] % 2 else x.detach()


def _split(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:
    if not x.dim():
        return None
    parts = x.chunk(1 + p[1] % 3, p[0] % x.dim())
    return parts[p[2] % len(parts)]


def _unbind(x: torch.Tensor, p: Sequence[int]) -> torch.Tensor | None:
    if not x.dim() or not x.size(p[0] % x.dim()):
        return None
    parts = x.unbind(p[0] % x.dim())
    return parts[p[1] % len(parts)]


VIEWS: dict[str, View] = {
    "transpose": _transpose,
    "permute": _permute,
    "slice": _slice,
    "narrow": _narrow,
    "select": _select,
    "unsqueeze": _unsqueeze,
    "squeeze": _squeeze,
    "expand": _expand,
    "unfold": _unfold,
    "diagonal": _diagonal,
    "view": _view,
    "flatten": _flatten,
    "as_strided": _as_strided,
    "view_dtype": _view_dtype,
    "conj": _conj,
    "real": _real,
    "detach": _detach,
    "split": _split,
    "unbind": _unbind,
}
