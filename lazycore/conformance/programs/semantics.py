"""Level 3: views, writes, aliasing, promotion and odd inputs. A program gets a device and returns what must agree to
the bit: what it computes is exact, or rounded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

__all__ = ["SEMANTICS"]

Program = Callable[[str], Sequence[Tensor]]


def _grid(device: str, dtype: torch.dtype = torch.float32) -> Tensor:
    return (torch.arange(24, device=device).reshape(4, 6) - 7).to(dtype)


def write_through_slice(device: str) -> Sequence[Tensor]:
    x = _grid(device)
    x[1:3, ::2] += 10
    x[0].mul_(2)
    return [x]


def write_through_transpose(device: str) -> Sequence[Tensor]:
    x = _grid(device)
    y = x.t()
    y[2] = -1
    x.add_(1)
    return [x, y.contiguous()]


def view_sees_later_write(device: str) -> Sequence[Tensor]:
    x = _grid(device)
    y = x[2]
    before = y.clone()
    x.zero_()
    return [before, y, x]


def overlapping_windows(device: str) -> Sequence[Tensor]:
    x = _grid(device).flatten()
    return [x.unfold(0, 5, 2), x.as_strided((3, 4), (2, 3), 1)]


def diagonal_write(device: str) -> Sequence[Tensor]:
    x = _grid(device)[:, :4].contiguous()
    x.diagonal().fill_(0)
    return [x]


def expanded_operand(device: str) -> Sequence[Tensor]:
    x = _grid(device)[:, :1].expand(4, 3)
    return [x + 1, x * x]


def copy_into_view(device: str) -> Sequence[Tensor]:
    x, y = _grid(device), _grid(device).neg()
    x[:, 1:3].copy_(y[:, 3:5])
    x[3] = x[0]
    return [x]


def swap_halves(device: str) -> Sequence[Tensor]:
    x = _grid(device)
    x[:2], x[2:] = x[2:].clone(), x[:2].clone()
    return [x]


def masked_write(device: str) -> Sequence[Tensor]:
    x = _grid(device)
    x[x > 5] = 0
    x.masked_fill_(x < -3, 1.5)
    return [x]


def indexed_write(device: str) -> Sequence[Tensor]:
    x = _grid(device)
    index = torch.tensor([2, 0, 2], device=device)
    x.index_add_(0, index, torch.ones(3, 6, device=device))
    x[index[:2], torch.tensor([1, 5], device=device)] = 99
    return [x]


def out_and_alias(device: str) -> Sequence[Tensor]:
    x, out = _grid(device), torch.empty(4, 6, device=device)
    y = torch.add(x, 1, out=out)
    out.mul_(2)
    return [x, y, out]


def in_place_chain(device: str) -> Sequence[Tensor]:
    x = _grid(device)
    y = x
    for _ in range(5):
        x += y
        x.sub_(3)
    return [x, y]


def promotion(device: str) -> Sequence[Tensor]:
    kinds = [
        torch.uint8,
        torch.int8,
        torch.int32,
        torch.int64,
        torch.bool,
        torch.float16,
        torch.bfloat16,
        torch.float32,
    ]
    ones = [torch.ones(2, dtype=kind, device=device) for kind in kinds]
    results = [a + b for a in ones for b in ones]
    return [*results, *(a * 2.5 for a in ones), *(a / 2 for a in ones), *(a > 0 for a in ones)]


def zero_dim_promotion(device: str) -> Sequence[Tensor]:
    x = torch.ones(3, dtype=torch.float16, device=device)
    number = torch.tensor(2.0, dtype=torch.float64, device=device)
    whole = torch.tensor(3, device=device)
    return [x * number, x + whole, whole + number, torch.ones(2, dtype=torch.int8, device=device) + whole]


def casts(device: str) -> Sequence[Tensor]:
    x = torch.tensor([-2.7, -0.5, 0.0, 0.5, 2.7, 100.0], device=device)
    kinds = (torch.int8, torch.int32, torch.int64, torch.bool, torch.float16, torch.bfloat16, torch.float64)
    return [x.to(kind) for kind in kinds]


def special_values(device: str) -> Sequence[Tensor]:
    x = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0], device=device)
    y = x[:, None]
    return [
        x.isnan(), x == x, torch.maximum(x, y).abs(), torch.minimum(x, y).isnan(), x * 0, x.abs(), x.clamp(-1, 1),
        torch.where(x > 0, x, y), x.max(), x.argmax(), x.sort(stable=True).values, 1 / x, x.nan_to_num(),
    ]  # fmt: skip


def empty(device: str) -> Sequence[Tensor]:
    x = torch.empty(0, 3, device=device)
    return [x + 1, x.sum(), x.sum(0), x.mean(1), x.t() @ x, torch.cat([x, torch.ones(2, 3, device=device)]), x.prod()]


def zero_dim(device: str) -> Sequence[Tensor]:
    x = torch.tensor(3.0, device=device)
    return [x + 1, x.sum(0), x.max(), x.reshape(1, 1), x.expand(2, 2), x.view(1), torch.stack([x, x])]


def huge_values(device: str) -> Sequence[Tensor]:
    x = torch.tensor([3e38, -3e38, 1e-30, 65000.0], device=device)
    whole = torch.tensor([2**62, -(2**63), 2**31], device=device)
    return [
        x + x,
        x * x,
        x.half(),
        whole + whole,
        whole * 2,
        whole.int(),
        torch.tensor([200], device=device).to(torch.int8),
    ]


def subnormal_values(device: str) -> Sequence[Tensor]:
    x = torch.tensor([1e-40, -3e-42, 1e-45], device=device)
    return [x + x, x * 3, x.abs(), -x, torch.tensor([1e-30, 2e-30], device=device) * 1e-10]


def signed_zeros(device: str) -> Sequence[Tensor]:
    x = torch.tensor([0.0, -0.0], device=device)
    return [x + 0.0, x - 0.0, x * 1.0, x * -1.0, -x, 1 / x, x + x, x.abs(), x.sqrt(), torch.copysign(x + 2, x)]


def integer_division(device: str) -> Sequence[Tensor]:
    x = torch.tensor([7, -7, 7, -7, 0], device=device)
    y = torch.tensor([2, 2, -2, -2, 5], device=device)
    return [x // y, x % y, torch.fmod(x, y), torch.div(x, y, rounding_mode="trunc"), x / y]


def many_dimensions(device: str) -> Sequence[Tensor]:
    x = torch.arange(64, device=device).reshape(2, 2, 2, 2, 2, 2).float()
    return [x.permute(5, 3, 1, 0, 2, 4), x.sum((1, 3)), x.flip((0, 5)), x[:, 1, :, 0].amax(2)]


def detach_shares(device: str) -> Sequence[Tensor]:
    x = _grid(device).requires_grad_()
    y = x.detach()
    y.mul_(2)
    return [x.detach(), y]


SEMANTICS: dict[str, Program] = {
    program.__name__.replace("_", "-"): program
    for program in (
        write_through_slice, write_through_transpose, view_sees_later_write, overlapping_windows, diagonal_write,
        expanded_operand, copy_into_view, swap_halves, masked_write, indexed_write, out_and_alias, in_place_chain,
        promotion, zero_dim_promotion, casts, special_values, empty, zero_dim, huge_values,
        subnormal_values, signed_zeros, integer_division,
        many_dimensions, detach_shares,
    )
}  # fmt: skip
