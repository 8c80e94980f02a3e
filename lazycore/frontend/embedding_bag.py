"""Results of embedding bags as the CPU lays them out: its Meta kernel follows other devices."""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["BAGS", "bag_results"]

BAGS = frozenset(("_embedding_bag", "_embedding_bag_forward_only"))


def bag_results(op: Any, weight: torch.Tensor, *arguments: Any) -> tuple[torch.Tensor, ...]:
    """The results of an overload of BAGS on Meta, by running it on the CPU over a table of a single row.

    ``weight`` (rows, columns) and the tensors among ``arguments`` may be anywhere. Raises what the CPU raises.
    """
    row = torch.zeros((min(1, weight.shape[0]), *weight.shape[1:]), dtype=weight.dtype, device="cpu")
    zeros = (torch.zeros(x.shape, dtype=x.dtype, device="cpu") if isinstance(x, torch.Tensor) else x for x in arguments)
    return tuple(result.to("meta") for result in op(row, *zeros))
