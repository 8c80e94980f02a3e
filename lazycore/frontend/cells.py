"""Recurrent cells: on any device but the CPU torch asks for these fused kernels. Composed of recorded ops."""

from __future__ import annotations

import torch

__all__ = ["CELLS"]

Optional = torch.Tensor | None


def lstm_cell(
    input_gates: torch.Tensor, hidden_gates: torch.Tensor, cx: torch.Tensor, ib: Optional = None, hb: Optional = None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """``aten::_thnn_fused_lstm_cell`` -> hidden state, cell state, workspace (the four activated gates)."""
    gates = input_gates + hidden_gates
    if ib is not None and hb is not None:
        gates = gates + ib + hb
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx + i * g
    return o * cy.tanh(), cy, torch.cat([i, f, g, o], 1)


def lstm_cell_backward(
    grad_hy: Optional, grad_cy: Optional, cx: torch.Tensor, cy: torch.Tensor, workspace: torch.Tensor, has_bias: bool
) -> tuple[Optional, Optional, Optional]:
    """``aten::_thnn_fused_lstm_cell_backward_impl`` -> gradients of the gates, of cx, of the biases' sum."""
    if grad_hy is None and grad_cy is None:
        return None, None, None
    i, f, g, o = workspace.chunk(4, 1)
    bent = cy.tanh()
    grad_hy = torch.zeros_like(cy) if grad_hy is None else grad_hy
    total = grad_hy * o * (1 - bent * bent)
    if grad_cy is not None:
        total = total + grad_cy
    parts = [
        total * g * i * (1 - i),
        total * cx * f * (1 - f),
        total * i * (1 - g * g),
        grad_hy * bent * o * (1 - o),
    ]
    gates = torch.cat(parts, 1)
    return gates, total * f, gates.sum(0) if has_bias else None


def gru_cell(
    input_gates: torch.Tensor, hidden_gates: torch.Tensor, hx: torch.Tensor, ib: Optional = None, hb: Optional = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """``aten::_thnn_fused_gru_cell`` -> hidden state, workspace (r, z, n, hx, the hidden part of n)."""
    if ib is not None and hb is not None:
        input_gates, hidden_gates = input_gates + ib, hidden_gates + hb
    ir, iz, i_n = input_gates.chunk(3, 1)
    hr, hz, hn = hidden_gates.chunk(3, 1)
    r, z = (ir + hr).sigmoid(), (iz + hz).sigmoid()
    n = (i_n + r * hn).tanh()
    return n + z * (hx - n), torch.cat([r, z, n, hx, hn], 1)


def gru_cell_backward(
    grad: torch.Tensor, workspace: torch.Tensor, has_bias: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, Optional, Optional]:
    """``aten::_thnn_fused_gru_cell_backward`` -> gradients of both gates, of hx, and of both biases."""
    r, z, n, hx, hn = workspace.chunk(5, 1)
    grad_z = grad * (hx - n) * z * (1 - z)
    grad_n = grad * (1 - z) * (1 - n * n)
    grad_r = grad_n * hn * r * (1 - r)
    inputs = torch.cat([grad_r, grad_z, grad_n], 1)
    hidden = torch.cat([grad_r, grad_z, grad_n * r], 1)
    sums = (inputs.sum(0), hidden.sum(0)) if has_bias else (None, None)
    return inputs, hidden, grad * z, *sums


CELLS = {
    "_thnn_fused_lstm_cell": lstm_cell,
    "_thnn_fused_lstm_cell_backward_impl": lstm_cell_backward,
    "_thnn_fused_gru_cell": gru_cell,
    "_thnn_fused_gru_cell_backward": gru_cell_backward,
}
