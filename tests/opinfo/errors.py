"""The database's error inputs: what CPU refuses, the device refuses with the same type and message.

``python -m tests.opinfo.errors --backend reference``
"""

from __future__ import annotations

import sys
from typing import Any

from tests.opinfo.command import arguments, run

KIND = "errors"


def main() -> int:
    """Parse the command line, run, report."""

    def one(case: tuple[str, str]) -> dict[str, Any]:
        from lazycore.conformance.database.operators import database
        from tests.opinfo.error_cases import refusals

        return refusals(database()[case[0]], case[0]).row()

    return run(arguments(__doc__, "opinfo-errors.jsonl", 120).parse_args(), [KIND], _cases, one)


def _cases() -> list[tuple[str, str]]:
    from lazycore.conformance.database.operators import database

    return [(name, KIND) for name, info in database().items() if info.error_inputs_func is not None]


if __name__ == "__main__":
    sys.exit(main())
