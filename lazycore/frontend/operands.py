"""Keys of a call's operands: which value, through which view; numbers and CPU scalars among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from lazycore.frontend.dtypes import array_of
from lazycore.frontend.storage import NAME, is_ours, layout_for, state_of
from lazycore.frontend.sync import run_trace
from lazycore.frontend.viewinfo import view_info
from lazycore.runtime.buffers import DeviceValue
from lazycore.trace.kept_errors import frameless
from lazycore.trace.keys import DYNAMIC, VIEW, WRAPS, literal_key, scalar_key
from lazycore.trace.recorder import Trace
from lazycore.trace.state import StorageState

__all__ = ["foreign", "operand", "scalar", "tensor_key"]


def operand(trace: Trace, tensor: torch.Tensor, state: StorageState) -> Any:
    """The key of a lazycore tensor that is not simply pending and whole; its storage becomes an input if it is new."""
    if state.trace is trace:
        item: Any = state.index
    else:
        materialize(state)
        trace.admit(state)
        item = state.layout
    if not state.viewed and not tensor.is_conj() and not tensor.is_neg():
        return item
    return _view_key(trace, tensor, state, item)


def materialize(state: StorageState) -> None:
    """Make sure that the storage holds a value: run the trace that will write it. Raises what made it fail."""
    if state.trace is not None:
        run_trace(state.trace, "another thread's value")
    if state.error is not None:
        raise frameless(state.error)
    if state.value is None:
        # torch.empty's content is anybody's; zeros are reproducible, and the memory is only touched if read.
        layout = state.layout
        state.value = DeviceValue.from_host(np.zeros(layout.size, layout.dtype.numpy))


def _view_key(trace: Trace, tensor: torch.Tensor, state: StorageState, item: Any) -> Any:
    layout = state.layout
    size, stride, offset = tuple(tensor.shape), tensor.stride(), tensor.storage_offset()
    dtype, conj, neg = tensor.dtype, tensor.is_conj(), tensor.is_neg()
    same = dtype is layout.native
    if same and not offset and stride == layout.stride and size == layout.size and not conj and not neg:
        return item
    extra = None if same and not conj and not neg else (dtype, conj, neg)
    if not same:
        return (VIEW, item, size, stride, offset, None, extra)
    info = view_info(layout, size, stride)
    if info.fixed:
        return (VIEW, item, size, stride, offset, None, extra)
    trace.scalars.append(offset)
    mode = DYNAMIC if info.fits(offset) else WRAPS
    # Into an input the offset is a run-time value from the first time on: slicing resident data in a loop, or writing
    # one row of a buffer a step, must not compile once per position. Elsewhere only once it was seen to vary.
    return (VIEW, item, size, stride, mode if state.index < 0 else offset, mode, extra)


def tensor_key(trace: Trace, tensor: Any) -> Any:
    """The key of one item of a tensor list."""
    if tensor is None:
        return None
    try:
        state = tensor.untyped_storage().state
    except AttributeError:
        return foreign(trace, tensor)
    return state.index if state.fast is trace else operand(trace, tensor, state)


def foreign(trace: Trace, x: Any) -> Any:
    """The key of what stands where a lazycore tensor was expected: a number, or a CPU tensor without dimensions.

    Raises torch's RuntimeError for any other CPU tensor: nothing moves between devices unasked.
    """
    if not isinstance(x, torch.Tensor):
        return scalar(trace, x)
    if is_ours(x):
        return operand(trace, x, state_of(x))
    if x.device.type == "cpu" and x.dim() == 0 and x.layout is torch.strided:
        return host_input(trace, x)
    raise _mixed(x)


def host_input(trace: Trace, x: torch.Tensor) -> Any:
    """Make a CPU tensor's present content an input that belongs to no storage."""
    array = array_of(x)
    trace.admit_value(DeviceValue.from_host(array))
    contiguous = torch.empty(x.shape, dtype=x.dtype, device="meta")
    return layout_for(x.shape, contiguous.stride(), x.dtype)


def scalar(trace: Trace, number: Any) -> Any:
    """The key of a number that may be lifted; floats and integers are pushed for the run."""
    if type(number) is float or type(number) is int:
        trace.scalars.append(number)
        return scalar_key(number)
    return literal_key(number)


def _mixed(x: torch.Tensor) -> Exception:
    if x.layout is not torch.strided:
        return NotImplementedError(f"lazycore does not take {x.layout} tensors; convert with .to_dense() first")
    return RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {NAME}:0 and {x.device}!"
    )
