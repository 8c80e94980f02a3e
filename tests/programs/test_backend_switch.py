"""Changing the backend in the middle of a program: from the next op on everything is the new backend's."""

from __future__ import annotations

import torch

import lazycore


def compiles_of_one_trace() -> int:
    """Compilations that one fixed trace costs now; its result is checked."""
    lazycore.reset_metrics()
    result = (torch.arange(7.0).to("lazycore") * 3 + 1).cpu()
    assert torch.equal(result, torch.arange(7.0) * 3 + 1)
    return lazycore.metrics()["compiles"]


def test_each_backend_compiles_its_own_first_trace() -> None:
    with lazycore.use_backend("reference"):
        assert compiles_of_one_trace() == 1
    with lazycore.use_backend("xla"):
        assert compiles_of_one_trace() == 1
        assert compiles_of_one_trace() == 0
    with lazycore.use_backend("reference"):
        assert compiles_of_one_trace() == 0


def test_values_survive_a_switch() -> None:
    """What one backend holds or has yet to compute is an operand of the next."""
    with lazycore.use_backend("reference"):
        held = torch.arange(5.0).to("lazycore") + 1
        lazycore.sync()
        pending = held * 2
        with lazycore.use_backend("xla"):
            both = held + pending
        assert both.tolist() == [3.0, 6.0, 9.0, 12.0, 15.0]
