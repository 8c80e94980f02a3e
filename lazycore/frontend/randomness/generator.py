"""The device's random generator: a seed, and how many draws were made since it was set.

A draw is a function of both (docs/random.md), so that this is the whole state. ``config.rng`` says whether draws come
from here or from CPU's stream.
"""

from __future__ import annotations

import secrets
import threading

import torch
from lazycore_plugin_api.philox import philox_words

from lazycore.config import config

__all__ = ["GENERATOR", "PROBE", "DeviceGenerator", "uses_device_stream"]

_WORD = 1 << 64


class DeviceGenerator:
    """``seed`` and ``offset`` are 64 bits wide, kept as int64 the way traces take them. Threads never share a draw."""

    def __init__(self, seed: int) -> None:
        self._lock = threading.Lock()
        self._seed, self._offset = _signed(seed), 0

    def take(self) -> tuple[int, int]:
        """Seed and offset of the next draw, which nobody else gets."""
        with self._lock:
            offset = self._offset
            self._offset = _signed(offset + 1)
            return self._seed, offset

    def take_generator(self) -> torch.Generator:
        """A CPU generator for one draw that PyTorch makes: its seed is the draw's first 64 bits."""
        (low,), (high,) = philox_words(*self.take(), (1,), 2)
        return torch.Generator().manual_seed(int(high) << 32 | int(low))

    def manual_seed(self, seed: int) -> None:
        """Begin a stream. Raises RuntimeError for a seed that has more than 64 bits, as torch does."""
        if not -(_WORD >> 1) <= seed < _WORD:
            raise RuntimeError(f"Overflow when unpacking long: the seed {seed} does not fit 64 bits")
        with self._lock:
            self._seed, self._offset = _signed(seed), 0

    def seed(self) -> int:
        """Begin a stream that nobody can foresee; its seed."""
        seed = secrets.randbits(53)
        self.manual_seed(seed)
        return seed

    @property
    def initial_seed(self) -> int:
        """The stream's seed, not negative."""
        return self._seed % _WORD

    def get_state(self) -> torch.Tensor:
        """Seed and offset as 16 bytes (uint8, on the CPU), little end first."""
        with self._lock:
            numbers = (self._seed, self._offset)
        data = b"".join((n % _WORD).to_bytes(8, "little") for n in numbers)
        return torch.frombuffer(bytearray(data), dtype=torch.uint8)

    def set_state(self, state: torch.Tensor) -> None:
        """Go on where ``get_state`` was called. Raises TypeError or RuntimeError for what it did not return."""
        if state.dtype is not torch.uint8:
            raise TypeError(f"expected a torch.ByteTensor, got {state.dtype}")
        data = bytes(state.cpu().tolist())
        if len(data) != 16:
            raise RuntimeError(
                f"a state of lazycore's generator has 16 bytes, not {len(data)}: was it taken under another config.rng?"
            )
        with self._lock:
            self._seed, self._offset = (_signed(int.from_bytes(part, "little")) for part in (data[:8], data[8:]))


def _signed(number: int) -> int:
    number %= _WORD
    return number - _WORD if number >= _WORD >> 1 else number


# For asking the CPU's kernels whether arguments are valid; no result comes from it.
PROBE = torch.Generator()

# A program that seeded torch before it imported lazycore meant this generator too.
GENERATOR = DeviceGenerator(torch.default_generator.initial_seed())


def uses_device_stream(generator: torch.Generator | None) -> bool:
    """Whether a random op draws from the device's stream. An explicit generator is a CPU one, and keeps its own."""
    return generator is None and config.rng == "philox"
