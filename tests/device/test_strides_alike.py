"""A tensor made like another one has the strides that CPU gives it, those of empty tensors and sizes of 1 included."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

GEOMETRIES = {
    "permuted": ((2, 3, 4), (1, 8, 2)),
    "size 1 in front": ((1, 4, 1), (1, 1, 4)),
    "size 1 without stride": ((1, 5), (0, 1)),
    "empty": ((2, 0, 3, 4), (0, 1, 0, 0)),
    "channels last": ((2, 3, 1, 1), (3, 1, 3, 3)),
    "expanded": ((2, 3), (0, 1)),
    "with gaps": ((2, 3), (8, 2)),
}
MAKERS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "clone": torch.clone,
    "to": lambda x: x.to(torch.float64),
    "zeros_like": torch.zeros_like,
    "ones_like": lambda x: torch.ones_like(x, dtype=torch.int8),
    "clone, row-major": lambda x: x.clone(memory_format=torch.contiguous_format),
}


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("backend", ["reference"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_strides_are_those_of_cpu(geometry: str, maker: str) -> None:
    size, stride = GEOMETRIES[geometry]
    x = torch.arange(40.0)
    make = MAKERS[maker]
    expected, got = make(x.as_strided(size, stride)), make(x.to("lazycore").as_strided(size, stride))
    assert got.stride() == expected.stride()
    assert torch.equal(got.cpu(), expected)


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("backend", ["reference"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_dropout_and_its_mask_have_the_strides_of_their_input(geometry: str) -> None:
    size, stride = GEOMETRIES[geometry]
    x = torch.arange(40.0).as_strided(size, stride)
    like = torch.empty_like(x).stride()
    y = torch.arange(40.0).to("lazycore").as_strided(size, stride)
    assert [z.stride() for z in torch.ops.aten.native_dropout(y, 0.5, True)] == [like, like]


@pytest.mark.parametrize("backend", ["reference"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_an_empty_tensor_without_strides_may_be_written() -> None:
    x = torch.zeros(0).to("lazycore").as_strided((2, 0, 3), (0, 1, 0))
    assert x.add_(1).cpu().shape == (2, 0, 3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.zeros(3).to("lazycore").expand(2, 3).add_(1)


@pytest.mark.parametrize("backend", ["reference"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_an_alias_stays_within_its_storage() -> None:
    x = torch.arange(6.0).to("lazycore")
    alias = torch.ops.aten._reshape_alias(x, (2, 3), (3, 1))
    assert torch.equal(alias.add_(1).cpu(), torch.arange(1.0, 7.0).view(2, 3))
    assert torch.equal(x.cpu(), torch.arange(1.0, 7.0))
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 24"):
        torch.ops.aten._reshape_alias(x, (7,), (1,))
