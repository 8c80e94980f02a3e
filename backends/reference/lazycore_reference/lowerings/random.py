"""Random bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lazycore_plugin_api.philox import philox_words

from lazycore_reference.registry import Array, lowering


@lowering("lazycore.philox.default", raw=True)
def philox(seed: Any, offset: Any, size: Sequence[int], words: int) -> tuple[Array, ...]:
    """The generator's own text."""
    return philox_words(int(seed), int(offset), size, words)
