"""Ops that the CPU takes of several dtypes without saying so by type promotion: brought to one dtype, then recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import torch

from lazycore.frontend.kernels import recorded

__all__ = ["PROMOTING"]

aten = torch.ops.aten


def _in_common(op: Any, result_of: int | None) -> Callable[..., torch.Tensor]:
    """The kernel of ``op``; its result has the dtype of the positional argument ``result_of``, None: the common one.

    With a ``result_of``, the CPU takes floating dtypes alone; the others stay as they are, and are refused.
    """
    kernel = recorded(op)

    def promoted(*args: Any, **kwargs: Any) -> torch.Tensor:
        dtypes = {x.dtype: None for x in args if isinstance(x, torch.Tensor)}
        if len(dtypes) < 2 or not (result_of is None or all(dtype.is_floating_point for dtype in dtypes)):
            return kernel(*args, **kwargs)  # type: ignore[no-any-return]
        common = reduce(torch.promote_types, dtypes)
        result = kernel(*(x.to(common) if isinstance(x, torch.Tensor) else x for x in args), **kwargs)
        return result.to(common if result_of is None else args[result_of].dtype)  # type: ignore[no-any-return]

    return promoted


PROMOTING: Mapping[str, Callable[..., torch.Tensor]] = {
    "addr": _in_common(aten.addr.default, None),
    "huber_loss": _in_common(aten.huber_loss.default, 0),
    "binary_cross_entropy_with_logits": _in_common(aten.binary_cross_entropy_with_logits.default, 1),
}
