"""Where in the user's program an op was called, as jax sees it: the line goes into the metadata of what XLA compiles.

jax reads locations off the Python stack. The plugin's own frames are left out of it, and each lowering is called from a
frame that claims the user's file and line.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

from jax.extend.source_info_util import register_exclusion
from lazycore_plugin_api import Source

__all__ = ["called_from"]

Result = TypeVar("Result")

register_exclusion(str(Path(__file__).parent))


def called_from(source: Source | None, function: Callable[..., Result], *args: Any) -> Result:
    """``function(*args)``, from a frame at ``source`` where that is known."""
    if source is None:
        return function(*args)
    code = _frame.__code__.replace(co_filename=source.file, co_firstlineno=source.line, co_name="<module>")
    result: Result = FunctionType(code, {})(function, args)
    return result


# One line, so that its line is the first of its code.
_frame: Callable[..., Any] = lambda function, args: function(*args)  # noqa: E731
