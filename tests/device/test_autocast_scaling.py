"""What gradient scaling asks of the device, op by op against the CPU's kernels."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import lazycore

DEVICE = "lazycore"
INF, NAN = float("inf"), float("nan")
GRADIENTS = {
    "finite": [[1.0, -2.0], [3.0]],
    "infinite": [[1.0, 2.0], [-INF]],
    "no number": [[NAN, 2.0], [1.0]],
    "largest": [[3.4e38, -3.4e38], [3.4e38]],
    "empty": [[], [1.0]],
    "all empty": [[]],
}


@pytest.fixture(params=("reference", "xla"))
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def unscaled(device: str, rows: list[list[float]], found: float, dtype: torch.dtype) -> list[torch.Tensor]:
    grads = [torch.tensor(row, dtype=dtype, device=device) for row in rows]
    found_inf = torch.full((), found, device=device)
    inverse = torch.full((), 1 / 48, device=device)
    torch._amp_foreach_non_finite_check_and_unscale_(grads, found_inf, inverse)
    return [x.cpu() for x in (*grads, found_inf)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("found", [0.0, 1.0])
@pytest.mark.parametrize("name", GRADIENTS)
def test_unscale(name: str, found: float, dtype: torch.dtype) -> None:
    rows = GRADIENTS[name]
    for x, y in zip(unscaled(DEVICE, rows, found, dtype), unscaled("cpu", rows, found, dtype), strict=True):
        torch.testing.assert_close(x, y, rtol=1e-7, atol=0, equal_nan=True)
    assert not lazycore.metrics()["fallbacks"]


def updated(device: str, scale: float, tracker: int, found: float) -> list[float]:
    state = torch.full((), scale, device=device), torch.full((), tracker, dtype=torch.int32, device=device)
    result = torch._amp_update_scale_(*state, torch.full((), found, device=device), 2.0, 0.5, 4)
    assert result is state[0]
    return [x.item() for x in state]


@pytest.mark.parametrize("scale", [1024.0, 3e38, 1.0])
@pytest.mark.parametrize("tracker", [0, 2, 3])
@pytest.mark.parametrize("found", [0.0, 1.0, 2.0])
def test_update_scale(scale: float, tracker: int, found: float) -> None:
    assert updated(DEVICE, scale, tracker, found) == updated("cpu", scale, tracker, found)


def test_a_changing_scale_compiles_nothing(rounds: Callable[..., list[int]]) -> None:
    scale = torch.full((), 2.0**16, device=DEVICE)
    tracker = torch.zeros((), dtype=torch.int32, device=DEVICE)
    weight = torch.ones(4, device=DEVICE)

    def step(i: int) -> None:
        grads = [weight * scale * (INF if i == 3 else 1.0)]
        found = torch.zeros((), device=DEVICE)
        torch._amp_foreach_non_finite_check_and_unscale_(grads, found, scale.reciprocal())
        torch._amp_update_scale_(scale, tracker, found, 2.0, 0.5, 2)

    counts = rounds(step, 8)
    assert counts[-1] == counts[4]
    assert scale.item() == 2.0**18


def test_elements_are_counted() -> None:
    two = torch.ones(2, device=DEVICE)
    with pytest.raises(RuntimeError, match="1-element"):
        torch._amp_foreach_non_finite_check_and_unscale_([two], two, two)
    with pytest.raises(RuntimeError, match="1-element"):
        torch._amp_update_scale_(two, two.int(), two, 2.0, 0.5, 4)


def test_the_largest_norm_clips_as_on_the_cpu() -> None:
    norms = []
    for device in ("cpu", DEVICE):
        weight = torch.tensor([1.0, -2.0], device=device, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=1.0)
        scaler = torch.amp.GradScaler(device, init_scale=256.0)
        scaler.scale((weight * weight).sum()).backward()
        scaler.unscale_(optimizer)
        norm = torch.nn.utils.clip_grad_norm_([weight], 1.0)
        scaler.step(optimizer)
        scaler.update()
        norms.append([norm.item(), *weight.tolist()])
    assert norms[0] == pytest.approx(norms[1])
