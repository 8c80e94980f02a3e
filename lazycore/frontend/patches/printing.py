"""Printing a tensor looks at its values, so it prints a CPU copy.

torch would take it apart on the device instead: a dozen little traces, each compiled, for one line of text.
"""

from __future__ import annotations

from typing import Any

import torch
import torch._tensor_str

from lazycore.frontend.storage import is_ours

__all__ = ["install"]


def install() -> None:
    """Wrap the function that turns content into text; device, dtype and grad_fn are still the tensor's own."""
    original = torch._tensor_str._tensor_str

    def _tensor_str(self: torch.Tensor, indent: int) -> Any:
        return original(self.detach().cpu() if is_ours(self) else self, indent)

    torch._tensor_str._tensor_str = _tensor_str
