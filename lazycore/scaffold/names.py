"""The names that follow from a backend's."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lazycore_plugin_api import LazycoreError

__all__ = ["Names"]

_FORM = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")


@dataclass(frozen=True)
class Names:
    """``backend`` is what ``--backend`` takes; its package and distribution are named after it."""

    backend: str

    @classmethod
    def of(cls, backend: str) -> Names:
        """Raises LazycoreError for a name that cannot be a backend's, a module's and a distribution's."""
        if _FORM.fullmatch(backend) is None:
            raise LazycoreError(
                f"{backend!r} is no name for a backend: lower-case letters and digits, beginning with a letter; "
                "single - or _ may stand between them"
            )
        return cls(backend)

    @property
    def module(self) -> str:
        """The import package."""
        return "lazycore_" + self.backend.replace("-", "_")

    @property
    def distribution(self) -> str:
        """The name that pip knows, and the folder's."""
        return "lazycore-" + self.backend.replace("_", "-")
