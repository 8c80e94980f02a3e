"""Making tensors: uninitialized, filled, counted."""

from __future__ import annotations

from math import prod
from typing import Any

import torch

from lazycore.frontend.assign import full
from lazycore.frontend.storage import check_device, layout_for, strided
from lazycore.frontend.stricter import check_number
from lazycore.frontend.strides import stride_like
from lazycore.trace.layout import contiguous_stride, is_dense
from lazycore.trace.state import StorageState

__all__ = ["FACTORIES"]


def _options(dtype: torch.dtype | None, layout: torch.layout | None, device: Any = None) -> torch.dtype:
    if device is not None:
        check_device(device)
    if layout not in (None, torch.strided):
        raise NotImplementedError(f"lazycore makes strided tensors only, not {layout}; build it on the CPU")
    return dtype or torch.get_default_dtype()


def uninitialized(size: Any, stride: Any, dtype: torch.dtype) -> torch.Tensor:
    """A tensor whose content nobody has given yet; reading it gives zeros. A base with gaps or overlaps is kept as the
    flat memory under it."""
    size, stride = tuple(size), tuple(stride)
    tensor = strided(size, stride, dtype)
    state = StorageState()
    if is_dense(size, stride):
        state.layout = layout_for(size, stride, dtype)
    else:
        like = torch.empty_strided(size, stride, dtype=dtype, device="meta")
        numel = like.untyped_storage().nbytes() // like.element_size()
        state.layout = layout_for((numel,), (1,), dtype)
        state.viewed = True
    tensor.untyped_storage().state = state
    return tensor


def empty(
    size: Any,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: Any = None,
    pin_memory: bool | None = None,  # noqa: ARG001
    memory_format: torch.memory_format | None = None,
) -> torch.Tensor:
    """``aten::empty.memory_format``."""
    dtype = _options(dtype, layout, device)
    if memory_format in (None, torch.contiguous_format):
        torch._check(all(s >= 0 for s in size), lambda: _negative(size))
        return uninitialized(size, contiguous_stride(tuple(size)), dtype)
    like = torch.empty(size, dtype=dtype, device="meta", memory_format=memory_format)
    return uninitialized(size, like.stride(), dtype)


def _negative(size: Any) -> str:
    bad = next(s for s in size if s < 0)
    return f"Trying to create tensor with negative dimension {bad}: {list(size)}"


def empty_strided(
    size: Any,
    stride: Any,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: Any = None,
    pin_memory: bool | None = None,  # noqa: ARG001
) -> torch.Tensor:
    """``aten::empty_strided``."""
    return uninitialized(size, stride, _options(dtype, layout, device))


def _filled(size: Any, number: Any, dtype: torch.dtype) -> torch.Tensor:
    torch._check(all(s >= 0 for s in size), lambda: _negative(size))
    check_number(number, dtype, prod(size))
    return full(tuple(size), number, dtype, contiguous_stride(tuple(size)))


def full_(
    size: Any, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, **_: Any
) -> torch.Tensor:
    """``aten::full``: without a dtype, that of the number."""
    if dtype is None:
        dtype = {bool: torch.bool, int: torch.int64, complex: torch.complex64}.get(type(fill_value))
    return _filled(size, fill_value, _options(dtype, layout, device))


def zeros(size: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, **_: Any) -> torch.Tensor:
    """``aten::zeros``, and ``_efficientzerotensor``, whose null storage nothing could read."""
    torch._check(all(s >= 0 for s in size), lambda: "zeros: Dimension size must be non-negative.")
    return _filled(size, 0, _options(dtype, layout, device))


def ones(size: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, **_: Any) -> torch.Tensor:
    """``aten::ones``."""
    return _filled(size, 1, _options(dtype, layout, device))


def scalar_tensor(s: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, **_: Any) -> torch.Tensor:
    """``aten::scalar_tensor``: float by default, whatever the number."""
    return _filled((), s, _options(dtype, layout, device))


def _like(x: torch.Tensor, number: Any, dtype: Any, memory_format: Any) -> torch.Tensor:
    stride = stride_like(x.shape, x.stride(), memory_format)
    check_number(number, dtype or x.dtype, x.numel())
    return full(tuple(x.shape), number, dtype or x.dtype, stride)


def _elsewhere(device: Any) -> bool:
    return device is not None and torch.device(device).type != "lazycore"


def full_like(
    x: torch.Tensor, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    memory_format: Any = None, **_: Any,
) -> torch.Tensor:  # fmt: skip
    """``aten::full_like``."""
    if _elsewhere(device):
        return torch.full(x.shape, fill_value, dtype=dtype or x.dtype, device=device)
    _options(dtype, layout, device)
    return _like(x, fill_value, dtype, memory_format)


def zeros_like(x: torch.Tensor, **options: Any) -> torch.Tensor:
    """``aten::zeros_like``."""
    return full_like(x, 0, **options)


def ones_like(x: torch.Tensor, **options: Any) -> torch.Tensor:
    """``aten::ones_like``."""
    return full_like(x, 1, **options)


def new_full(
    x: torch.Tensor, size: Any, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, **_: Any
) -> torch.Tensor:
    """``aten::new_full``."""
    if _elsewhere(device):
        return torch.full(tuple(size), fill_value, dtype=dtype or x.dtype, device=device)
    return _filled(size, fill_value, _options(dtype or x.dtype, layout, device))


def new_zeros(x: torch.Tensor, size: Any, **options: Any) -> torch.Tensor:
    """``aten::new_zeros``."""
    return new_full(x, size, 0, **options)


def new_ones(x: torch.Tensor, size: Any, **options: Any) -> torch.Tensor:
    """``aten::new_ones``."""
    return new_full(x, size, 1, **options)


def arange(start: Any, end: Any, step: Any = 1, *, dtype: torch.dtype | None = None, **options: Any) -> torch.Tensor:
    """``aten::arange.start_step``. Whole numbers that begin elsewhere than at 0 are counted from 0 and moved: how many
    there are decides the shape, where they begin may vary from step to step."""
    # Not at import: the kernels come with the first op that needs one.
    from lazycore.frontend.kernels import recorded

    kernel = recorded(torch.ops.aten.arange.start_step)
    whole = all(type(x) is int for x in (start, end, step)) and dtype in (None, torch.int64, torch.int32)
    if not whole or start == 0 or step == 0 or (end - start) * step < 0:
        return kernel(start, end, step, dtype=dtype, **options)  # type: ignore[no-any-return]
    numbers = kernel(0, end - start, step, dtype=dtype, **options)
    return torch.ops.aten.add.Scalar(numbers, start)


def counted(end: Any, **options: Any) -> torch.Tensor:
    """``aten::arange``: from 0 in steps of 1."""
    return arange(0, end, **options)


FACTORIES = {
    "arange": counted,
    "arange.start": arange,
    "arange.start_step": arange,
    "empty.memory_format": empty,
    "empty_strided": empty_strided,
    "full": full_,
    "zeros": zeros,
    "ones": ones,
    "_efficientzerotensor": zeros,
    "scalar_tensor": scalar_tensor,
    "full_like": full_like,
    "zeros_like": zeros_like,
    "ones_like": ones_like,
    "new_full": new_full,
    "new_zeros": new_zeros,
    "new_ones": new_ones,
}
