"""Places where torch takes a device for granted to be C++'s: each patch says what breaks without it."""

from __future__ import annotations

from lazycore.frontend.patches import (
    accelerator,
    addresses,
    encoders,
    generators,
    identity,
    modules,
    optimizer,
    printing,
    settings,
    storages,
)

__all__ = ["install"]


def install() -> None:
    """Apply all of them; once."""
    accelerator.install()
    addresses.install()
    encoders.install()
    generators.install()
    identity.install()
    modules.install()
    optimizer.install()
    printing.install()
    settings.install()
    storages.install()
