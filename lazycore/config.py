"""Settings of the whole process, read at each compile."""

from __future__ import annotations

import os
from dataclasses import dataclass

__all__ = ["Config", "config"]


@dataclass
class Config:
    """``strict``: an op that no backend takes, or a segment that its backend cannot compile, is an error instead of a
    fallback (environment: ``LAZYCORE_STRICT=1``). ``placement``: log one line per compiled trace that says where its
    ops went (``LAZYCORE_PLACEMENT=0`` turns it off)."""

    strict: bool = False
    placement: bool = True

    @classmethod
    def from_environment(cls) -> Config:
        return cls(
            strict=os.environ.get("LAZYCORE_STRICT", "0") not in ("", "0"),
            placement=os.environ.get("LAZYCORE_PLACEMENT", "1") not in ("", "0"),
        )


config = Config.from_environment()
