"""Settings of the whole process, read at each compile."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

__all__ = ["Config", "config"]


_STREAMS = ("philox", "cpu")


@dataclass
class Config:
    """``strict``: an op that no backend takes, or a segment that its backend cannot compile, is an error instead of a
    fallback (environment: ``LAZYCORE_STRICT=1``). ``placement``: log one line per compiled trace that says where its
    ops went (``LAZYCORE_PLACEMENT=0`` turns it off). ``rng``: where random ops draw from, ``"philox"`` for the device's
    own stream (the same bits on every backend) or ``"cpu"`` for CPU's, with which a program draws what it would draw on
    the CPU (``LAZYCORE_RNG``). ``explain``: time every step of every plan for ``lazycore.explain()``, which makes the
    program wait for each (``LAZYCORE_EXPLAIN=1``). ``any_size``: one executable for all sizes of what came in two,
    for backends that can (``LAZYCORE_ANY_SIZE=0`` turns it off). ``cache``: keep compiled programs on disk and use
    those of earlier processes (``LAZYCORE_CACHE=0`` turns it off). ``cache_dir``: where, instead of the user's
    directory for caches (``LAZYCORE_CACHE_DIR``). ``cache_mib``: how many MiB they may take, those used longest ago
    being deleted first (``LAZYCORE_CACHE_MIB``)."""

    strict: bool = False
    placement: bool = True
    rng: str = "philox"
    explain: bool = False
    any_size: bool = True
    cache: bool = True
    cache_dir: str = ""
    cache_mib: int = 2048

    def __setattr__(self, name: str, value: object) -> None:
        if name == "rng" and value not in _STREAMS:
            raise ValueError(f"lazycore.config.rng (LAZYCORE_RNG) is one of {', '.join(_STREAMS)}, not {value!r}")
        if name == "cache_mib" and (type(value) is not int or value < 0):
            raise ValueError(f"lazycore.config.cache_mib (LAZYCORE_CACHE_MIB) is a number of MiB, not {value!r}")
        super().__setattr__(name, value)

    @classmethod
    def from_environment(cls) -> Config:
        return cls(
            strict=os.environ.get("LAZYCORE_STRICT", "0") not in ("", "0"),
            placement=os.environ.get("LAZYCORE_PLACEMENT", "1") not in ("", "0"),
            rng=os.environ.get("LAZYCORE_RNG", "philox"),
            explain=os.environ.get("LAZYCORE_EXPLAIN", "0") not in ("", "0"),
            any_size=os.environ.get("LAZYCORE_ANY_SIZE", "1") not in ("", "0"),
            cache=os.environ.get("LAZYCORE_CACHE", "1") not in ("", "0"),
            cache_dir=os.environ.get("LAZYCORE_CACHE_DIR", ""),
            cache_mib=_number(os.environ.get("LAZYCORE_CACHE_MIB", ""), cls.cache_mib),
        )


def _number(text: str, default: int) -> Any:
    # What is no number is passed on, for the setting's own message.
    return int(text) if text.isdecimal() else text or default


config = Config.from_environment()
