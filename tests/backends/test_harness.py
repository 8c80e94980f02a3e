"""The lowering tests' own instruments: they must see what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lazycore_plugin_api import DType, HostBuffer, TensorSpec, Value
from lowering.arrays import to_array, to_tensor
from lowering.case import ACCUMULATED, ELEMENTWISE, EXACT, case
from lowering.compare import check_ownership, check_spec, check_values
from lowering.segments import SegmentBuilder, liftable


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float8_e4m3fn, torch.float32, torch.bool])
@pytest.mark.parametrize("shape", [(), (0, 2), (3,)])
def test_arrays_and_tensors_keep_their_bits(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    tensor = torch.full(shape, 1.5).to(dtype)
    array = to_array(tensor)
    assert array.dtype == DType(str(dtype).removeprefix("torch.")).numpy
    assert torch.equal(to_tensor(array).float(), tensor.float())


@pytest.mark.parametrize(
    ("actual", "expected", "tolerance"),
    [
        (1.0, 1.0001, ACCUMULATED),
        (1.0, 1.00001, ELEMENTWISE),
        (float("nan"), 1.0, ELEMENTWISE),
        (float("inf"), -float("inf"), ELEMENTWISE),
        (0.0, -0.0, EXACT),
        (1.0, 1.0 + 2.0**-23, EXACT),
    ],
)
def test_wrong_values_are_seen(actual: float, expected: float, tolerance: object) -> None:
    with pytest.raises(AssertionError):
        check_values(np.array([actual], np.float32), torch.tensor([expected]), tolerance, "here")  # type: ignore[arg-type]


def test_integers_must_agree_exactly() -> None:
    with pytest.raises(AssertionError):
        check_values(np.array([10**9]), torch.tensor([10**9 + 1]), ACCUMULATED, "here")


@pytest.mark.parametrize("spec", [TensorSpec((2,), DType.float64), TensorSpec((2, 1), DType.float32)])
def test_a_wrong_spec_is_seen(spec: TensorSpec) -> None:
    with pytest.raises(AssertionError):
        check_spec(HostBuffer(np.zeros(2, np.float32)), spec, "here")


def test_shared_memory_is_seen() -> None:
    x = np.zeros(4)
    with pytest.raises(AssertionError, match="input"):
        check_ownership([x[1:]], [x], "here")
    with pytest.raises(AssertionError, match="output"):
        check_ownership([x, x], [], "here")


def test_scalars_become_inputs_where_they_may() -> None:
    builder = SegmentBuilder()
    row = case("aten.add.Tensor", torch.ones(2), torch.ones(2), alpha=0.5)
    node = builder.add(row, lift=True)
    segment = builder.segment()
    assert isinstance(node.kwargs["alpha"], Value)
    assert segment.scalars == {2}
    assert not liftable(case("aten.arange.start_step", 0, 5, 1, dtype=torch.int64))
