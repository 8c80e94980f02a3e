"""Registering the device with torch, and the ``torch.lazycore`` module."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import torch
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from lazycore.frontend.randomness.generator import GENERATOR, uses_device_stream
from lazycore.frontend.storage import NAME, check_device

__all__ = ["DeviceModule", "register_device"]


class _Hooks(torch._C._acc.PrivateUse1Hooks):
    """What C++ asks of a device before it uses one."""

    def is_available(self) -> bool:
        return True

    def has_primary_context(self, index: int) -> bool:  # noqa: ARG002
        return True

    def is_built(self) -> bool:
        return True


class Stream:
    """A stand-in: work is ordered by the program, so that there is one stream and waiting for it is a sync."""

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:  # noqa: ARG002
        self.device = torch.device(NAME, 0)

    def wait_event(self, event: Any) -> None:
        """Nothing to wait for: there is one order of work."""

    def wait_stream(self, stream: Any) -> None:
        """Nothing to wait for: there is one order of work."""

    def record_event(self, event: Any = None) -> Any:
        event = event or Event()
        event.record()
        return event

    def synchronize(self) -> None:
        _synchronize()

    def query(self) -> bool:
        return True

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        """One stream: nothing to restore."""


class Event:
    """A point in the program's order, timed on the host after a sync."""

    def __init__(self, enable_timing: bool = False, **_: Any) -> None:  # noqa: ARG002
        self._at: float | None = None

    def record(self, stream: Any = None) -> None:  # noqa: ARG002
        _synchronize()
        self._at = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        """Nothing to wait for: recording synchronized."""

    def synchronize(self) -> None:
        """Recording synchronized already."""

    def query(self) -> bool:
        return True

    def elapsed_time(self, other: Event) -> float:
        """Milliseconds from this event to the other. Raises RuntimeError unless both were recorded."""
        if self._at is None or other._at is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return (other._at - self._at) * 1e3


class _DeviceContext:
    """``torch.lazycore.device(…)``: there is one device."""

    def __init__(self, device: Any) -> None:
        check_device(device)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        """One device: nothing to restore."""


def _synchronize(device: Any = None) -> None:  # noqa: ARG001
    from lazycore.frontend.sync import wait_all

    wait_all()


class DeviceModule:
    """``torch.lazycore``: what torch and libraries ask of a device's module."""

    Stream = Stream
    Event = Event
    device = _DeviceContext
    # What torch.utils.checkpoint asks before it saves the random stream.
    _initialized = True
    # Whether there is a random state to keep is asked of it, by checkpointing.
    _initialized = True

    def is_available(self) -> bool:
        return True

    def is_initialized(self) -> bool:
        return True

    def _is_in_bad_fork(self) -> bool:
        return False

    def current_device(self) -> int:
        return 0

    def device_count(self) -> int:
        return 1

    def set_device(self, device: Any) -> None:
        check_device(device)

    def get_device_name(self, device: Any = None) -> str:  # noqa: ARG002
        return NAME

    def synchronize(self, device: Any = None) -> None:
        """Run what is recorded and wait for all of it."""
        _synchronize(device)

    def current_stream(self, device: Any = None) -> Stream:
        return Stream(device)

    def default_stream(self, device: Any = None) -> Stream:
        return Stream(device)

    def stream(self, stream: Stream) -> Stream:
        return stream

    # Under config.rng = "cpu" random ops draw from CPU's stream, so that its generator is the device's.

    def manual_seed(self, seed: int) -> None:
        """Begin the device's random stream that has this seed."""
        GENERATOR.manual_seed(int(seed))
        if not uses_device_stream(None):
            torch.default_generator.manual_seed(int(seed))

    manual_seed_all = manual_seed

    def seed(self) -> None:
        """Begin a random stream that nobody can foresee."""
        self.manual_seed(GENERATOR.seed())

    seed_all = seed

    def initial_seed(self) -> int:
        """The seed of the device's random stream."""
        return GENERATOR.initial_seed if uses_device_stream(None) else torch.default_generator.initial_seed()

    def get_rng_state(self, device: Any = None) -> torch.Tensor:  # noqa: ARG002
        """Where the random stream stands: 16 bytes, seed and number of draws."""
        return GENERATOR.get_state() if uses_device_stream(None) else torch.get_rng_state()

    def set_rng_state(self, state: torch.Tensor, device: Any = None) -> None:  # noqa: ARG002
        """Go on where ``get_rng_state`` was called."""
        if uses_device_stream(None):
            GENERATOR.set_state(state)
        else:
            torch.set_rng_state(state)

    def get_rng_state_all(self) -> list[torch.Tensor]:
        """``get_rng_state`` of each device: there is one."""
        return [self.get_rng_state()]

    def set_rng_state_all(self, states: Iterable[torch.Tensor]) -> None:
        """``set_rng_state`` of each device."""
        for state in states:
            self.set_rng_state(state)

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.bfloat16, torch.float16]

    def is_bf16_supported(self) -> bool:
        return True

    def empty_cache(self) -> None:
        """Buffers are freed with their last reference; nothing is held back."""


def register_device() -> DeviceModule:
    """Make ``torch.device("lazycore")`` usable wherever torch takes a device."""
    module = DeviceModule()
    _setup_privateuseone_for_python_backend(NAME, backend_module=module, hook=_Hooks())
    return module
