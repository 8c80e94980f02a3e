"""Everything that importing lazycore does to torch, in order."""

from __future__ import annotations

from lazycore.frontend import engine, finalizers, memory, patches
from lazycore.frontend.autocast.kernels import register_autocast
from lazycore.frontend.device import register_device
from lazycore.frontend.preserved import preserve
from lazycore.frontend.refusals import register_refusals
from lazycore.frontend.registration import register_all
from lazycore.plugins.selection import on_selected

__all__ = ["install"]


def install() -> None:
    """Register the device and its kernels, and apply the patches; once per process."""
    register_device()
    register_all()
    register_refusals()
    register_autocast()
    on_selected(preserve)
    engine.install()
    finalizers.install()
    memory.install()
    patches.install()
