"""The device is torch's accelerator once it exists, and answers what can be answered."""

from __future__ import annotations

import pytest
import torch

import lazycore

DEVICE = "lazycore"


def test_what_it_is() -> None:
    accelerator = torch.accelerator
    assert accelerator.is_available()
    assert accelerator.device_count() == 1
    assert accelerator.current_accelerator() == torch.device(DEVICE)
    assert accelerator.current_device_index() == 0
    accelerator.set_device_index(0)
    accelerator.empty_cache()


def test_synchronizing_runs_what_is_recorded() -> None:
    x = torch.ones(2, device=DEVICE) + 1
    before = lazycore.metrics()["syncs"]
    torch.accelerator.synchronize()
    assert lazycore.metrics()["syncs"] == before + 1
    assert x.tolist() == [2, 2]


@pytest.mark.parametrize("name", ["memory_allocated", "max_memory_allocated", "memory_stats", "memory_reserved"])
def test_memory_is_not_counted_here(name: str) -> None:
    with pytest.raises(RuntimeError, match=rf"torch\.accelerator\.{name}: lazycore's memory belongs to its backends"):
        getattr(torch.accelerator, name)()


def test_pinning_keeps_plain_memory() -> None:
    for x in (torch.ones(2), torch.ones(2, device=DEVICE)):
        assert x.pin_memory() is x
        assert not x.is_pinned()


def test_streams_and_events_stand_in() -> None:
    stream = torch.lazycore.Stream()
    first, second = torch.lazycore.Event(enable_timing=True), torch.lazycore.Event(enable_timing=True)
    with torch.lazycore.stream(stream):
        first.record()
        second.record()
    stream.synchronize()
    assert first.elapsed_time(second) >= 0
    torch.accelerator.current_stream().synchronize()
    with pytest.raises(RuntimeError, match="must be recorded"):
        first.elapsed_time(torch.lazycore.Event())
