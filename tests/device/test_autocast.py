"""Autocast: what each op of the lists computes in, kept casts, and training in bfloat16 and float16."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import lazycore
from lazycore.frontend.autocast import casts
from lazycore.frontend.autocast.lists import APPENDED, FULL, FULL_RESULT, LOWER, REFUSED, WIDEST
from lazycore.frontend.schema import overload

DEVICE = "lazycore"
F16, BF16, F32, F64 = torch.float16, torch.bfloat16, torch.float32, torch.float64


def t(*shape: int, dtype: torch.dtype = F32) -> torch.Tensor:
    return torch.ones(shape, dtype=dtype, device=DEVICE) / 2


def autocast(dtype: torch.dtype = BF16, **options: Any) -> torch.autocast:
    return torch.autocast(DEVICE, dtype=dtype, **options)


def test_the_lists_name_operators() -> None:
    names = [*LOWER, *FULL, *FULL_RESULT, *APPENDED, *APPENDED.values(), *WIDEST, *REFUSED]
    assert len(names) == len(set(names))
    for name in names:
        overload(f"aten::{name}")


LOWERED: dict[str, Callable[[], torch.Tensor]] = {
    "linear": lambda: F.linear(t(2, 3), t(4, 3), t(4)),
    "matmul": lambda: t(2, 3) @ t(3, 2),
    "bmm": lambda: torch.bmm(t(2, 3, 4), t(2, 4, 3)),
    "addmm": lambda: torch.addmm(t(2), t(3, 4), t(4, 2)),
    "mv": lambda: torch.mv(t(2, 3), t(3)),
    "einsum": lambda: torch.einsum("ij,jk->ik", t(2, 3), t(3, 2)),
    "conv1d": lambda: F.conv1d(t(1, 2, 5), t(3, 2, 3)),
    "conv2d": lambda: F.conv2d(t(1, 2, 5, 5), t(3, 2, 3, 3), t(3)),
    "conv_transpose2d": lambda: F.conv_transpose2d(t(1, 2, 5, 5), t(2, 3, 3, 3)),
    "attention": lambda: F.scaled_dot_product_attention(t(1, 2, 3, 4), t(1, 2, 3, 4), t(1, 2, 3, 4)),
    "prelu": lambda: F.prelu(t(2, 3), t(1)),
    "a cell": lambda: torch.lstm_cell(t(2, 3), (t(2, 4), t(2, 4)), t(16, 3), t(16, 4), t(16), t(16))[0],
}
FULLER: dict[str, Callable[[torch.dtype], torch.Tensor]] = {
    "exp": lambda d: torch.exp(t(3, dtype=d)),
    "log": lambda d: torch.log(t(3, dtype=d)),
    "pow": lambda d: t(3, dtype=d) ** 3,
    "layer_norm": lambda d: F.layer_norm(t(2, 3, dtype=d), (3,)),
    "group_norm": lambda d: F.group_norm(t(2, 4, 3, dtype=d), 2),
    "rms_norm": lambda d: F.rms_norm(t(2, 3, dtype=d), (3,)),
    "mse_loss": lambda d: F.mse_loss(t(3, dtype=d), t(3, dtype=d)),
    "nll_loss": lambda d: F.nll_loss(t(2, 3, dtype=d), torch.tensor([0, 1], device=DEVICE)),
    "logits": lambda d: F.binary_cross_entropy_with_logits(t(3, dtype=d), t(3, dtype=d)),
    "cosine_similarity": lambda d: F.cosine_similarity(t(2, 3, dtype=d), t(2, 3, dtype=d)),
    "cdist": lambda d: torch.cdist(t(2, 3, dtype=d), t(2, 3, dtype=d)),
    "logsumexp": lambda d: torch.logsumexp(t(2, 3, dtype=d), 0),
    "interpolate": lambda d: F.interpolate(t(1, 1, 2, 2, dtype=d), scale_factor=2, mode="bilinear"),
    "softmax": lambda d: torch.softmax(t(2, 3, dtype=d), -1),
    "log_softmax": lambda d: torch.log_softmax(t(2, 3, dtype=d), -1),
    "sum": lambda d: t(2, 3, dtype=d).sum(),
    "sum of a dimension": lambda d: t(2, 3, dtype=d).sum(1),
    "cumsum": lambda d: t(2, 3, dtype=d).cumsum(0),
    "prod": lambda d: t(2, 3, dtype=d).prod(),
    "vector_norm": lambda d: torch.linalg.vector_norm(t(2, 3, dtype=d)),
    "norm": lambda d: torch.norm(t(2, 3, dtype=d), 3),
    "norm of a dimension": lambda d: torch.norm(t(2, 3, dtype=d), 2, 1),
}


@pytest.mark.parametrize("dtype", [BF16, F16])
@pytest.mark.parametrize("name", LOWERED)
def test_lowered_ops(name: str, dtype: torch.dtype) -> None:
    expected = LOWERED[name]()
    with autocast(dtype):
        found = LOWERED[name]()
    assert expected.dtype is F32
    assert found.dtype is dtype
    torch.testing.assert_close(found.detach().cpu().float(), expected.detach().cpu(), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("name", FULLER)
def test_ops_in_full_precision(name: str) -> None:
    expected = FULLER[name](F32)
    with autocast(BF16):
        found = FULLER[name](BF16)
    assert found.dtype is F32
    torch.testing.assert_close(found.cpu(), expected.cpu(), rtol=1e-6, atol=1e-6)


def test_cross_entropy_is_a_float32_loss_of_lower_logarithms() -> None:
    # As on CUDA: torch asks log_softmax for the dtype of the logits, which autocast respects.
    logits = torch.tensor([[1.0, 2.0, 4.0]], device=DEVICE)
    target = torch.tensor([1], device=DEVICE)
    with autocast():
        found = F.cross_entropy(logits.to(BF16), target)
    assert found.dtype is F32
    assert found.item() == -F.log_softmax(logits, 1).to(BF16)[0, 1].item()


def test_a_dtype_that_is_asked_for_is_kept() -> None:
    with autocast():
        assert torch.softmax(t(3, dtype=BF16), 0, dtype=F64).dtype is F64
        assert torch.softmax(t(3, dtype=BF16), 0, dtype=BF16).dtype is BF16
        assert t(3, dtype=BF16).sum(dtype=BF16).dtype is BF16
        assert torch.ones(3, dtype=torch.int64, device=DEVICE).sum().dtype is torch.int64


def test_widest_operand_wins() -> None:
    with autocast():
        assert torch.addcmul(t(3), t(3, dtype=BF16), t(3)).dtype is F32
        assert torch.addcmul(t(3, dtype=BF16), t(3, dtype=BF16), t(3, dtype=BF16)).dtype is BF16
        assert torch.dot(t(3), t(3, dtype=BF16)).dtype is F32
        assert torch.atan2(t(3, dtype=BF16), t(3)).dtype is F32
        with pytest.raises(RuntimeError, match="float16"):
            torch.dot(t(3, dtype=F16), t(3, dtype=BF16))


def test_what_is_not_eligible_stays() -> None:
    with autocast():
        assert (t(2, 3, dtype=F64) @ t(3, 2, dtype=F64)).dtype is F64
        assert (torch.ones(2, 3) @ torch.ones(3, 2)).dtype is F32
        assert (t(3) + t(3)).dtype is F32
        assert torch.relu(t(3)).dtype is F32
        with autocast(enabled=False):
            assert (t(2, 3) @ t(3, 2)).dtype is F32
        with torch.autocast("cpu", dtype=BF16):
            assert (torch.ones(2, 3) @ torch.ones(3, 2)).dtype is BF16


def test_binary_cross_entropy_is_refused() -> None:
    with autocast(), pytest.raises(RuntimeError, match="unsafe to autocast"):
        F.binary_cross_entropy(t(3), t(3))
    F.binary_cross_entropy(t(3), t(3)).item()


def casts_of(weight: torch.Tensor) -> int:
    return sum(kept[0]() is weight for kept in casts._kept.casts.values())


def test_a_weight_is_cast_once_a_context() -> None:
    weight = t(3, 3).requires_grad_()
    x = t(2, 3)
    with autocast():
        F.linear(x, weight)
        kept = casts.cast(weight, BF16)
        F.linear(x, weight)
        assert casts.cast(weight, BF16) is kept
        assert casts_of(weight) == 1
        assert casts.cast(x, BF16) is not casts.cast(x, BF16)
        with autocast():
            F.linear(x, weight)
        assert casts.cast(weight, BF16) is kept
    assert not casts._kept.casts


def test_a_kept_cast_follows_the_weight() -> None:
    weight = t(3, 3).requires_grad_()
    with autocast():
        before = F.linear(t(1, 3), weight)
        with torch.no_grad():
            weight.mul_(4)
        after = F.linear(t(1, 3), weight)
    assert after.tolist() == (before * 4).tolist()


def test_a_cast_made_without_gradients_is_not_used_with_them() -> None:
    weight = t(3, 3).requires_grad_()
    with autocast():
        with torch.no_grad():
            F.linear(t(1, 3), weight)
        F.linear(t(1, 3), weight).sum().backward()
    assert weight.grad is not None
    assert weight.grad.dtype is F32


def test_without_the_cache() -> None:
    weight = t(3, 3).requires_grad_()
    with autocast(cache_enabled=False):
        F.linear(t(1, 3), weight)
        assert not casts._kept.casts


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.inner = nn.Linear(8 * 36, 16)
        self.layer_norm = nn.LayerNorm(16)
        self.outer = nn.Linear(16, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.norm(self.conv(x))).flatten(1)
        return self.outer(F.gelu(self.layer_norm(self.inner(x))))


def train(device: str, dtype: torch.dtype, steps: int = 8, scale: float = 0.0) -> tuple[list[float], list[int], float]:
    """Losses and compilations after each step, and the last scale of the gradients."""
    torch.manual_seed(0)
    model = Network().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    scaler = torch.amp.GradScaler(device, init_scale=scale or 1.0, growth_interval=3, enabled=bool(scale))
    losses, compiles = [], []
    for _ in range(steps):
        x, y = torch.randn(4, 3, 6, 6).to(device), torch.randint(0, 5, (4,)).to(device)
        with torch.autocast(device, dtype=dtype):
            loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
        compiles.append(lazycore.metrics()["compiles"])
    return losses, compiles, scaler.get_scale()


@pytest.mark.parametrize("backend", ["reference", "xla"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(BF16, 0.02), (F16, 0.003)])
@pytest.mark.parametrize("scale", [0.0, 1024.0, 2.0**30], ids=["plain", "scaled", "overflowing"])
def test_training_as_on_the_cpu(backend: str, dtype: torch.dtype, tolerance: float, scale: float) -> None:
    del backend  # selected by the fixture
    expected, _, expected_scale = train("cpu", dtype, scale=scale)
    found, compiles, found_scale = train(DEVICE, dtype, scale=scale)
    torch.testing.assert_close(found, expected, rtol=0, atol=tolerance)
    assert found_scale == expected_scale
    assert not lazycore.metrics()["fallbacks"]
    if scale < 2.0**20:
        assert compiles[2:] == [compiles[2]] * 6
    else:
        # Skipped steps and the first steps that are taken may each be traces of their own, once.
        assert compiles[-1] == compiles[-2]


def test_autocast_equals_casting_by_hand() -> None:
    torch.manual_seed(0)
    x, weight, bias = (torch.randn(*s).to(DEVICE).requires_grad_() for s in ((4, 6), (3, 6), (3,)))
    with autocast():
        loss = F.mse_loss(torch.softmax(F.linear(x, weight, bias), -1), t(4, 3))
    loss.backward()
    found = [loss, x.grad, weight.grad, bias.grad]
    x, weight, bias = (v.detach().clone().requires_grad_() for v in (x, weight, bias))
    loss = F.mse_loss(torch.softmax(F.linear(x.to(BF16), weight.to(BF16), bias.to(BF16)), -1, dtype=F32), t(4, 3))
    loss.backward()
    for a, b in zip(found, [loss, x.grad, weight.grad, bias.grad], strict=True):
        assert a is not None
        assert a.dtype is F32
        assert torch.equal(a.detach().cpu(), b.detach().cpu())


def test_checkpointing_under_autocast() -> None:
    from torch.utils.checkpoint import checkpoint

    for reentrant in (True, False):
        gradients = []
        for wrap in (lambda f, x: f(x), lambda f, x, r=reentrant: checkpoint(f, x, use_reentrant=r)):
            torch.manual_seed(0)
            model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 4)).to(DEVICE)
            x = t(3, 4).requires_grad_()
            with autocast():
                y = wrap(model, x)
            assert y.dtype is BF16
            y.float().square().sum().backward()
            gradients.append([p.grad.tolist() for p in model.parameters()])
        assert gradients[0] == gradients[1]
