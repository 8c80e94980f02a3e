"""Casts and reinterpretations of the dtypes that only this backend takes, against PyTorch on CPU."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lazycore_plugin_api import DType, TensorSpec
from lowering.arrays import dtype_of, to_array

NUMBERS = [0.0, -0.0, 1e9, -1e9, float("inf"), -float("inf"), 500.0, 449.0, 0.001, 1e-9, 61000.0, -3.3]


@pytest.fixture
def run(xla, segment, node):
    """Run one op on one tensor, with the result's dtype and shape as PyTorch has them."""

    def call(op: str, x: torch.Tensor, expected: torch.Tensor, *args, **kwargs):
        spec = TensorSpec(tuple(expected.shape), dtype_of(expected.dtype))
        array = to_array(x)
        built = segment([array], lambda v: ([n := node(op, v[0], *args, to=1, spec=spec, **kwargs)], n.outputs))
        return xla.compile(built).run([xla.session.upload(array)])[0].to_host()

    return call


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_casts_to_8_bit_floats_have_the_same_bits(run, dtype):
    x = torch.tensor(NUMBERS)
    result = run("aten._to_copy.default", x, x.to(dtype), dtype=dtype_of(dtype))
    assert result.view(np.uint8).tolist() == x.to(dtype).view(torch.uint8).tolist()


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_nan_stays_nan_in_8_bits(run, dtype):
    x = torch.tensor([float("nan")])
    assert np.isnan(run("aten._to_copy.default", x, x.to(dtype), dtype=dtype_of(dtype)).astype(np.float32)).all()


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16])
def test_floats_wrap_into_narrow_integers(run, dtype):
    x = torch.tensor([-1.5, 300.7, 255.0, -129.0, 3e4, 7e4])
    assert run("aten._to_copy.default", x, x.to(dtype), dtype=dtype_of(dtype)).tolist() == x.to(dtype).tolist()


_BYTES = (torch.arange(48) % 7).to(torch.uint8).reshape(3, 16)


@pytest.mark.parametrize(
    ("x", "dtype"),
    [
        (torch.tensor([[1 + 2j, -0.0 + 3j]]), torch.float32),
        (torch.tensor([[1.0, 2.0, -3.0, 4.0]]), torch.complex64),
        (torch.tensor([1.5, -2.0]), torch.uint8),
        (_BYTES, torch.float32),
        (_BYTES, torch.complex64),
        (_BYTES, torch.complex128),
        (torch.tensor([True, False] * 8), torch.int64),
        (torch.tensor([True, False]), torch.uint8),
        (torch.tensor([1, 0, 1], dtype=torch.uint8), torch.bool),
        (torch.tensor(1.5), torch.int32),
        (torch.zeros(0, 4), torch.int16),
    ],
)
def test_bytes_are_read_as_another_dtype(run, x, dtype):
    expected = x.view(dtype)
    assert run("aten.view.dtype", x, expected, dtype_of(dtype)).tobytes() == to_array(expected).tobytes()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bool, torch.complex128])
@pytest.mark.filterwarnings("ignore:Casting complex values to real")
def test_complex_casts(run, dtype):
    x = torch.tensor([1 + 2j, 0j, 3j])
    assert run("aten._to_copy.default", x, x.to(dtype), dtype=dtype_of(dtype)).tolist() == x.to(dtype).tolist()


@pytest.mark.parametrize("op", ["exp", "log", "sqrt", "sin", "tanh", "neg", "abs", "reciprocal", "sum", "prod", "mean"])
def test_functions_of_complex_numbers(run, op):
    x = torch.tensor([1 + 2j, -0.5 - 1j, 0.25j])
    expected = getattr(torch, op)(x)
    dtype = {"dtype": None} if op in ("sum", "prod", "mean") else {}
    result = run(f"aten.{op}.default", x, expected, **dtype)
    torch.testing.assert_close(torch.from_numpy(result.copy()), expected)


def test_every_real_dtype_reaches_complex(run):
    for source in (torch.uint8, torch.int64, torch.bool, torch.float64):
        x = torch.tensor([0, 1]).to(source)
        result = run("aten._to_copy.default", x, x.to(torch.complex64), dtype=DType.complex64)
        assert result.tolist() == [0j, 1 + 0j]
