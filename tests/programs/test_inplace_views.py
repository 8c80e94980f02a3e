"""Writes through views: rows, columns, diagonals, transposes and reshapes of a tensor that others look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch


def written_through_views(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    base = torch.randn(6, 8).to(device)
    row, column, turned = base[2], base[:, 3], base.t()
    corner, flat, diagonal = base[1:5:2, ::3], base.view(-1), base.diagonal()
    for step in range(6):
        row.add_(1.0)
        column.mul_(0.5)
        turned[1:3].sub_(turned[3:5].clone())
        corner.copy_(torch.full((2, 3), float(step)).to(device))
        flat[5:11] = flat[20:26] * 0.25
        diagonal.clamp_(-1.0, 1.0)
        base.unsqueeze(0).transpose(1, 2)[0, 7].neg_()
        log(base.sum() + row.sum() + flat[::7].sum())
    return {"base": base, "column": column, "turned": turned, "corner": corner, "diagonal": diagonal}


def differentiated(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    """Autograd through a tensor that was partly overwritten and partly scaled in place."""
    weight = torch.randn(4, 6).to(device).requires_grad_()
    for _ in range(6):
        hidden = torch.randn(5, 4).to(device) @ weight
        hidden[:, :2] = 0.0
        hidden[:, 2:4] *= 3.0
        hidden[1].exp_()
        loss = hidden.mean()
        (gradient,) = torch.autograd.grad(loss, weight)
        weight.data.sub_(gradient, alpha=0.1)
        log(loss)
    return {"weight": weight}


def packed_parameters(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    """Two layers whose weights are views of one flat tensor, which alone is updated."""
    flat = (torch.randn(4 * 5 + 5 * 2) * 0.5).to(device)
    first, second = flat[:20].view(4, 5), flat[20:].view(5, 2)
    for _ in range(6):
        x = torch.randn(8, 4).to(device)
        a, b = first.detach().requires_grad_(), second.detach().requires_grad_()
        loss = (torch.sigmoid(x @ a) @ b).square().mean()
        gradients = torch.autograd.grad(loss, (a, b))
        flat.sub_(torch.cat([g.reshape(-1) for g in gradients]), alpha=0.5)
        log(loss)
    return {"first": first, "second": second}


def test_written_through_views(compare) -> None:
    compare(written_through_views, settled=4)


def test_differentiated(compare) -> None:
    compare(differentiated)


def test_packed_parameters(compare) -> None:
    compare(packed_parameters)
