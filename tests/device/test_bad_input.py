"""What CPU eager refuses is refused with the same type and words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import lazycore

Mistake = Callable[[str], Any]


def leaf_in_place(device: str) -> None:
    x = torch.ones(3, device=device, requires_grad=True)
    x.add_(1)


def view_of_leaf_in_place(device: str) -> None:
    x = torch.ones(3, device=device, requires_grad=True)
    x[0].add_(1)


def backward_twice(device: str) -> None:
    x = torch.ones(3, device=device, requires_grad=True)
    y = (x * x).sum()
    y.backward()
    y.backward()


def backward_of_a_vector(device: str) -> None:
    torch.ones(3, device=device, requires_grad=True).exp().backward()


def saved_value_overwritten(device: str) -> None:
    x = torch.ones(3, device=device, requires_grad=True)
    y = x.exp()
    y.add_(1)
    y.sum().backward()


def inference_tensor_in_autograd(device: str) -> None:
    with torch.inference_mode():
        x = torch.ones(3, device=device)
    (torch.ones(3, device=device, requires_grad=True) * x).sum().backward()


def ones(device: str, *size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.ones(*size, dtype=dtype, device=device)


functional = torch.nn.functional
attend = functional.scaled_dot_product_attention

MISTAKES: dict[str, Mistake] = {
    "add shapes": lambda d: ones(d, 3) + ones(d, 4),
    "complex of two dtypes": lambda d: torch.complex(ones(d, 2), ones(d, 2, dtype=torch.float64)),
    "dimensions": lambda d: ones("cpu", *[1] * 65).to(d).amax(0),
    "heaviside of two dtypes": lambda d: torch.heaviside(ones(d, 2), ones(d, 2, dtype=torch.float64)),
    "argmax of bool": lambda d: ones(d, 2, dtype=torch.bool).argmax(),
    "median of bool": lambda d: ones(d, 2, dtype=torch.bool).median(0),
    "topk of bool": lambda d: ones(d, 2, dtype=torch.bool).topk(2),
    "relu of bool": lambda d: ones(d, 2, dtype=torch.bool).relu(),
    "max over nothing": lambda d: ones(d, 0, 3).max(0),
    "median of nothing": lambda d: ones(d, 0, 3).median(0),
    "nanmedian of nothing": lambda d: ones(d, 3, 0).nanmedian(-1),
    "mode of nothing": lambda d: ones(d, 0, 3).mode(0),
    "matmul shapes": lambda d: ones(d, 2, 3) @ ones(d, 2, 3),
    "mm of a vector": lambda d: torch.mm(ones(d, 3), ones(d, 3, 2)),
    "linear": lambda d: functional.linear(ones(d, 2, 3), ones(d, 4, 5)),
    "attention of vectors": lambda d: attend(ones(d, 3), ones(d, 3), ones(d, 3)),
    "attention by a mask of another shape": lambda d: attend(*[ones(d, 1, 2, 3, 4)] * 3, ones(d, 3, 2)),
    "attention by a mask of one dimension": lambda d: attend(*[ones(d, 1, 2, 3, 4)] * 3, ones(d, 3)),
    "attention by a mask of more dimensions": lambda d: attend(*[ones(d, 2, 3, 4)] * 3, ones(d, 5, 1, 3, 3)),
    "attention by a mask of more rows": lambda d: attend(
        ones(d, 1, 2, 1, 4), ones(d, 1, 2, 3, 4), ones(d, 1, 2, 3, 4), ones(d, 3, 3)
    ),
    "attention by a mask with another number of rows": lambda d: attend(*[ones(d, 1, 2, 3, 4)] * 3, ones(d, 2, 3)),
    "causal attention of three dimensions by a mask": lambda d: attend(
        *[ones(d, 2, 3, 4)] * 3, ones(d, 3, 3), is_causal=True
    ),
    "causal attention by a mask with dropout": lambda d: attend(
        *[ones(d, 1, 2, 3, 4)] * 3, ones(d, 3, 3), 0.1, is_causal=True
    ),
    "convolution of other channels": lambda d: functional.conv2d(ones(d, 1, 2, 5, 5), ones(d, 3, 4, 2, 2)),
    "convolution of no size": lambda d: functional.conv1d(ones(d, 1, 2, 0), ones(d, 3, 2, 1), padding=1),
    "convolution by a wide window": lambda d: functional.conv1d(ones(d, 1, 2, 2), ones(d, 3, 2, 4)),
    "convolution of two dtypes": lambda d: functional.conv1d(ones(d, 1, 2, 4), ones(d, 3, 2, 1, dtype=torch.float64)),
    "convolution by two paddings": lambda d: functional.conv1d(ones(d, 1, 2, 4), ones(d, 3, 2, 1), padding=(1, 1)),
    "convolution by two strides": lambda d: functional.conv1d(ones(d, 1, 2, 4), ones(d, 3, 2, 1), stride=(1, 1)),
    "convolution without a stride": lambda d: functional.conv1d(ones(d, 1, 2, 4), ones(d, 3, 2, 1), stride=0),
    "convolution without a dilation": lambda d: functional.conv1d(ones(d, 1, 2, 4), ones(d, 3, 2, 2), dilation=0),
    "convolution without groups": lambda d: functional.conv1d(ones(d, 1, 2, 4), ones(d, 3, 2, 1), groups=0),
    "convolution by a long bias": lambda d: functional.conv1d(ones(d, 1, 2, 4), ones(d, 3, 2, 1), ones(d, 4)),
    "transposed convolution of other channels": lambda d: functional.conv_transpose1d(
        ones(d, 1, 3, 4), ones(d, 2, 3, 1)
    ),
    "transposed convolution in groups": lambda d: functional.conv_transpose1d(
        ones(d, 1, 4, 4), ones(d, 4, 3, 1), groups=3
    ),
    "transposed convolution padded beyond a step": lambda d: functional.conv_transpose2d(
        ones(d, 1, 2, 4, 4), ones(d, 2, 3, 2, 2), output_padding=1
    ),
    "transposed convolution by a negative padding": lambda d: functional.conv_transpose1d(
        ones(d, 1, 2, 4), ones(d, 2, 3, 2), stride=2, output_padding=-1
    ),
    "adaptive mean of nothing": lambda d: functional.adaptive_avg_pool2d(ones(d, 1, 2, 0, 3), 2),
    "adaptive mean of nothing in three dimensions": lambda d: functional.adaptive_avg_pool3d(ones(d, 1, 2, 0, 3, 3), 2),
    "batch normalization by half of the statistics": lambda d: functional.batch_norm(
        ones(d, 2, 3), ones(d, 3), None, training=True
    ),
    "short rows by floats": lambda d: functional.embedding(ones(d, 2), ones(d, 3, 4), max_norm=1.0),
    "cat shapes": lambda d: torch.cat([ones(d, 2, 3), ones(d, 2, 4)]),
    "cat of nothing": lambda d: torch.cat([]) if d else None,
    "stack shapes": lambda d: torch.stack([ones(d, 2), ones(d, 3)]),
    "view": lambda d: ones(d, 2, 3).view(4),
    "view of a transposed": lambda d: ones(d, 2, 3).t().view(6),
    "reshape": lambda d: ones(d, 2, 3).reshape(-1, 4),
    "expand": lambda d: ones(d, 2, 3).expand(4, 3),
    "permute": lambda d: ones(d, 2, 3).permute(0, 0),
    "squeeze dimension": lambda d: ones(d, 2).squeeze(3),
    "sum dimension": lambda d: ones(d, 2).sum(2),
    "select": lambda d: ones(d, 2)[2],
    "select of a number": lambda d: ones(d, 2).sum()[0],
    "too many indices": lambda d: ones(d, 2)[0, 0],
    "narrow": lambda d: ones(d, 3).narrow(0, 2, 2),
    "as_strided": lambda d: ones(d, 3).as_strided((4,), (1,)),
    "unfold": lambda d: ones(d, 3).unfold(0, 4, 1),
    "split": lambda d: ones(d, 3).split([1, 1]),
    "item of many": lambda d: ones(d, 3).item(),
    "bool of many": lambda d: bool(ones(d, 3)),
    "int dtype mean": lambda d: ones(d, 3, dtype=torch.int64).mean(),
    "bitwise of floats": lambda d: ones(d, 3) & ones(d, 3),
    "shift of floats": lambda d: torch.bitwise_left_shift(ones(d, 3), 1),
    "int plus= float": lambda d: ones(d, 3, dtype=torch.int64).add_(1.5),
    "int *= float tensor": lambda d: ones(d, 3, dtype=torch.int64).mul_(ones(d, 3)),
    "bool minus bool": lambda d: ones(d, 3).bool() - ones(d, 3).bool(),
    "negated bool": lambda d: -(ones(d, 3).bool()),
    "ints *= float, a list": lambda d: torch._foreach_mul_([ones(d, 3, dtype=torch.int64)], 1.5),
    "ints *= floats, a list": lambda d: torch._foreach_mul_([ones(d, 3, dtype=torch.int64)], [ones(d, 3)]),
    "one tensor twice *= float": lambda d: torch._foreach_mul_([ones(d, 3, dtype=torch.int64)[:2]] * 2, 1.5),
    "ints += products, a list": lambda d: torch._foreach_addcmul_(
        [ones(d, 3, dtype=torch.int64)], [ones(d, 3)], [ones(d, 3)]
    ),
    "complex to float": lambda d: ones(d, 3).add_(ones(d, 3, dtype=torch.complex64)),
    "compare complex": lambda d: ones(d, 3, dtype=torch.complex64) < 1,
    "int alpha": lambda d: torch.add(ones(d, 3, dtype=torch.int64), ones(d, 3, dtype=torch.int64), alpha=1.5),
    "integer power": lambda d: ones(d, 3, dtype=torch.int64) ** -1,
    "out dtype": lambda d: torch.add(ones(d, 3), 1, out=ones(d, 3, dtype=torch.int64)),
    "out of another kind": lambda d: torch.mul(ones(d, 2), 1j, out=ones(d, 2)),
    "gather's out of another dtype": lambda d: torch.gather(
        ones(d, 2), 0, torch.zeros(2, dtype=torch.int64, device=d), out=ones(d, 2).double()
    ),
    "amax's out of another dtype": lambda d: torch.amax(
        ones(d, 2), 0, out=torch.zeros((), dtype=torch.int32, device=d)
    ),
    "second out of another dtype": lambda d: torch.aminmax(
        ones(d, 2), dim=0, out=(torch.zeros((), device=d), torch.zeros((), device=d).double())
    ),
    "complex out of another dtype": lambda d: torch.complex(
        ones(d, 2), ones(d, 2), out=ones(d, 2).to(torch.complex128)
    ),
    "multinomial's out of another dtype": lambda d: torch.multinomial(ones(d, 2), 1, out=ones(d, 1).double()),
    "out overlaps": lambda d: torch.exp(ones(d, 3), out=ones(d, 1).expand(3)),
    "broadcast in place": lambda d: ones(d, 3).add_(ones(d, 2, 3)),
    "copy_ shapes": lambda d: ones(d, 3).copy_(ones(d, 2)),
    "fill_ with a vector": lambda d: ones(d, 3).fill_(ones(d, 2)),
    "written expanded": lambda d: ones(d, 1).expand(3).add_(1),
    "overlapping copy": lambda d: (x := ones(d, 4))[1:].copy_(x[:-1]),
    "masked_fill of ints": lambda d: ones(d, 3).masked_fill(ones(d, 3), 1.0),
    "masked_fill shapes": lambda d: ones(d, 3).masked_fill_(ones(d, 2).bool(), 1.0),
    "index dtype": lambda d: ones(d, 3)[ones(d, 2)],
    "index shapes": lambda d: ones(d, 3, 3)[ones(d, 2).long(), ones(d, 3).long()],
    "mask shape": lambda d: ones(d, 3)[ones(d, 2).bool()],
    "index_put dtype": lambda d: ones(d, 3).index_put_((ones(d, 1).long(),), ones(d, 1).double()),
    "index_put shape": lambda d: ones(d, 3).index_put_((ones(d, 2).long(),), ones(d, 3)),
    "gather dtype": lambda d: ones(d, 3).gather(0, ones(d, 2)),
    "gather dimensions": lambda d: ones(d, 3, 3).gather(0, ones(d, 2).long()),
    "scatter shapes": lambda d: ones(d, 2, 2).scatter(0, ones(d, 3, 2).long(), ones(d, 2, 2)),
    "embedding dtype": lambda d: torch.nn.functional.embedding(ones(d, 2), ones(d, 3, 3)),
    "cross_entropy shapes": lambda d: torch.nn.functional.cross_entropy(ones(d, 3, 2), ones(d, 4).long()),
    "mse shapes": lambda d: torch.ops.aten.mse_loss(ones(d, 3), ones(d, 4)),
    "conv channels": lambda d: torch.nn.functional.conv2d(ones(d, 1, 3, 4, 4), ones(d, 2, 4, 3, 3)),
    "conv kernel": lambda d: torch.nn.functional.conv2d(ones(d, 1, 1, 2, 2), ones(d, 1, 1, 3, 3)),
    "pool": lambda d: torch.nn.functional.max_pool2d(ones(d, 1, 1, 2, 2), 5),
    "layer_norm": lambda d: torch.nn.functional.layer_norm(ones(d, 2, 3), (4,)),
    "batch_norm of one": lambda d: torch.nn.BatchNorm1d(2).to(d)(ones(d, 1, 2)),
    "dropout": lambda d: torch.nn.functional.dropout(ones(d, 2), 1.5),
    "softmax dimension": lambda d: ones(d, 2).softmax(1),
    "topk": lambda d: ones(d, 2).topk(3),
    "argmax of nothing": lambda d: ones(d, 0).argmax(),
    "max of nothing": lambda d: ones(d, 0).max(),
    "negative size": lambda d: torch.zeros(-1, device=d),
    "arange step": lambda d: torch.arange(0, 3, -1, device=d),
    "arange step zero": lambda d: torch.arange(0, 3, 0, device=d),
    "linspace steps": lambda d: torch.linspace(0, 1, -1, device=d),
    "eye": lambda d: torch.eye(-1, device=d),
    "full overflow": lambda d: torch.full((2,), 300, dtype=torch.uint8, device=d).cpu(),
    "fill_ overflow": lambda d: ones(d, 2, dtype=torch.uint8).fill_(300).cpu(),
    "fill_ overflow of halves": lambda d: ones(d, 2, dtype=torch.float16).fill_(70000.0).cpu(),
    "full overflow of halves": lambda d: torch.full((2,), -1e9, dtype=torch.float16, device=d).cpu(),
    "masked_fill overflow": lambda d: ones(d, 2, dtype=torch.float16).masked_fill(ones(d, 2).bool(), -1e9).cpu(),
    "index_fill overflow": lambda d: ones(d, 2, dtype=torch.int8).index_fill(0, ones(d, 1).long(), 300).cpu(),
    "view_as_complex": lambda d: torch.view_as_complex(ones(d, 3)),
    "view dtype": lambda d: ones(d, 3).view(torch.float64),
    "roll": lambda d: ones(d, 3).roll((1, 2), 0),
    "einsum": lambda d: torch.einsum("ij,jk->ik", ones(d, 2, 3), ones(d, 2, 3)),
    "addmm": lambda d: torch.addmm(ones(d, 5), ones(d, 2, 3), ones(d, 3, 4)),
    "bmm dtype": lambda d: ones(d, 1, 2, 2) @ ones(d, 1, 2, 2, dtype=torch.float64),
    "softmax of integers": lambda d: ones(d, 3, dtype=torch.int64).softmax(0),
    "log_softmax of bytes": lambda d: ones(d, 3, dtype=torch.uint8).log_softmax(0),
    "softmax of truth values": lambda d: ones(d, 3, dtype=torch.bool).softmax(0),
    "deviation of integers": lambda d: ones(d, 3, dtype=torch.int64).std(),
    "variance and mean of integers": lambda d: torch.var_mean(ones(d, 3, dtype=torch.int64), 0),
    "leaf in place": leaf_in_place,
    "view of a leaf in place": view_of_leaf_in_place,
    "backward twice": backward_twice,
    "backward of a vector": backward_of_a_vector,
    "saved value overwritten": saved_value_overwritten,
    "inference tensor": inference_tensor_in_autograd,
    "requires_grad of ints": lambda d: ones(d, 2, dtype=torch.int64).requires_grad_(),
    "deepcopy of a non-leaf": lambda d: __import__("copy").deepcopy(ones(d, 2).requires_grad_() * 2),
}


def raised(mistake: Mistake, device: str) -> BaseException | None:
    torch.manual_seed(0)
    try:
        mistake(device)
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize("name", MISTAKES)
def test_the_same_type_and_words(name: str) -> None:
    expected = raised(MISTAKES[name], "cpu")
    got = raised(MISTAKES[name], "lazycore")
    assert expected is not None, "CPU takes this; it is no mistake"
    assert type(got) is type(expected), f"{got!r} where CPU has {expected!r}"
    assert first_line(got) == first_line(expected)
    x = torch.tensor([1.0, 2.0]).to("lazycore")
    assert (x * 2.5 + 1).tolist() == [3.5, 6.0], "the device is usable afterwards"


def first_line(error: BaseException | None) -> str:
    # torch's own C++ names the type of a tensor by its device.
    text = str(error).splitlines()[0].replace("torch.FloatTensor", "cpuFloatType")
    return text.replace("lazycore:0", "cpu").replace("lazycore", "cpu")


MIXED: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "add": lambda ours, cpu: ours + cpu,
    "radd": lambda ours, cpu: cpu + ours,
    "add_": lambda ours, cpu: ours.add_(cpu),
    "matmul": lambda ours, cpu: ours @ cpu,
    "cat": lambda ours, cpu: torch.cat([ours, cpu]),
    "where": lambda ours, cpu: torch.where(ours > 0, ours, cpu),
    "linear": lambda ours, cpu: torch.nn.functional.linear(ours, cpu),
    "out": lambda ours, cpu: torch.add(ours, 1, out=cpu),
    "loss": lambda ours, cpu: torch.nn.functional.mse_loss(ours, cpu),
    "foreach": lambda ours, cpu: torch._foreach_add([ours], [cpu]),
    "index of the CPU by ours": lambda ours, cpu: cpu[ours.long()],
}


@pytest.mark.parametrize("name", MIXED)
def test_devices_do_not_mix(name: str) -> None:
    ours, cpu = torch.ones(3, 3).to("lazycore"), torch.ones(3, 3)
    with pytest.raises((RuntimeError, TypeError)) as caught:
        MIXED[name](ours, cpu)
    assert "cpu" in str(caught.value)
    lazycore.sync()
    assert ours.tolist() == cpu.tolist()


def test_numbers_on_the_cpu_do_mix() -> None:
    x, two = torch.ones(2).to("lazycore"), torch.tensor(2.0)
    assert (x * two).tolist() == (two * x).tolist() == [2.0, 2.0]
    assert x.add_(two).tolist() == [3.0, 3.0]
    assert x.fill_(two).tolist() == [2.0, 2.0]
    assert torch.where(x > 0, x, two).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("shape", [(), (1,)])
def test_a_single_half_becomes_infinite_where_it_is_filled_with_too_much(shape: tuple[int, ...]) -> None:
    for device in ("cpu", "lazycore"):
        x = torch.full(shape, 70000.0, dtype=torch.float16, device=device)
        assert torch.equal(x.fill_(-1e9).cpu(), torch.zeros(shape, dtype=torch.float16) - torch.inf)
        assert torch.equal(torch.full_like(x, 70000.0).cpu(), torch.zeros(shape, dtype=torch.float16) + torch.inf)
