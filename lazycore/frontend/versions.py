"""Which torch this release is tested with. The device rests on underscore APIs, so others are refused by name."""

from __future__ import annotations

TESTED = ((2, 13), (2, 14))
"""From the first, up to but without the second (major, minor)."""


def check_torch(version: str) -> None:
    """Raise ImportError unless ``version`` (torch.__version__) lies in the tested range."""
    low, high = TESTED
    try:
        found = tuple(int(part) for part in version.split("+")[0].split(".")[:2])
    except ValueError:
        found = (0, 0)
    if not low <= found < high:
        names = f">={low[0]}.{low[1]},<{high[0]}.{high[1]}"
        raise ImportError(
            f"lazycore works with torch {names}, and this is torch {version}. Install a tested one: "
            f"pip install 'torch{names}'"
        )
