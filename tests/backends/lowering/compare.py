"""How a result is held against PyTorch's: spec exactly, values within the case's tolerance."""

from __future__ import annotations

import numpy as np
import torch
from lazycore_plugin_api import Buffer, HostArray, TensorSpec

from lowering.arrays import spec_of, to_tensor
from lowering.case import Tolerance

HALF_ULP = {torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}
"""Relative size of one unit in the last place, which a result rounded once may be off by."""


def check_spec(buffer: Buffer, expected: TensorSpec, where: str) -> None:
    """The buffer's spec and its content's must both be the declared one."""
    array = buffer.to_host()
    assert buffer.spec == expected, f"{where}: spec {buffer.spec}, expected {expected}"
    assert tuple(array.shape) == expected.shape, f"{where}: shape {array.shape}, expected {expected.shape}"
    assert array.dtype == expected.dtype.numpy, f"{where}: dtype {array.dtype}, expected {expected.dtype}"


def check_values(actual: HostArray, expected: torch.Tensor, tolerance: Tolerance, where: str) -> None:
    """Values must agree; NaN equals NaN."""
    result = to_tensor(actual)
    assert spec_of(result) == spec_of(expected), where
    expected = expected.detach().contiguous()
    if not (expected.is_floating_point() or expected.is_complex()):
        tolerance = Tolerance()
    rtol = max(tolerance.rtol, HALF_ULP.get(expected.dtype, 0.0) if tolerance.rtol else 0.0)
    torch.testing.assert_close(
        result, expected, rtol=rtol, atol=tolerance.atol, equal_nan=True, msg=lambda text: f"{where}: {text}"
    )
    if tolerance.signed_zero and expected.is_floating_point():
        _check_signs(result, expected, where)


def _check_signs(result: torch.Tensor, expected: torch.Tensor, where: str) -> None:
    number = ~expected.isnan()
    differs = (result.signbit() != expected.signbit()) & number
    assert not differs.any(), f"{where}: the sign of zero differs: {result} against {expected}"


def check_ownership(outputs: list[HostArray], inputs: list[HostArray], where: str) -> None:
    """No output may share memory with an input or another output."""
    for i, output in enumerate(outputs):
        for j, other in enumerate((*inputs, *outputs[:i])):
            shared = output.nbytes > 0 and np.shares_memory(output, other)
            assert not shared, f"{where}: output {i} shares memory with {'input' if j < len(inputs) else 'output'}"
