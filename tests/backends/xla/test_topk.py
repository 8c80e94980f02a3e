"""The largest and the smallest: XLA ranks floats by their bits, PyTorch by their values, with NaN above all."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lazycore_plugin_api import DType, Node, TensorSpec, Value
from lowering.arrays import dtype_of, to_array, to_tensor

NAN = float("nan")
ROW = torch.tensor([1.0, NAN, -0.0, 0.0, float("inf"), -float("inf"), 0.0, -0.0, 1.0, -2.5, NAN, 65504.0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("k", [1, 5, 12])
def test_they_are_the_first_of_a_stable_sort(xla, segment, dtype, largest, k) -> None:
    x = torch.stack([ROW, -ROW]).to(dtype).t()
    values, order = (t[:k] for t in torch.sort(x, dim=0, descending=largest, stable=True))

    def compose(inputs):
        outputs = (Value(1, TensorSpec((k, 2), dtype_of(dtype))), Value(2, TensorSpec((k, 2), DType.int64)))
        return [Node("aten.topk.default", (inputs[0], k, 0, largest, True), {}, outputs)], outputs

    array = to_array(x.contiguous())
    results = xla.compile(segment([array], compose)).run([xla.session.upload(array)])
    found = to_tensor(results[0].to_host())
    torch.testing.assert_close(found, values, rtol=0, atol=0, equal_nan=True)
    numbers = ~values.isnan()
    assert torch.equal(torch.signbit(found)[numbers], torch.signbit(values)[numbers])
    assert np.array_equal(results[1].to_host(), order.numpy())
