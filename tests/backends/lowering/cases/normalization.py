"""Batch, layer and group normalization and their gradients."""

from __future__ import annotations

import torch

from lowering.case import ACCUMULATED, Case, case
from lowering.samples import floats

_SHAPES = [(4, 3), (4, 3, 5), (2, 3, 4, 5)]
_MASKS = [[True, True, True], [True, False, False], [False, True, True]]


def _positive(size: int, seed: int = 0) -> torch.Tensor:
    return floats(size, low=0.5, high=2.0, seed=seed)


def batch_norm(shape: tuple[int, ...], training: bool, affine: bool = True) -> Case:
    """Batch norm with running statistics, functional."""
    c = shape[1]
    weight, bias = (_positive(c), floats(c, seed=1)) if affine else (None, None)
    arguments = (floats(*shape), weight, bias, floats(c, seed=2), _positive(c, 3), training, 0.1, 1e-5)
    return case("aten._native_batch_norm_legit_functional.default", *arguments, tolerance=ACCUMULATED)


def batch_norm_backward(shape: tuple[int, ...], training: bool, mask: list[bool], affine: bool = True) -> Case:
    """Its gradient, from saved statistics in training and running ones in evaluation."""
    x, c = floats(*shape), shape[1]
    dims = [d for d in range(len(shape)) if d != 1]
    mean, invstd = x.mean(dims), (x.var(dims, correction=0) + 1e-5).rsqrt()
    weight = _positive(c) if affine else None
    saved = (mean, invstd) if training else (torch.zeros(0), torch.zeros(0))
    arguments = (floats(*shape, seed=6), x, weight, floats(c, seed=2), _positive(c, 3), *saved, training, 1e-5, mask)
    return case("aten.native_batch_norm_backward.default", *arguments, tolerance=ACCUMULATED)


def layer_norm(
    shape: tuple[int, ...], normalized: int, affine: bool = True, dtype: torch.dtype = torch.float32
) -> Case:
    """Layer norm over the last ``normalized`` dimensions."""
    inner = shape[len(shape) - normalized :]
    parameters = (floats(*inner, dtype=dtype, seed=1), floats(*inner, dtype=dtype, seed=2)) if affine else (None, None)
    arguments = (floats(*shape, dtype=dtype), list(inner), *parameters, 1e-5)
    return case("aten.native_layer_norm.default", *arguments, tolerance=ACCUMULATED)


def layer_norm_backward(shape: tuple[int, ...], normalized: int, mask: list[bool], affine: bool = True) -> Case:
    """Its gradient, from the forward's mean and reciprocal deviation."""
    x, inner = floats(*shape), list(shape[len(shape) - normalized :])
    weight, bias = (floats(*inner, seed=1), floats(*inner, seed=2)) if affine else (None, None)
    _, mean, rstd = torch.native_layer_norm(x, inner, weight, bias, 1e-5)
    arguments = (floats(*shape, seed=6), x, inner, mean, rstd, weight, bias, mask)
    return case("aten.native_layer_norm_backward.default", *arguments, tolerance=ACCUMULATED)


def group_norm(shape: tuple[int, ...], groups: int, affine: bool = True) -> Case:
    """Group norm; ATen takes the sizes beside the tensor."""
    n, c = shape[:2]
    weight, bias = (_positive(c), floats(c, seed=1)) if affine else (None, None)
    inner = floats(*shape)[0, 0].numel()
    arguments = (floats(*shape), weight, bias, n, c, inner, groups, 1e-5)
    return case("aten.native_group_norm.default", *arguments, tolerance=ACCUMULATED)


def group_norm_backward(shape: tuple[int, ...], groups: int, mask: list[bool], affine: bool = True) -> Case:
    """Its gradient, from the forward's mean and reciprocal deviation."""
    x, (n, c) = floats(*shape), shape[:2]
    weight = _positive(c) if affine else None
    inner = x[0, 0].numel()
    _, mean, rstd = torch.native_group_norm(x, weight, None, n, c, inner, groups, 1e-5)
    arguments = (floats(*shape, seed=6), x, mean, rstd, weight, n, c, inner, groups, mask)
    return case("aten.native_group_norm_backward.default", *arguments, tolerance=ACCUMULATED)


def no_stats(shape: tuple[int, ...]) -> Case:
    """Batch norm without running statistics."""
    c = shape[1]
    arguments = (floats(*shape), _positive(c), floats(c, seed=1), True, 0.1, 1e-5)
    return case("aten._native_batch_norm_legit.no_stats", *arguments, tolerance=ACCUMULATED)


CASES = [batch_norm(shape, training) for shape in _SHAPES for training in (True, False)]
CASES += [batch_norm(_SHAPES[2], training, affine=False) for training in (True, False)]
CASES += [no_stats(shape) for shape in _SHAPES]
CASES += [
    batch_norm_backward(shape, training, mask) for shape in _SHAPES for training in (True, False) for mask in _MASKS
]
CASES += [batch_norm_backward(_SHAPES[2], training, _MASKS[1], affine=False) for training in (True, False)]
CASES += [layer_norm((3, 4, 5), n) for n in (1, 2)] + [layer_norm((3, 4, 5), 1, affine=False), layer_norm((0, 5), 1)]
CASES += [layer_norm((3, 16), 1, dtype=torch.bfloat16)]
CASES += [layer_norm_backward((3, 4, 5), n, mask) for n in (1, 2) for mask in _MASKS]
CASES += [layer_norm_backward((3, 4, 5), 1, _MASKS[1], affine=False)]
CASES += [group_norm((2, 6, 4, 3), 3), group_norm((2, 6), 2), group_norm((2, 6, 5), 6, affine=False)]
CASES += [group_norm_backward((2, 6, 4, 3), 3, mask) for mask in _MASKS]
CASES += [group_norm_backward((2, 6, 5), 2, _MASKS[1], affine=False)]
