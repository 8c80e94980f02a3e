"""What does not fit is PyTorch's error for that, and costs nothing but itself."""

from __future__ import annotations

import pytest
import torch
from lazycore_plugin_api import OutOfMemory

import lazycore

HUGE = 10**6


@pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_a_result_without_room_is_torchs_error() -> None:
    x = torch.ones(1, device="lazycore")
    kept = torch.ones(3, device="lazycore") * 2
    lazycore.sync()
    lost = x.expand(HUGE, HUGE) + 1.5
    with pytest.raises(torch.OutOfMemoryError, match=r"test_out_of_memory\.py") as caught:
        lost[3, 4].item()
    assert isinstance(caught.value, OutOfMemory)
    with pytest.raises(torch.OutOfMemoryError):
        lost.sum().item()
    del lost
    assert (kept + x).tolist() == [3.0, 3.0, 3.0]


@pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_a_training_program_can_go_on_with_less() -> None:
    """The usual remedy: catch the error, make the batch smaller."""
    weight = torch.ones(4, device="lazycore", requires_grad=True)
    lazycore.sync()
    refused = []
    for size in (HUGE * HUGE, 8):
        try:
            batch = torch.ones(1, device="lazycore").expand(size, 4) * 2
            lazycore.sync()
        except torch.OutOfMemoryError:
            refused.append(size)
            continue
        (batch * weight).mean().backward()
    assert refused == [HUGE * HUGE]
    assert weight.grad.tolist() == [0.5] * 4
