"""The whole database, sharded over processes: ``python -m tests.opinfo.runner --backend reference``.

Cases run in child processes with a time limit, so that a crash or a hang is one failed case. Writes one
JSON line per case and prints a summary; exits with 1 where a case fails that ``known.json`` does not list, or a listed
one passes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.opinfo.workers import Failure, run_cases

KNOWN = Path(__file__).with_name("known.json")
FORWARD = ("float32", "int64", "bool")
HALF = ("bfloat16", "float16", "float64", "complex64")


def main() -> int:
    """Parse the command line, run, report."""
    options = _options()
    os.environ["LAZYCORE_BACKEND"] = options.backend
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # Results are compared with the CPU, so random ops must draw what it draws.
    os.environ["LAZYCORE_RNG"] = "cpu"
    start = time.monotonic()
    with open(options.out, "w") as out:
        results = []
        for result in _results(options):
            results.append(result)
            out.write(json.dumps(result) + "\n")
            out.flush()
    print(f"{len(results)} cases in {time.monotonic() - start:.0f} s")
    return report(results, options.backend, complete=options.ops == ".*" and options.part == "1/1")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="reference")
    parser.add_argument("--ops", default=".*", help="regular expression that an op's name must contain")
    parser.add_argument("--dtypes", default=",".join(FORWARD))
    parser.add_argument("--samples", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--part", default="1/1", help="K/N: every N-th case, from the K-th")
    parser.add_argument("--timeout", type=int, default=240)
    parser.add_argument("--out", default="opinfo.jsonl")
    return parser.parse_args()


def _results(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    import torch

    torch.set_num_threads(1)
    from tests.opinfo.cases import database, run

    ops = database()
    dtypes = options.dtypes.split(",")
    names = [n for n in ops if re.search(options.ops, n)]
    work = [(n, d) for n in names for d in dtypes if getattr(torch, d) in ops[n].supported_dtypes("cpu")]
    part, parts = map(int, options.part.split("/"))

    def one(case: tuple[str, str]) -> dict[str, Any]:
        outcome = run(ops[case[0]], getattr(torch, case[1]), backward=True, limit=options.samples)
        return asdict(outcome) | {"fallbacks": dict(outcome.fallbacks)}

    for case, result in run_cases(one, work[part - 1 :: parts], options.jobs, options.timeout):
        yield _failed(case, result) if isinstance(result, Failure) else result


def _failed(case: tuple[str, str], failure: Failure) -> dict[str, Any]:
    return {
        "op": case[0], "dtype": case[1], "samples": 1, "forward": 0, "backward": 0, "native": 0,
        "errors": [f"{failure.kind}: {failure}"], "fallbacks": {},
    }  # fmt: skip


def report(results: list[dict[str, Any]], backend: str, complete: bool) -> int:
    """Print what failed and what fell back; 0 if that is what the list of known failures says."""
    known: dict[str, str] = json.loads(KNOWN.read_text()).get(backend, {})
    failed = {f"{r['op']} {r['dtype']}": r["errors"][0] for r in results if r["errors"]}
    new = {case: why for case, why in failed.items() if case not in known}
    ran = {f"{r['op']} {r['dtype']}" for r in results}
    mended = [case for case in known if case in ran and case not in failed]
    for case, why in new.items():
        print(f"FAILED {case}: {why}")
    for case in mended:
        print(f"PASSES {case}: take it off the list")
    ops, bad = {r["op"] for r in results}, {case.rpartition(" ")[0] for case in failed}
    samples, native = sum(r["samples"] for r in results), sum(r["native"] for r in results)
    print(f"ops: {len(ops) - len(bad)} of {len(ops)} right; samples without fallback: {native} of {samples}")
    print("fallbacks:", *(f"{op} x{n}" for op, n in _fallbacks(results).most_common(40)))
    stale = [case for case in known if complete and case not in ran and case.split()[1] in FORWARD]
    return 1 if new or mended or stale else 0


def _fallbacks(results: list[dict[str, Any]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for result in results:
        counts.update(result["fallbacks"])
    return counts


if __name__ == "__main__":
    sys.exit(main())
