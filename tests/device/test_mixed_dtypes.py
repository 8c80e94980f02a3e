"""Operands of several dtypes where torch promotes none: what the CPU refuses is refused when it is called, in the CPU's
words, and what it takes has the CPU's dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

import lazycore

Op = Callable[[Callable[..., torch.Tensor], Callable[..., torch.Tensor]], Any]

# Of two functions that make a tensor of ones of some shape, in two dtypes.
REFUSED: dict[str, Op] = {
    "mm": lambda x, y: torch.mm(x(2, 3), y(3, 2)),
    "mv": lambda x, y: torch.mv(x(2, 3), y(3)),
    "addmm": lambda x, y: torch.addmm(x(2), y(2, 3), y(3, 2)),
    "addbmm": lambda x, y: torch.addbmm(x(2, 2), y(1, 2, 3), y(1, 3, 2)),
    "linear": lambda x, y: functional.linear(x(2, 3), y(2, 3), y(2)),
    "linear of three dimensions": lambda x, y: functional.linear(x(1, 2, 3), y(2, 3), y(2)),
    "convolution": lambda x, y: functional.conv2d(x(1, 1, 3, 3), y(1, 1, 2, 2)),
    "transposed convolution": lambda x, y: functional.conv_transpose2d(x(1, 1, 3, 3), y(1, 1, 2, 2)),
    "layer_norm": lambda x, y: functional.layer_norm(x(2, 3), (3,), y(3), y(3)),
    "batch_norm": lambda x, y: functional.batch_norm(x(2, 3), y(3), y(3), None, None, True),
    "group_norm": lambda x, y: functional.group_norm(x(2, 4, 2), 2, y(4), y(4)),
    "attention": lambda x, y: functional.scaled_dot_product_attention(x(1, 2, 4), y(1, 2, 4), y(1, 2, 4)),
    "attention of a mask": lambda x, y: functional.scaled_dot_product_attention(*[x(1, 2, 4)] * 3, y(2, 2).long()),
    "binary_cross_entropy": lambda x, y: functional.binary_cross_entropy(x(2), y(2)),
    "weights of classes": lambda x, y: functional.nll_loss(x(2, 3), y(2).long(), y(3)),
    "index_add": lambda x, y: x(3).index_add(0, y(1).long(), y(1)),
    "index_copy": lambda x, y: x(3).index_copy(0, y(1).long(), y(1)),
    "index_select by floats": lambda x, y: x(3).index_select(0, y(1)),
    "grid_sample": lambda x, y: functional.grid_sample(x(1, 1, 2, 2), y(1, 1, 1, 2)),
    "polar": lambda x, y: torch.polar(x(2), y(2)),
}
TAKEN: dict[str, Op] = {
    "addr": lambda x, y: torch.addr(x(2, 2), y(2), y(2)),
    "huber_loss": lambda x, y: functional.huber_loss(x(2), 3 * y(2)),
    "logits": lambda x, y: functional.binary_cross_entropy_with_logits(x(2), y(2)),
    "weighted logits": lambda x, y: functional.binary_cross_entropy_with_logits(x(2), y(2), None, None, "none", y(2)),
    "attention of a mask": lambda x, y: functional.scaled_dot_product_attention(
        *[x(1, 2, 4)] * 3, y(2, 2).to(x(1).dtype)
    ),
}
PAIRS = [(torch.float32, torch.float64), (torch.float64, torch.float32)]


def outcome(op: Op, dtypes: tuple[torch.dtype, torch.dtype], device: str) -> Any:
    def made(dtype: torch.dtype) -> Callable[..., torch.Tensor]:
        return lambda *size: torch.ones(size, dtype=dtype, device=device)

    try:
        return op(made(dtypes[0]), made(dtypes[1]))
    except RuntimeError as error:
        return error


@pytest.mark.parametrize("dtypes", PAIRS, ids=str)
@pytest.mark.parametrize("name", REFUSED)
def test_refused_at_once_in_the_words_of_the_cpu(name: str, dtypes: tuple[torch.dtype, torch.dtype]) -> None:
    expected, got = (outcome(REFUSED[name], dtypes, device) for device in ("cpu", "lazycore"))
    assert isinstance(expected, RuntimeError), "the CPU takes this"
    assert type(got) is type(expected), f"{got!r} where the CPU has {expected!r}"
    assert str(got) == str(expected)
    lazycore.sync()


@pytest.mark.parametrize("dtypes", PAIRS, ids=str)
@pytest.mark.parametrize("name", TAKEN)
def test_taken_with_the_dtype_of_the_cpu(name: str, dtypes: tuple[torch.dtype, torch.dtype]) -> None:
    expected, got = (outcome(TAKEN[name], dtypes, device) for device in ("cpu", "lazycore"))
    assert got.dtype is expected.dtype
    torch.testing.assert_close(got.cpu(), expected)


def test_logits_of_another_dtype_than_their_targets_have_the_gradient_of_the_cpu() -> None:
    gradients = []
    for device in ("cpu", "lazycore"):
        x = torch.tensor([0.3, -2.0], dtype=torch.float64, device=device, requires_grad=True)
        functional.binary_cross_entropy_with_logits(x, torch.tensor([1.0, 0.0], device=device)).backward()
        assert x.grad is not None
        gradients.append(x.grad.cpu())
    torch.testing.assert_close(gradients[1], gradients[0])


def test_what_is_taken_is_asked_of_the_cpu_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from lazycore.frontend import infer

    asked: list[str] = []
    ask = infer._of_zeros
    monkeypatch.setattr(infer, "_of_zeros", lambda info, *rest: (asked.append(info.name), ask(info, *rest))[1])
    for size in (5, 6, 7):
        x = torch.ones(2, size, dtype=torch.bfloat16, device="lazycore")
        weight = torch.ones(size, device="lazycore")
        functional.layer_norm(x, (size,), weight, weight)
    assert asked in ([], ["aten.native_layer_norm.default"])
