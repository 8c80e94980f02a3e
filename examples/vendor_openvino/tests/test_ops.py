"""Each row of the table against the CPU, values that are no numbers included, and what must be refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from lazycore_openvino.lowerings import LOWERINGS
from torch.nn.attention import SDPBackend, sdpa_kernel

import lazycore

F = torch.nn.functional
NAN, INF = float("nan"), float("inf")
Program = Callable[[torch.Tensor], torch.Tensor]


def image() -> torch.Tensor:
    return torch.linspace(-2, 2, 2 * 4 * 7 * 6).reshape(2, 4, 7, 6).sin()


def grouped(x: torch.Tensor) -> torch.Tensor:
    return F.conv2d(x, x[:, :2, :3, :2].repeat(2, 1, 1, 1), x[0, :, 0, 0], 1, 0, 2, 2)


def attention(x: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(x[None], x[None], x[None].cos())


def layer_norm(x: torch.Tensor) -> torch.Tensor:
    results = torch.native_layer_norm(x, (4,), x[0, 0], x[1, 0], 1e-5)
    return torch.cat([t.expand(2, 3, 4) for t in results])


X = torch.linspace(-3, 3, 24).reshape(2, 3, 4)
OPS: dict[str, tuple[torch.Tensor, Program]] = {
    "aten.convolution.default": (image(), lambda x: F.conv2d(x, x[:1, :, :3, :2].expand(3, 4, 3, 2), None, 2, 1)),
    "aten.convolution.default grouped": (image(), grouped),
    "aten.max_pool2d_with_indices.default": (image(), lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True)),
    "aten.linear.default": (X, lambda x: F.linear(x, x[0, :2], x[0, 0, :2])),
    "aten.addmm.default": (X, lambda x: torch.addmm(x[0, 0, :3], x[0], x[1].t(), beta=2, alpha=3)),
    "aten.mm.default": (X, lambda x: x[0] @ x[1].t()),
    "aten.bmm.default": (X, lambda x: x @ x.transpose(1, 2)),
    "aten.scaled_dot_product_attention.default": (X, attention),
    "aten._softmax.default": (X, lambda x: x.softmax(1)),
    "aten.native_layer_norm.default": (X, layer_norm),
    "aten.embedding.default": (X, lambda x: F.embedding(torch.tensor([[1, 0], [1, 1]]).to(x.device), x[0])),
    "aten.mean.dim": (X, lambda x: x.mean((0, -1), keepdim=True)),
    "aten.add.Tensor": (X, lambda x: torch.add(x, x[:1, :, :1], alpha=2)),
    "aten.sub.Tensor": (X, lambda x: torch.sub(x, x[1], alpha=2)),
    "aten.mul.Tensor": (X, lambda x: x * x[0]),
    "aten.div.Tensor": (X, lambda x: x / x[0]),
    "aten.relu.default": (X, lambda x: x.relu()),
    "aten.gelu.default": (X, lambda x: F.gelu(x) + F.gelu(x, approximate="tanh")),
    "aten.tanh.default": (X, lambda x: x.tanh()),
    "aten.sigmoid.default": (X, lambda x: x.sigmoid()),
    "aten._to_copy.default": (X, lambda x: (x * 1.1).bfloat16().float() + (x == 3.0).float()),
    "aten.view.default": (X, lambda x: x.relu().view(4, -1).tanh()),
    "aten.expand.default": (X, lambda x: x[:, :1].relu().expand(2, 5, 4).tanh()),
    "aten.permute.default": (X, lambda x: x.relu().permute(2, 0, -2).tanh()),
    "aten.slice.Tensor": (X, lambda x: x.relu()[:, -2:, 1:9:2].tanh()),
    "aten.cat.default": (X, lambda x: torch.cat([x, x.relu()], -1)),
    "aten.logical_not.default": (X, lambda x: (x == 3.0).logical_not()),
    "aten.eq.Scalar": (X, lambda x: x == 3.0),
    "aten.all.dim": (X, lambda x: (x == 3.0).all(-1, keepdim=True)),
    "aten.masked_fill.Scalar": (X, lambda x: x.masked_fill(x == 3.0, -INF)),
    "aten.where.self": (X, lambda x: torch.where(x == 3.0, x, x[0])),
    # Behind an op of its own: a number that varies between programs becomes an input.
    "aten.scalar_tensor.default": (X, lambda x: x.sigmoid() * 0.5),
}  # fmt: skip

# What comes of it depends on how the numbers are summed, on the CPU as here: an infinity minus another.
SUMS = ("convolution", "linear", "addmm", "mm", "bmm", "attention", "layer_norm")


def test_every_row_has_a_program() -> None:
    assert {name.split()[0] for name in OPS} == LOWERINGS.keys()


@pytest.mark.parametrize("odd", [False, True], ids=["numbers", "odd numbers"])
@pytest.mark.parametrize("name", OPS)
def test_computes_what_the_cpu_does(name: str, odd: bool, recwarn: pytest.WarningsRecorder) -> None:
    x, program = OPS[name]
    x = x.clone()
    if odd:
        x.view(-1)[[1, 7]] = NAN
        if not any(word in name for word in SUMS):
            x.view(-1)[[4, 10]] = torch.tensor([INF, -INF])
    with lazycore.use_backend("openvino,reference"):
        result = program(x.to("lazycore")).cpu()
    # CPU's fused attention drops NaN; the plain one is what its definition says.
    with sdpa_kernel(SDPBackend.MATH):
        expected = program(x)
    torch.testing.assert_close(result, expected, equal_nan=True, rtol=1e-5, atol=1e-5)
    steps = [step for plan in lazycore.explain().plans[-2:] for step in plan.steps if step.backend == "openvino"]
    assert any(name.split()[0] in step.ops for step in steps)
    assert not [w for w in recwarn if "cannot compile" in str(w.message)]


def test_attention_to_what_came_before() -> None:
    x = torch.randn(2, 3, 4)
    with lazycore.use_backend("openvino,reference"):
        got = F.scaled_dot_product_attention(*[x[None].to("lazycore")] * 3, is_causal=True, scale=0.7)
    expected = F.scaled_dot_product_attention(*[x[None]] * 3, is_causal=True, scale=0.7)
    torch.testing.assert_close(got.cpu(), expected)


def test_indices_of_a_pooling() -> None:
    x = torch.tensor([[[[1.0, 1.0, NAN], [0.0, 3.0, 1.0], [-1.0, 3.0, 3.0]]]])
    with lazycore.use_backend("openvino,reference"):
        _, got = F.max_pool2d(x[..., :2].to("lazycore"), 2, 1, return_indices=True)
        assert got.cpu().tolist() == F.max_pool2d(x[..., :2], 2, 1, return_indices=True)[1].tolist()


@pytest.mark.parametrize("build", [lambda x: x + x, lambda x: x.view(-1)], ids=["sum", "view"])
def test_large_integers_are_left_to_others(build: Program) -> None:
    x = torch.tensor([[2**40 + 1, -3]])
    with lazycore.use_backend("openvino,reference"):
        assert torch.equal(build(x.to("lazycore")).cpu(), build(x))


def test_casts_to_bool_are_left_to_others() -> None:
    x = torch.tensor([0.0, 2.0, NAN])
    with lazycore.use_backend("openvino,reference"):
        assert (x.to("lazycore") * 1.5).bool().tolist() == [False, True, True]


@pytest.mark.parametrize("shape", [(), (0, 3), (3, 0)])
def test_tensors_of_odd_shapes(shape: tuple[int, ...]) -> None:
    x = torch.full(shape, -2.5)
    with lazycore.use_backend("openvino,reference"):
        torch.testing.assert_close((x.to("lazycore").tanh() + x.to("lazycore")).cpu(), x.tanh() + x)


def test_numbers_that_vary_compile_once() -> None:
    x = torch.linspace(-1, 1, 5)
    with lazycore.use_backend("openvino,reference"):
        device = x.to("lazycore")
        got = [(device * factor).tanh().cpu() for factor in (1.5, 2.5, 3.5, 4.5)]
        compiles = lazycore.metrics()["compiles"]
        torch.testing.assert_close((device * 7.5).tanh().cpu(), (x * 7.5).tanh())
        assert lazycore.metrics()["compiles"] == compiles
    for result, factor in zip(got, (1.5, 2.5, 3.5, 4.5), strict=True):
        torch.testing.assert_close(result, (x * factor).tanh())


def test_bfloat16_is_rounded_where_it_leaves() -> None:
    x = torch.randn(3, 4, dtype=torch.bfloat16)
    with lazycore.use_backend("openvino,reference"):
        y = (x.to("lazycore") * 1.5).tanh()
        assert y.dtype == torch.bfloat16
        torch.testing.assert_close(y.cpu(), (x * 1.5).tanh())
