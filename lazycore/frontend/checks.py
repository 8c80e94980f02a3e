"""Range checks of index operands, as the CPU kernels make them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any

import torch
from lazycore_plugin_api.opset import IndexOperand

from lazycore.frontend.embedding_bag import BAGS
from lazycore.frontend.schema import OpInfo
from lazycore.trace.call import IndexCheck

__all__ = ["divisor_checks", "index_checks"]

_BOUNDS = "index {index} is out of bounds for dimension {dim} with size {size}"
_FLAT = "out of range: tried to access index {index} on a tensor of {size} elements."
_BAG = "Index of input takes value {index} which is not in the valid range [0, {size})"
_INDEX_ERRORS = {
    "aten.embedding.default": (IndexError, "index out of range in self"),
    **dict.fromkeys((f"aten.{name}.default" for name in BAGS), (RuntimeError, _BAG)),
    "aten.index_select.default": (IndexError, "index out of range in self"),
    "aten.index_copy.default": (IndexError, f"index_copy_(): {_BOUNDS}"),
    "aten.index_reduce.default": (IndexError, "index out of range in self"),
    "aten.index.Tensor": (IndexError, _BOUNDS),
    "aten.index_put.default": (IndexError, _BOUNDS),
    "aten.index_fill.int_Scalar": (IndexError, _BOUNDS),
    "aten.index_fill.int_Tensor": (IndexError, _BOUNDS),
    "aten.take.default": (IndexError, _FLAT),
    "aten.put.default": (IndexError, _FLAT),
}
_DEFAULT = (RuntimeError, _BOUNDS)
_OF_ONE_DIMENSION = {"aten.index_add.default": (IndexError, "index out of range in self")}
_EMPTY = "index is out of bounds for dimension with size 0"
_TARGETS = {
    f"aten.{name}.default": "ignore_index"
    for name in ("nll_loss_forward", "nll_loss2d_forward", "nll_loss_backward", "nll_loss2d_backward")
}

Range = tuple[int, int]
Values = Mapping[str, Any]


def _labels(low: int) -> Callable[[Values], Range]:
    return lambda values: (low, values["self"].shape[-1] if values["self"].dim() else 1)


def _pooled(values: Values) -> Range:
    return 0, prod(values["output_size"])


def _rows(low: int, matrix: str) -> Callable[[Values], Range]:
    return lambda values: (low, values[matrix].shape[-2] + 1)


def _at_least(low: int) -> Callable[[Values], Range]:
    return lambda _: (low, 2**31)


_UNPOOLED = ("indices", _pooled, "Found an invalid max index: {index} (output volumes are of size {size})")
_SOLVING = "Pivots given to lu_solve must all be {}. Did you properly pass the result of lu_factor?"
_UNPACKING = (
    "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
    "Did you properly pass the result of lu_factor?"
)
_RANGES: Mapping[str, tuple[tuple[str, Callable[[Values], Range], str], ...]] = {
    "aten.multi_margin_loss.default": (("target", _labels(0), "target out of range"),),
    "aten.multi_margin_loss_backward.default": (("target", _labels(0), "target out of range"),),
    "aten.multilabel_margin_loss_forward.default": (("target", _labels(-1), "argument #2 'target' is out of range"),),
    "aten.multilabel_margin_loss_backward.default": (("target", _labels(-1), "argument #3 'target' is out of range"),),
    "aten.max_unpool2d.default": (_UNPOOLED,),
    "aten.max_unpool3d.default": (_UNPOOLED,),
    "aten.linalg_lu_solve.default": (
        ("pivots", _at_least(1), _SOLVING.format("greater or equal to 1")),
        ("pivots", _rows(1, "LU"), _SOLVING.format("smaller or equal to LU.size(-2)")),
    ),
    "aten.lu_unpack.default": (("LU_pivots", _rows(1, "LU_data"), _UNPACKING),),
}
"""Op -> arguments that count something else than positions along a dimension, from where to where, and what the CPU
says of one out of range."""

_DIVIDES = frozenset(
    f"aten.{name}"
    for name in (
        "floor_divide.default", "floor_divide.Scalar", "fmod.Tensor", "fmod.Scalar", "remainder.Tensor",
        "remainder.Scalar", "remainder.Scalar_Tensor", "div.Tensor_mode", "div.Scalar_mode",
    )
)  # fmt: skip


def index_checks(info: OpInfo, values: Mapping[str, Any]) -> tuple[IndexCheck, ...]:
    """The checks that a call's index operands need; ``values`` are its arguments by name.

    Raises what CPU raises where there is nothing to index.
    """
    checks: list[IndexCheck] = []
    for operand in info.row.index:
        checks += _checks_of(info, operand, values)
    if info.name == "aten.embedding_dense_backward.default":
        checks.append(_check(info, 1, None, values["num_weights"], 0, negative=False))
    if info.base in BAGS:
        checks.append(_offsets_check(info, values["indices"].shape[0]))
    ignore = _TARGETS.get(info.name)
    if ignore is not None:
        checks.append(_target_check(info, values, values[ignore]))
    for row in _RANGES.get(info.name, ()):
        checks += _range_check(info, values, *row)
    return tuple(checks)


def _checks_of(info: OpInfo, operand: IndexOperand, values: Mapping[str, Any]) -> list[IndexCheck]:
    index, of = values[operand.argument], values[operand.of]
    place = _place(info, operand.argument)
    if operand.dim == "each":
        sizes = list(of.shape)
        return [
            _check(info, place, item, sizes[item], item, operand.negative)
            for item, tensor in enumerate(index)
            if tensor is not None and tensor.numel()
        ]
    if not isinstance(index, torch.Tensor) or not index.numel():
        return []
    if operand.dim == "flat":
        return [_check(info, place, None, prod(of.shape), 0, operand.negative)]
    dim = values[operand.dim] if isinstance(operand.dim, str) else operand.dim
    sizes = list(of.shape) or [1]
    return [_check(info, place, None, sizes[dim], dim % len(sizes), operand.negative, len(sizes))]


def _check(
    info: OpInfo, place: int, item: int | None, size: int, dim: int, negative: bool, rank: int = 0
) -> IndexCheck:  # fmt: skip
    kind, text = _INDEX_ERRORS.get(info.name, _DEFAULT)
    if rank == 1:
        kind, text = _OF_ONE_DIMENSION.get(info.name, (kind, text))
    if size == 0:
        raise kind(_EMPTY)
    message = text.replace("{dim}", str(dim)).replace("{size}", str(size))
    return IndexCheck(place, item, -size if negative else 0, size, kind, message)


def _offsets_check(info: OpInfo, length: int) -> IndexCheck:
    message = f"offsets[-1] can not be greater than input's length {length} but got offsets[-1] of {{index}}"
    return IndexCheck(_place(info, "offsets"), None, 0, length + 1, RuntimeError, message)


def _target_check(info: OpInfo, values: Mapping[str, Any], ignore: int) -> IndexCheck:
    classes = values["self"].shape[1 if values["self"].dim() > 1 else 0]
    place = _place(info, "target")
    return IndexCheck(place, None, 0, classes, IndexError, "Target {index} is out of bounds.", ignore)


def _range_check(
    info: OpInfo, values: Values, name: str, limits: Callable[[Values], Range], text: str
) -> Iterator[IndexCheck]:
    if values.get(name) is not None and values.get("unpack_pivots", True):
        message = text.replace("{size}", "x".join(map(str, values.get("output_size", ()))))
        yield IndexCheck(_place(info, name), None, *limits(values), RuntimeError, message)


def divisor_checks(info: OpInfo, compute: torch.dtype | None, result: torch.Tensor | None) -> tuple[IndexCheck, ...]:
    """The check that a division of integers, of dtype ``compute``, needs if it has any results: no divisor is 0."""
    floats = compute is None or compute.is_floating_point or compute.is_complex
    if info.name not in _DIVIDES or floats or result is None or not result.numel():
        return ()
    return (IndexCheck(_place(info, "other"), None, 1, 2, RuntimeError, "ZeroDivisionError", nonzero=True),)


def _place(info: OpInfo, name: str) -> int:
    return next(i for i, a in enumerate(info.args) if a.name == name)
