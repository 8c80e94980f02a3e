"""Kinds of tensor that the device does not have: every op on one says so, and what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

__all__ = ["KINDS", "register_refusals"]

KINDS = {
    "SparsePrivateUse1": ("sparse tensors", "keep them on the CPU, or convert with .to_dense()"),
    "SparseCsrPrivateUse1": ("compressed sparse tensors", "keep them on the CPU, or convert with .to_dense()"),
    "QuantizedPrivateUse1": ("quantized tensors", "keep them on the CPU, or convert with .dequantize()"),
    "NestedTensorPrivateUse1": (
        "strided nested tensors", "use layout=torch.jagged, or pad them on the CPU with .to_padded_tensor(…)"
    ),
}  # fmt: skip
_library: Any = None


def register_refusals() -> None:
    """Give each kind's dispatch key a fallback that raises NotImplementedError. Called once."""
    global _library
    _library = torch.library.Library("_", "IMPL")
    for key, (kind, advice) in KINDS.items():
        _library.fallback(_refuse(kind, advice), key)


def _refuse(kind: str, advice: str) -> Callable[..., Any]:
    def fallback(op: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG001
        hint = ""
        if op._schema.name.startswith("aten::_sparse_coo_tensor"):
            # What an embedding made with sparse=True asks for in its backward is the likeliest way to come here.
            hint = "; for an embedding's gradients pass sparse=False"
        raise NotImplementedError(f"lazycore has no {kind} ({op}): {advice}{hint}")

    return fallback
