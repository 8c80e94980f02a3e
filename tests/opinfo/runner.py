"""The whole database, sharded over processes: ``python -m tests.opinfo.runner --backend reference``.

Cases run in child processes with a time limit, so that a crash or a hang is one failed case. Writes one
JSON line per case and prints a summary; exits with 1 where a case fails that ``known.json`` does not list, or a listed
one passes.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from tests.opinfo.command import arguments, run

FORWARD = ("float32", "int64", "bool")
HALF = ("bfloat16", "float16", "float64", "complex64")


def main() -> int:
    """Parse the command line, run, report."""
    parser = arguments(__doc__, "opinfo.jsonl", 240)
    parser.add_argument("--dtypes", default=",".join(FORWARD), help=f"the others: {','.join(HALF)}")
    parser.add_argument("--samples", type=int, default=30)
    options = parser.parse_args()
    dtypes = options.dtypes.split(",")

    def one(case: tuple[str, str]) -> dict[str, Any]:
        import torch

        from lazycore.conformance.database.operators import database, run

        info, dtype = database()[case[0]], getattr(torch, case[1])
        return run(info, dtype, backward=True, limit=options.samples, witness=_witness()).row()

    return run(options, dtypes, lambda: _cases(dtypes), one)


def _cases(dtypes: list[str]) -> list[tuple[str, str]]:
    import torch

    from lazycore.conformance.database.operators import database

    ops = database()
    return [(n, d) for n in ops for d in dtypes if getattr(torch, d) in ops[n].supported_dtypes("cpu")]


@cache
def _witness() -> Any:
    """One for the process, as it sees every plan that is compiled after it."""
    from lazycore.conformance.database.witness import Witness

    return Witness()


if __name__ == "__main__":
    sys.exit(main())
