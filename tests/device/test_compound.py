"""Ops recorded as one: same values, gradients and errors as in parts, in one entry of the trace."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils._pytree import tree_map

Made = Callable[..., torch.Tensor]


def _both(function: Callable[[Made], torch.Tensor]) -> tuple[list[Any], list[Any]]:
    """The result of a function of tensors that ``x(*shape)`` makes, and their gradients: on the device, on the CPU."""
    found = []
    for device in ("lazycore", "cpu"):
        torch.manual_seed(3)
        made: list[torch.Tensor] = []

        def x(*shape: int, device: str = device, made: list[torch.Tensor] = made) -> torch.Tensor:
            made.append(torch.randn(shape).to(device).requires_grad_())
            return made[-1]

        result = function(x)
        result.square().sum().backward()
        found.append([result.detach().cpu(), *(t.grad.cpu() for t in made if t.grad is not None)])
    return found[0], found[1]


CASES: dict[str, Callable[[Made], torch.Tensor]] = {
    "matrix": lambda x: functional.linear(x(5, 3), x(4, 3), x(4)),
    "no bias": lambda x: functional.linear(x(5, 3), x(4, 3)),
    "leading dimensions": lambda x: functional.linear(x(2, 5, 3), x(4, 3), x(4)),
    "vector": lambda x: functional.linear(x(3), x(4, 3), x(4)),
    "transposed weight": lambda x: functional.linear(x(5, 3), x(3, 4).t(), x(4)),
    "windows": lambda x: functional.linear(x(5, 6)[:, 2:5], x(8, 3)[::2], x(9)[1:5]),
    "expanded input": lambda x: functional.linear(x(1, 3).expand(5, 3), x(4, 3), x(4)),
    "one operand twice": lambda x: (lambda w: functional.linear(w, w))(x(3, 3)),
    "no rows": lambda x: functional.linear(x(0, 3), x(4, 3), x(4)),
    "no inputs": lambda x: functional.linear(x(2, 5, 0), x(4, 0), x(4)),
    "no outputs": lambda x: functional.linear(x(2, 5, 3), x(0, 3), x(0)),
    "one output without a dimension": lambda x: functional.linear(x(2, 5, 3), x(3)),
    "a number": lambda x: functional.linear(x(3), x(3), x()),
    "attention of no features": lambda x: functional.scaled_dot_product_attention(
        x(2, 3, 5, 0), x(2, 3, 6, 0), x(2, 3, 6, 0)
    ),
    "attention": lambda x: functional.scaled_dot_product_attention(x(2, 3, 5, 4), x(2, 3, 6, 4), x(2, 3, 6, 4)),
    "causal attention": lambda x: functional.scaled_dot_product_attention(
        *x(2, 5, 3, 12).transpose(1, 2).chunk(3, -1), is_causal=True
    ),
    "attention by a mask": lambda x: (lambda q: functional.scaled_dot_product_attention(
        q, x(2, 3, 5, 4), x(2, 3, 5, 4), (torch.arange(25, device=q.device).reshape(5, 5) % 3).bool(), scale=0.3
    ))(x(2, 3, 5, 4)),
    "causal attention by a mask": lambda x: (lambda q: functional.scaled_dot_product_attention(
        q, x(2, 3, 6, 4), x(2, 3, 6, 4), (torch.arange(30, device=q.device).reshape(5, 6) % 4).bool(), is_causal=True
    ))(x(2, 3, 5, 4)),
    "attention with dropout": lambda x: functional.scaled_dot_product_attention(
        x(2, 3, 5, 4), x(2, 3, 6, 4), x(2, 3, 6, 4), dropout_p=1e-12
    ),
}  # fmt: skip


@pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_those_of_the_cpu(name: str) -> None:
    ours, theirs = _both(CASES[name])
    torch.testing.assert_close(ours, theirs, rtol=2e-5, atol=2e-5)


LAYER = """
import torch, lazycore
from lazycore.frontend.local import local

layer, x = torch.nn.Linear(3, 4).to("lazycore"), torch.randn(2, 5, 3, device="lazycore", requires_grad=True)

def count():
    layer.weight.grad = layer.bias.grad = x.grad = None
    lazycore.sync()
    y = layer(x)
    print(local.trace.node.depth)
    y.backward(torch.ones_like(y))
    print(local.trace.node.depth)

count()
with torch.autograd.forward_ad.dual_level():
    count()
torch.func.jvp(layer, (x.detach(),), (x.detach(),))
count()
"""


def test_a_layer_is_one_entry_each_way() -> None:
    """Unless tangents are wanted: then it comes in parts, until they are not."""
    done = subprocess.run([sys.executable, "-c", LAYER], capture_output=True, text=True, timeout=120, check=True)
    whole = ["1", "3"]  # the forward pass; the ones, and the backward pass
    counts = done.stdout.split()
    assert counts[:2] == counts[4:] == whole
    assert int(counts[3]) > int(whole[1])


def test_rows_that_move_compile_once(rounds: Callable[..., list[int]]) -> None:
    data, weight = torch.randn(9, 3).to("lazycore"), torch.randn(4, 3).to("lazycore")
    expected = data.cpu() @ weight.cpu().t()
    found = []
    compiled = rounds(lambda i: found.append(functional.linear(data[i : i + 2], weight)), 5)
    assert compiled == [1] * 5
    for i, y in enumerate(found):
        torch.testing.assert_close(y.cpu(), expected[i : i + 2])


@pytest.mark.parametrize("shapes", [((5, 3), (4, 2), None), ((5, 3), (4, 3), (5,)), ((), (4, 3), None)])
def test_what_the_cpu_refuses_is_refused_in_its_words(shapes: tuple[Any, ...]) -> None:
    given = [None if s is None else torch.randn(s) for s in shapes]
    with pytest.raises(RuntimeError) as theirs:
        functional.linear(*given)
    x = torch.ones(2, device="lazycore") + 1
    with pytest.raises(RuntimeError) as ours:
        functional.linear(*(None if t is None else t.to("lazycore") for t in given))
    assert str(ours.value) == str(theirs.value)
    assert x.tolist() == [2.0, 2.0]


def test_a_gradient_of_a_gradient() -> None:
    def twice(device: str) -> list[torch.Tensor]:
        torch.manual_seed(1)
        x, w = (torch.randn(s).to(device).requires_grad_() for s in ((5, 3), (4, 3)))
        (by_x,) = torch.autograd.grad(functional.linear(x, w).pow(3).sum(), x, create_graph=True)
        by_x.square().sum().backward()
        return [t.grad.cpu() for t in (x, w) if t.grad is not None]

    torch.testing.assert_close(twice("lazycore"), twice("cpu"))


def test_tangents_of_layers_and_attention() -> None:
    def tangents(device: str) -> list[torch.Tensor]:
        torch.manual_seed(2)
        x, w, t = (torch.randn(s).to(device) for s in ((2, 1, 5, 4), (4, 4), (2, 1, 5, 4)))

        def f(a: torch.Tensor) -> torch.Tensor:
            h = functional.linear(a, w)
            # The CPU has tangents for the parts of an attention only.
            with nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH):
                return functional.scaled_dot_product_attention(h, a, h)

        return [r.cpu() for r in torch.func.jvp(f, (x,), (t,))]

    torch.testing.assert_close(tangents("lazycore"), tangents("cpu"), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
@pytest.mark.parametrize("make", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
def test_tangents_of_cells(make: Callable[[int, int], nn.Module]) -> None:
    torch.manual_seed(3)
    cell, x, t = make(4, 3), torch.randn(2, 4), torch.randn(2, 4)
    expected = torch.func.jvp(cell, (x,), (t,))
    cell = cell.to("lazycore")
    got = torch.func.jvp(cell, (x.to("lazycore"),), (t.to("lazycore"),))
    torch.testing.assert_close(tree_map(torch.Tensor.cpu, got), expected)
