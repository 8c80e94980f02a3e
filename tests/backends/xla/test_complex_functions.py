"""Inverse functions of complex numbers, along their branch cuts too, against PyTorch on CPU."""

from __future__ import annotations

import jax.numpy as jnp
import lazycore_xla.lowerings  # noqa: F401  (fills the table)
import numpy as np
import pytest
import torch
from lazycore_xla.configuration import own_configuration
from lazycore_xla.registry import TABLE

NAMES = ("asin", "acos", "atan", "asinh", "acosh", "atanh", "exp2", "expm1", "log1p", "log2", "sinh", "cosh")
PLACES = torch.tensor([0j, 1 + 0j, -2 + 0j, 2 + 0j, 2j, -2j, 0.5 + 0j, complex(-2, -0.0), complex(2, -0.0), 1e15 + 1j])


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_values_are_the_cpus(name: str, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.cat([torch.view_as_complex(torch.randn(200, 2, generator=generator) * 4), PLACES]).to(dtype)
    with own_configuration():
        result = np.array(TABLE[f"aten.{name}.default"].function(jnp.asarray(x.numpy())))
    expected = getattr(torch, name)(x)
    finite = torch.isfinite(torch.view_as_real(expected)).all(-1)
    assert finite.sum() > 200
    torch.testing.assert_close(torch.from_numpy(result)[finite], expected[finite])


def test_the_first_factor_of_vdot_is_conjugated() -> None:
    x, y = (torch.complex(torch.arange(4.0) + i, torch.arange(4.0) - 2) for i in range(2))
    with own_configuration():
        result = np.array(TABLE["aten.vdot.default"].function(jnp.asarray(x.numpy()), jnp.asarray(y.numpy())))
    torch.testing.assert_close(torch.from_numpy(result), torch.vdot(x, y))
