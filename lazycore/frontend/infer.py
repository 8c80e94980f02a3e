"""Shape inference: what an op's outputs will be, by torch's own Meta kernels. Runs on a miss only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from lazycore_plugin_api.opset import Promotion
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as KIND
from torch._prims_common import elementwise_dtypes
from torch.utils._python_dispatch import _disable_current_modes

from lazycore.frontend.corrections import corrected
from lazycore.frontend.embedding_bag import BAGS, bag_results
from lazycore.frontend.formats import formatted
from lazycore.frontend.implemented import refuse_unimplemented
from lazycore.frontend.mixed import refuse_mixed
from lazycore.frontend.schema import OpInfo
from lazycore.frontend.shapes import SHAPES
from lazycore.frontend.storage import NAME
from lazycore.frontend.stricter import STRICTER, RefusedByCPU

__all__ = ["Inferred", "NoInference", "compute_dtype", "infer", "on_device"]

# Overloads whose bindings take a Python number where the schema has a Tensor.
_TAKE_NUMBERS = frozenset(("add", "sub", "mul", "div", "floor_divide", "true_divide", "rsub"))


class NoInference(Exception):
    """torch has no shape function for this op: it must run on values."""


@dataclass(frozen=True)
class Inferred:
    """``outputs``: Meta tensors or None, flat; ``form``: ``one``, ``tuple`` or ``list``; ``compute``: the dtype that
    promotion gives the operands, if the op promotes."""

    outputs: tuple[torch.Tensor | None, ...]
    form: str
    compute: torch.dtype | None


def on_device(x: Any, device: str, most: int | None = None) -> Any:
    """An argument with every lazycore tensor replaced by an uninitialized one of the same geometry elsewhere, zeros on
    the CPU. With ``most``, no dimension is larger than that, and all are dense."""
    if isinstance(x, torch.Tensor):
        return _like(x, device) if most is None else _shrunk(x, device, most)
    if isinstance(x, (list, tuple)):
        return type(x)(on_device(item, device, most) for item in x)
    if isinstance(x, torch.device):
        return torch.device(device)
    return x


def _like(x: torch.Tensor, device: str) -> torch.Tensor:
    if x.device.type != NAME and x.dim() == 0 and device == "cpu":
        return x
    like = torch.empty_strided(x.size(), x.stride(), dtype=x.dtype, device=device)
    if device == "cpu":
        like.zero_()
    if x.is_conj():
        like = like.conj()
    return torch._neg_view(like) if x.is_neg() else like


def _shrunk(x: torch.Tensor, device: str, most: int) -> torch.Tensor:
    return torch.zeros([min(size, most) for size in x.shape], dtype=x.dtype, device=device)


def infer(info: OpInfo, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Inferred:
    """Run the op on Meta tensors. Raises what CPU eager raises for the same mistake; NoInference where torch has no
    Meta kernel."""
    with _disable_current_modes(), torch.no_grad():
        try:
            metas = on_device(args, "meta")
            check = STRICTER.get(info.base.rstrip("_"))
            if check is not None:
                check(*metas)
            if info.base in BAGS:
                result: Any = bag_results(info.op, *metas)
            else:
                result = call(info, metas, {k: on_device(v, "meta") for k, v in kwargs.items()})
            refuse_unimplemented(info, args, kwargs, call)
            refuse_mixed(info, args, kwargs, _of_zeros)
        except RefusedByCPU as refusal:
            raise (refusal.__cause__ or refusal) from None
        except Exception as error:
            _raise_as_cpu(info, args, kwargs)
            result = _decomposed(info, args, kwargs, error)
        if info.row.promotion is not Promotion.none:
            _probe(info, args, kwargs)
        named = {a.name: x for a, x in zip(info.args, args, strict=False)} | dict(kwargs)
        compute = compute_dtype(info, named)
    outputs = (result,) if isinstance(result, torch.Tensor) else tuple(result or ())
    outputs = formatted(info, metas, corrected(info.base, metas, outputs))
    form = "one" if isinstance(result, torch.Tensor) else "list" if isinstance(result, list) else "tuple"
    return Inferred(outputs, form, compute)


def call(info: OpInfo, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Call the overload; numbers in Tensor positions become 0-d tensors where the binding insists."""
    if info.base.rstrip("_") not in _TAKE_NUMBERS:
        args = tuple(
            torch.scalar_tensor(x, dtype=_number_dtype(x), device="cpu")
            if type(x) in (bool, int, float, complex) and a.kind == "Tensor"
            else x
            for x, a in zip(args, info.args, strict=False)
        )
    return info.op(*args, **kwargs)


def _number_dtype(x: Any) -> torch.dtype:
    kinds = {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}
    return kinds.get(type(x), torch.complex64)


def _raise_as_cpu(info: OpInfo, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Meta kernels reject what CPU rejects, but not always in its words: ask the CPU, with zeros of the same shapes."""
    try:
        _of_zeros(info, args, kwargs)
    except NotImplementedError:
        raise
    except Exception as cpu_error:
        raise cpu_error.with_traceback(None) from None


def _of_zeros(info: OpInfo, args: tuple[Any, ...], kwargs: Mapping[str, Any], most: int | None = None) -> None:
    call(info, on_device(args, "cpu", most), {k: on_device(v, "cpu", most) for k, v in kwargs.items()})


def _probe(info: OpInfo, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Ask the CPU whether it computes these dtypes, which Meta kernels do not know, with one element of each; none of
    what is empty, as shape (0,) goes with every other in `cat`."""
    call(info, _single(args), {k: _single(v) for k, v in kwargs.items()})


def _single(x: Any) -> Any:
    if isinstance(x, torch.Tensor):
        return torch.ones(tuple(min(size, 1) for size in x.shape), dtype=x.dtype, device="cpu")
    if isinstance(x, (list, tuple)):
        return type(x)(map(_single, x))
    return torch.device("cpu") if isinstance(x, torch.device) else x


def _decomposed(info: OpInfo, args: tuple[Any, ...], kwargs: Mapping[str, Any], error: Exception) -> Any:
    """The op's results on Meta by our shape function or its decomposition. Raises NoInference where there is none, or
    not of these operands: its Meta kernel's ``error`` is the reason."""
    from lazycore.frontend.decompositions.table import table

    function = SHAPES.get(info.name) or table().get(info.op)
    if function is None:
        raise NoInference(str(error)) from error
    try:
        return function(*on_device(args, "meta"), **{k: on_device(v, "meta") for k, v in kwargs.items()})
    except Exception:
        raise NoInference(str(error)) from error


def compute_dtype(info: OpInfo, given: Mapping[str, Any]) -> torch.dtype | None:
    """The dtype that promotion gives the op's operands; None where they keep theirs. ``given``: arguments by name."""
    row = info.row
    if row.promotion is Promotion.none:
        # Operands stay as they are; a number that is lifted is read in the dtype of what it goes into.
        first = next((x for x in given.values() if isinstance(x, torch.Tensor)), None)
        return first.dtype if row.lift and first is not None else None
    names = row.operands or tuple(a.name for a in info.args if "Tensor" in a.kind)
    operands: list[Any] = []
    for name in names:
        x = given.get(name)
        operands += x if isinstance(x, (list, tuple)) else [x]
    kind = KIND.INT_TO_FLOAT if _is_floating(row.promotion, given) else KIND.DEFAULT
    metas = [_meta_operand(x) for x in operands if x is not None]
    return elementwise_dtypes(*metas, type_promotion_kind=kind)[1]


def _is_floating(promotion: Promotion, given: Mapping[str, Any]) -> bool:
    exact = promotion is Promotion.quotient and given.get("rounding_mode") is None
    return exact or promotion is Promotion.floating


def _meta_operand(x: Any) -> Any:
    return torch.empty(x.shape, dtype=x.dtype, device="meta") if isinstance(x, torch.Tensor) else x
