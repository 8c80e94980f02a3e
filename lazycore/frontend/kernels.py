"""Which kernel an overload gets when no table names one: recorded, recorded in place, out=, or run on values."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

from lazycore.frontend.at_once import eager_kernel
from lazycore.frontend.codegen import functional_kernel, inplace_kernel
from lazycore.frontend.implemented import NARROW
from lazycore.frontend.infer import on_device
from lazycore.frontend.mixed import ABOUT_DTYPES
from lazycore.frontend.overlap import refuse_shared
from lazycore.frontend.schema import ArgInfo, OpInfo, info_of
from lazycore.frontend.storage import is_ours
from lazycore.frontend.stricter import check_cast
from lazycore.frontend.views import set_source

__all__ = ["kernel_for", "recorded"]


def kernel_for(op: Any) -> Callable[..., Any]:
    """The kernel of an OpOverload, built from its schema."""
    info = info_of(op)
    if info.dynamic and info.name not in ("aten.index.Tensor",):
        return eager_kernel(info)
    if not info.written:
        return functional_kernel(info) if _records(info) else eager_kernel(info)
    if info.is_out:
        return _out_kernel(info)
    return _in_place(info)


@cache
def recorded(op: Any) -> Callable[..., Any]:
    """The recording kernel of a functional overload."""
    return functional_kernel(info_of(op))


def _records(info: OpInfo) -> bool:
    """Whether every result is a tensor, of a number that the schema fixes, and nothing but data decides its value."""
    fixed = all(kind == "Tensor" for kind in info.returns) or info.returns == ("List[Tensor]",)
    return bool(info.returns) and fixed and torch.Tag.nondeterministic_seeded not in info.tags


def _in_place(info: OpInfo) -> Callable[..., Any]:
    twin = info.functional()
    first = info.written == (0,) and info.args[0].kind == "Tensor" and len(info.returns) == 1
    if not first or twin is None or not _records(twin):
        return eager_kernel(info)
    return inplace_kernel(info)


def _out_kernel(info: OpInfo) -> Callable[..., Any]:
    """Compute functionally, resize ``out`` as torch does, and copy into it."""
    twin = info.functional()
    if twin is None:
        return eager_kernel(info)
    outs = [a for a in info.args if a.out]
    inputs = [a for a in info.args if not a.out]
    pointwise = torch.Tag.pointwise in twin.tags

    def kernel(*args: Any, **kwargs: Any) -> Any:
        given = {a.name: x for a, x in zip(inputs, args, strict=False)} | kwargs
        targets = [given[a.name] for a in outs]
        if _mixed(args, kwargs):
            _refuse_dtype(info, args, kwargs)
        if pointwise:
            refuse_shared(targets[0], [given.get(a.name) for a in inputs])
        results = pytree.tree_leaves(_call_twin(twin, inputs, given, targets))
        if any(t.dtype is not r.dtype for t, r in zip(pytree.tree_leaves(targets), results, strict=False)):
            _refuse_dtype(info, args, kwargs)
        for target, result in zip(pytree.tree_leaves(targets), results, strict=False):
            store_out(target, result)
        if not info.returns:
            return None
        return targets[0] if len(info.returns) == 1 else tuple(targets)

    return kernel


_castable: set[Any] = set()


def _mixed(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether tensors differ in dtype: the CPU then speaks of that before anything else."""
    return len({x.dtype for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)}) > 1


def _has_dtype(x: Any) -> bool:
    return isinstance(x, (torch.Tensor, torch.dtype))


def _refuse_dtype(info: OpInfo, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise what the CPU raises for an ``out=`` of another dtype than the result's, which some ops cast to and others
    refuse, in words of their own. Asked once for each combination of dtypes, with zeros."""
    leaves = pytree.tree_leaves((args, kwargs))
    key = (info.op, *(x.dtype if isinstance(x, torch.Tensor) else x for x in leaves if _has_dtype(x)))
    if key in _castable:
        return
    try:
        with _disable_current_modes(), torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            info.op(*on_device(args, "cpu"), **{name: on_device(x, "cpu") for name, x in kwargs.items()})
    except RuntimeError as error:
        # Of what zeros alone are to blame for, the real values decide.
        if ABOUT_DTYPES.search(str(error)) or "tensor out" in str(error):
            raise error.with_traceback(None) from None
    _castable.add(key)


def _call_twin(twin: OpInfo, inputs: list[ArgInfo], given: dict[str, Any], targets: list[Any]) -> Any:
    args, kwargs = [], {}
    for own, other in zip(inputs, [a for a in twin.args if a.name not in _OPTIONS], strict=False):
        value = given.get(own.name, own.default)
        if other.keyword:
            kwargs[other.name] = value
        else:
            args.append(value)
    first = next(iter(pytree.tree_leaves(targets)), None)
    if any(a.name == "device" for a in twin.args) and first is not None:
        kwargs |= {"device": first.device, "dtype": given.get("dtype") or first.dtype}
    elif given.get("dtype") is not None:
        kwargs["dtype"] = given["dtype"]
    elif twin.base in _IN_DTYPE_OF_OUT and is_ours(first) and first.dtype not in NARROW:
        kwargs["dtype"] = first.dtype
    return twin.op(*args, **kwargs)


# Their ``dtype`` is that of ``out`` where none is given: they compute in it, unless that is a narrow float.
_IN_DTYPE_OF_OUT = frozenset(("sum", "nansum", "prod", "mean", "cumsum", "cumprod"))
_OPTIONS = frozenset(("dtype", "layout", "device", "pin_memory"))


def store_out(target: torch.Tensor, result: torch.Tensor) -> None:
    """Put a result into an ``out=`` tensor by torch's rules: cast if that is allowed, resized with a warning unless it
    was empty."""
    if not is_ours(target) or not (is_ours(result) or result.dim() == 0):
        raise RuntimeError(f"Expected out tensor to have device {result.device}, but got {target.device} instead")
    check_cast(result, target)
    if target.shape != result.shape:
        _resize_out(target, result)
    torch.ops.aten.copy_.default(target, result)


def _resize_out(target: torch.Tensor, result: torch.Tensor) -> None:
    if target.numel():
        warnings.warn(
            "An output with one or more elements was resized since it had shape "
            f"{list(target.shape)}, which does not match the required output shape {list(result.shape)}. "
            "This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they have "
            "zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with "
            "t.resize_(0).",
            UserWarning,
            stacklevel=3,
        )
    set_source(target, target.untyped_storage(), target.storage_offset(), result.size(), result.stride())
