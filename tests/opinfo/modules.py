"""PyTorch's module database: each module forward and backward in training and evaluation, against CPU.

``python -m tests.opinfo.modules --backend reference``
"""

from __future__ import annotations

import sys
from typing import Any

from tests.opinfo.command import arguments, run

KIND = "module"


def main() -> int:
    """Parse the command line, run, report."""

    def one(case: tuple[str, str]) -> dict[str, Any]:
        from lazycore.conformance.database.modules import modules, run

        return run(modules()[case[0]], case[0]).row()

    return run(arguments(__doc__, "opinfo-modules.jsonl", 240).parse_args(), [KIND], _cases, one)


def _cases() -> list[tuple[str, str]]:
    from lazycore.conformance.database.modules import modules

    return [(name, KIND) for name in modules()]


if __name__ == "__main__":
    sys.exit(main())
