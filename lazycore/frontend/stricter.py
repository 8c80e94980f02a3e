"""What CPU kernels refuse and Meta kernels let pass. Checked when a call is recorded first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from lazycore.frontend.dtypes import dtype_name

__all__ = ["STRICTER", "RefusedByCPU", "check_cast", "check_number"]


class RefusedByCPU(Exception):
    """What the CPU raised, as the cause: it need not be asked again, with zeros that are wrong in themselves."""


def index_put(x: torch.Tensor, indices: Sequence[torch.Tensor | None], values: torch.Tensor, *_: Any) -> None:
    """Values have the target's dtype and broadcast to what indexing gives; all tensors are on Meta."""
    if values.dtype != x.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, "
            f"got {dtype_name(x.dtype)} for the destination and {dtype_name(values.dtype)} for the source."
        )
    chosen = torch.ops.aten.index.Tensor(x, indices).shape
    pairs = zip(values.shape[::-1], chosen[::-1], strict=False)
    if values.dim() > len(chosen) or any(given not in (1, wanted) for given, wanted in pairs):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of "
            f"shape {list(chosen)}"
        )


def power(x: Any, exponent: Any) -> None:
    """Integers have no negative integer powers; the number is part of the key."""
    integral = isinstance(x, torch.Tensor) and not x.is_floating_point() and not x.is_complex()
    if integral and type(exponent) is int and exponent < 0 and x.dtype != torch.bool:
        raise RuntimeError("Integers to negative integer powers are not allowed.")


def inexact(x: torch.Tensor, *_: Any) -> None:
    """Neither integers nor truth values; in the CPU's words, once it is asked."""
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError("only floating point and complex dtypes are supported")


def softmax(x: torch.Tensor, dim: int, *_: Any) -> None:
    """The dimension exists, and the results can be fractions."""
    inexact(x)
    (x if x.dim() else x.unsqueeze(0)).size(dim)


def _choice(function: Callable[..., Any]) -> Callable[..., None]:
    def check(x: torch.Tensor, *dim: Any) -> None:
        """There is something to choose from along the dimension."""
        if dim and isinstance(dim[0], int) and not x.numel():
            function(torch.empty(x.shape, device="cpu"), *dim)

    return check


def _extremum(function: Callable[..., Any]) -> Callable[..., None]:
    along = _choice(function)

    def check(x: torch.Tensor, *dim: Any) -> None:
        """There is something to choose from."""
        if not dim and not x.numel():
            raise RuntimeError("Expected reduction dim to be specified for input.numel() == 0.")
        along(x, *dim)

    return check


def complex_parts(real: torch.Tensor, imaginary: torch.Tensor, *_: Any) -> None:
    """One dtype."""
    if real.dtype != imaginary.dtype:
        torch.complex(*(torch.empty(0, dtype=x.dtype, device="cpu") for x in (real, imaginary)))


def heaviside(x: torch.Tensor, values: torch.Tensor, *_: Any) -> None:
    """One dtype."""
    if x.dtype != values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")


def topk(x: torch.Tensor, *_: Any) -> None:
    """Booleans have no order here."""
    if x.dtype is torch.bool:
        raise RuntimeError("topk does not support bool dtypes on CPU")


def convolution(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], transposed: bool, output_padding: Sequence[int], groups: int,
) -> None:  # fmt: skip
    """One dtype, something to slide over, output padding within a step; of all else the CPU tells by a batch of none.
    Of no channels the CPU makes no channels, whatever the weight; it is left to it."""
    if len({t.dtype for t in (x, weight, bias) if t is not None}) > 1:
        raise RuntimeError("operands of several dtypes")
    none = [None if t is None else torch.zeros((), dtype=t.dtype, device="cpu").expand(t.shape) for t in (weight, bias)]
    batch = torch.zeros((0, *x.shape[1:]), dtype=x.dtype, device="cpu")
    torch.ops.aten.convolution.default(batch, *none, stride, padding, dilation, transposed, output_padding, groups)
    if any(d <= 0 for d in dilation):
        raise RuntimeError("dilation should be greater than zero")
    wide = any(o >= max(s, d) for o, s, d in zip(output_padding, stride, dilation, strict=False))
    if x.shape[1] == 0 or (len(x) and (0 in x.shape or (transposed and wide))):
        raise RuntimeError("nothing to slide over, or output padding beyond a step")


def convolution_backward(_: torch.Tensor, x: torch.Tensor, *__: Any) -> None:
    """There were channels."""
    if x.shape[1] == 0:
        raise RuntimeError("nothing to slide over")


def embedding_renorm(_: torch.Tensor, indices: torch.Tensor, *__: Any) -> None:
    """Rows are counted by integers of 32 or 64 bits."""
    if indices.dtype not in (torch.int32, torch.int64):
        raise RuntimeError("Expected indices of Long or Int")


def adaptive_pool(x: torch.Tensor, *_: Any) -> None:
    """There is something to take the mean of, but for a batch of none."""
    if 0 in x.shape[1:]:
        raise RuntimeError("Expected input to have non-zero size for non-batch dimensions")


def masked_scatter(_: torch.Tensor, mask: torch.Tensor, *__: Any) -> None:
    """The mask is one."""
    if mask.dtype is not torch.bool:
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {dtype_name(mask.dtype)}"
        )


def index_add(x: torch.Tensor, dim: int, _: torch.Tensor, source: torch.Tensor, *__: Any) -> None:
    """Slices of the source are those of the target."""
    if x.dim() == source.dim() == 0:
        return
    dim = dim % max(x.dim(), 1)
    if list(x.shape[:dim] + x.shape[dim + 1 :]) != list(source.shape[:dim] + source.shape[dim + 1 :]):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(x.shape)} source.shape = {list(source.shape)}"
        )


def bucketize(_: Any, boundaries: torch.Tensor, *__: Any) -> None:
    """The boundaries are one sequence."""
    if boundaries.dim() != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.dim()})")


def ctc_loss(
    log_probs: torch.Tensor, targets: torch.Tensor, inputs: Sequence[int], lengths: Sequence[int], *rest: Any
) -> None:
    """Lengths are within the tensors: as the CPU finds it, of zeros."""
    zeros = [torch.zeros(x.shape, dtype=x.dtype, device="cpu") for x in (log_probs, targets)]
    torch.ops.aten._ctc_loss.default(*zeros, inputs, lengths, *rest)


def _asked(function: Callable[..., Any]) -> Callable[..., None]:
    def check(*operands: Any) -> None:
        """The CPU computes the dtypes: asked with a one for each operand, as pivots count from there."""
        tensors = [x for x in operands if isinstance(x, torch.Tensor)]
        try:
            if tensors[0].dtype in (torch.float16, torch.bfloat16):
                function(*(torch.ones((1,) * x.dim(), dtype=x.dtype, device="cpu") for x in tensors))
        except RuntimeError as error:
            raise RefusedByCPU from error

    return check


def check_number(number: Any, dtype: torch.dtype, numel: int) -> None:
    """Raise RuntimeError where a number is too large for the dtype of the tensor of ``numel`` elements that it fills:
    a single half becomes infinite."""
    if isinstance(number, complex) or not -128 < number < 128:
        torch.empty(1 if numel == 1 else 0, dtype=dtype, device="cpu").fill_(number)


def masked_fill(x: torch.Tensor, _mask: torch.Tensor, value: Any) -> None:
    """A number is not too large for the dtype."""
    if not isinstance(value, torch.Tensor):
        check_number(value, x.dtype, 0)


def index_fill(x: torch.Tensor, _dim: int, _index: torch.Tensor, value: Any) -> None:
    """A number is not too large for the dtype."""
    if not isinstance(value, torch.Tensor):
        check_number(value, x.dtype, 0)


def check_cast(result: torch.Tensor | None, target: torch.Tensor) -> None:
    """Raise RuntimeError where a result may not be stored in a target of another kind of dtype."""
    if result is not None and not torch.can_cast(result.dtype, target.dtype):
        raise RuntimeError(
            f"result type {dtype_name(result.dtype)} can't be cast to the desired output type "
            f"{dtype_name(target.dtype)}"
        )


STRICTER: Mapping[str, Callable[..., None]] = {
    "index_put": index_put,
    "_ctc_loss": ctc_loss,
    "pow": power,
    "_softmax": softmax,
    "_log_softmax": softmax,
    **dict.fromkeys(("std", "var", "std_mean", "var_mean"), inexact),
    "max": _extremum(torch.max),
    "min": _extremum(torch.min),
    "median": _choice(torch.median),
    "nanmedian": _choice(torch.nanmedian),
    "mode": _choice(torch.mode),
    "topk": topk,
    "heaviside": heaviside,
    "complex": complex_parts,
    "convolution": convolution,
    "convolution_backward": convolution_backward,
    **dict.fromkeys(("adaptive_avg_pool2d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d"), adaptive_pool),
    "embedding_renorm": embedding_renorm,
    "masked_fill": masked_fill,
    "index_fill": index_fill,
    "masked_scatter": masked_scatter,
    "index_add": index_add,
    "bucketize": bucketize,
    "linalg_lu_solve": _asked(torch.linalg.lu_solve),
    "linalg_ldl_solve": _asked(torch.linalg.ldl_solve),
}
"""Checks by the functional op's name, called with its positional arguments on Meta. What they raise is what the CPU
raises where it can be asked."""
