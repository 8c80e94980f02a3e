"""Masks, index tensors and ops whose result's shape depends on data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

import lazycore

DEVICE = "lazycore"
Select = Callable[[torch.Tensor], torch.Tensor]


def floats(device: str) -> torch.Tensor:
    return torch.tensor([[3.0, 1.0, 2.0], [2.0, 5.0, 3.0]], device=device)


def mask(x: torch.Tensor, *values: bool) -> torch.Tensor:
    return torch.tensor(values, device=x.device)


READS: dict[str, Select] = {
    "elements": lambda x: x[x > 2],
    "nothing": lambda x: x[x > 100],
    "rows": lambda x: x[mask(x, True, False)],
    "rows by a CPU mask": lambda x: x[torch.tensor([False, True])],
    "columns": lambda x: x[:, mask(x, True, False, True)],
    "part of a row": lambda x: x[1, x[1] > 2],
    "True": lambda x: x[True],
    "False": lambda x: x[False],
    "list": lambda x: x[[1, 0]],
    "empty list": lambda x: x[[]],
    "two lists": lambda x: x[[0, 1], [1, 2]],
    "list after slice": lambda x: x[:, [0, 2]],
    "numpy": lambda x: x[np.array([1, 1])],
    "0-d index": lambda x: x[torch.tensor(1, device=x.device)],
    "negative index tensor": lambda x: x[torch.tensor([-1], device=x.device)],
    "CPU index": lambda x: x[torch.tensor([[0, 1]])],
    "newaxis and ellipsis": lambda x: x[None, ..., 1],
    "nonzero": lambda x: x.sub(3).nonzero(),
    "where": lambda x: torch.stack(torch.where(x > 2)),
    "masked_select": lambda x: x.masked_select(x > 2),
    "masked_fill": lambda x: x.masked_fill(x > 2, -1),
    "unique": torch.unique,
    "unique rows": lambda x: x.unique(dim=0),
    "unique inverse": lambda x: torch.unique(x, return_inverse=True)[1],
    "unique counts": lambda x: torch.unique(x, return_counts=True)[1],
    "unique_consecutive": lambda x: x.flatten().unique_consecutive(),
    "sort": lambda x: x.sort(dim=1, descending=True)[1],
    "stable sort": lambda x: x.flatten().sort(stable=True)[1],
    "argsort": lambda x: x.argsort(dim=-1),
    "topk": lambda x: x.topk(2)[0],
    "topk smallest": lambda x: x.topk(2, dim=0, largest=False)[1],
    "kthvalue": lambda x: x.kthvalue(2)[0],
    "median": lambda x: x.median(dim=1)[0],
    "mode": lambda x: x.flatten().mode()[0],
    "bincount": lambda x: x.long().flatten().bincount(),
    "histc": lambda x: x.histc(4),
    "quantile": lambda x: x.quantile(0.5),
    "isin": lambda x: torch.isin(x, torch.tensor([3.0], device=x.device)),
    "searchsorted": lambda x: torch.searchsorted(x.sort()[0], x),
    "repeat_interleave": lambda x: x[0].repeat_interleave(x[1].long()),
    "count_nonzero": lambda x: (x > 2).count_nonzero(),
    "argmax": lambda x: x.argmax(),
}


@pytest.mark.parametrize("name", READS)
def test_reads(name: str) -> None:
    expected, found = READS[name](floats("cpu")), READS[name](floats(DEVICE))
    assert found.device.type == DEVICE
    torch.testing.assert_close(found.cpu(), expected, rtol=0, atol=0)


def put(index: Callable[[torch.Tensor], object], value: Callable[[torch.Tensor], object]) -> Select:
    def write(x: torch.Tensor) -> torch.Tensor:
        x[index(x)] = value(x)  # type: ignore[index, assignment]
        return x

    return write


def scale_columns(x: torch.Tensor) -> torch.Tensor:
    x[:, mask(x, True, False, True)] *= 2
    return x


WRITES: dict[str, Select] = {
    "number by mask": put(lambda x: x > 2, lambda x: 0),  # noqa: ARG005
    "0-d by mask": put(lambda x: x > 2, lambda x: torch.tensor(7.0)),  # noqa: ARG005
    "tensor by mask": put(lambda x: x > 2, lambda x: torch.arange(3.0, device=x.device)),
    "row by mask": put(lambda x: mask(x, False, True), lambda x: x[0] * 10),
    "rows by mask": put(lambda x: mask(x, True, True), lambda x: x * 10),
    "no row by mask": put(lambda x: mask(x, False, False), lambda x: x[0] * 10),
    "matrix of a row by mask": put(lambda x: mask(x, False, True), lambda x: x[:1] * 10),
    "number by mask of rows": put(lambda x: mask(x, False, True), lambda x: x[0, :1] * 10),
    "part of a row": put(lambda x: (1, x[1] > 2), lambda x: -1),  # noqa: ARG005
    "in place by mask": scale_columns,
    "number by list": put(lambda x: ([0, 1], [1, 2]), lambda x: 9),  # noqa: ARG005
    "tensor by list": put(lambda x: ([0, 1], [0, 0]), lambda x: torch.tensor([8.0, 9.0], device=x.device)),  # noqa: ARG005
    "row": put(lambda x: 1, lambda x: torch.ones(3, device=x.device)),  # noqa: ARG005
    "CPU number": put(lambda x: (0, 0), lambda x: torch.tensor(4.0)),  # noqa: ARG005
    "everything": put(lambda x: ..., lambda x: 1),  # noqa: ARG005
    "repeated index": put(lambda x: [0, 0], lambda x: x[1] + 1),  # noqa: ARG005
    "masked_scatter_": lambda x: x.masked_scatter_(x > 2, torch.arange(6.0, device=x.device)),
    "masked_fill_": lambda x: x.masked_fill_(x > 2, torch.tensor(0.5)),
    "index_put_ accumulating": lambda x: x.index_put_(
        (torch.tensor([0, 0], device=x.device),), torch.tensor(1.0, device=x.device), accumulate=True
    ),
    "accumulating by mask": lambda x: x.index_put_((x > 2,), torch.tensor(1.0, device=x.device), accumulate=True),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes(name: str) -> None:
    expected, x = WRITES[name](floats("cpu")), floats(DEVICE)
    assert WRITES[name](x) is x
    torch.testing.assert_close(x.cpu(), expected, rtol=0, atol=0)


@pytest.mark.parametrize("name", ["number", "row", "matrix of a row"])
def test_writes_of_one_value_by_mask_are_recorded(name: str) -> None:
    values = {"number": lambda x: 0, "row": lambda x: x[0], "matrix of a row": lambda x: x[:1]}  # noqa: ARG005
    x = floats(DEVICE)
    lazycore.reset_metrics()
    x[mask(x, False, True)] = values[name](x)
    assert not lazycore.metrics()["fallbacks"]


SHORT: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "new": lambda x, values: x.masked_scatter(x > 2, values),
    "in place": lambda x, values: x.clone().masked_scatter_(x > 2, values),
    "rows": lambda x, values: x.masked_scatter(mask(x, True, False)[:, None], values),
    "repeated": lambda x, values: x[0].masked_scatter(x > 2, values),
    "nothing": lambda x, values: x.masked_scatter(x > 9, values[:0]),
    "all too short": lambda x, values: x.masked_scatter(x > 1, values),
}


@pytest.mark.parametrize("name", SHORT)
def test_as_many_values_as_the_mask_selects(name: str) -> None:
    def gradients(device: str) -> list[torch.Tensor]:
        x, values = floats(device).requires_grad_(), torch.full((3,), 7.0, device=device, requires_grad=True)
        y = SHORT[name](x, values)
        (y * y.detach()).sum().backward()
        return [t.cpu() for t in (y.detach(), x.grad, values.grad) if t is not None]

    if name == "all too short":
        with pytest.raises(RuntimeError, match="Number of elements of source < number of ones in mask"):
            gradients(DEVICE)
        return
    lazycore.reset_metrics()
    torch.testing.assert_close(gradients(DEVICE), gradients("cpu"), rtol=0, atol=0)
    assert not lazycore.metrics()["fallbacks"]


@pytest.mark.parametrize("write", [False, True])
def test_gradients_through_masks(write: bool) -> None:
    def gradient(device: str) -> torch.Tensor:
        x = torch.arange(6.0, device=device, requires_grad=True)
        y = x * 1
        if write:
            y[y > 2] = 0
        else:
            y = y[y > 2] ** 2
        y.sum().backward()
        assert x.grad is not None
        return x.grad.cpu()

    assert torch.equal(gradient(DEVICE), gradient("cpu"))


MISTAKES: dict[str, Select] = {
    "too many values for a mask": put(lambda x: mask(x, False, True), lambda x: torch.ones(2, 2, 3, device=x.device)),
    "values of another size": put(lambda x: mask(x, False, True), lambda x: torch.ones(2, device=x.device)),
    "mask of another shape": lambda x: x[x[0] > 0],
    "index out of range": lambda x: x[torch.tensor([5], device=x.device)],
    "values of another shape": put(lambda x: [0, 1], lambda x: torch.ones(4, device=x.device)),  # noqa: ARG005
    "float index": lambda x: x[torch.tensor([0.5], device=x.device)],
    "topk too many": lambda x: x.topk(9),  # type: ignore[return-value]
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_refused_as_on_the_cpu(name: str) -> None:
    with pytest.raises(Exception) as expected:  # noqa: PT011 - whatever the CPU raises
        MISTAKES[name](floats("cpu"))
    with pytest.raises(expected.type) as found:
        MISTAKES[name](floats(DEVICE)).cpu()
    assert str(expected.value).split("(")[0] in str(found.value)
