"""``python -m tools.coverage`` writes docs/coverage.md; ``collect BACKEND ROWS...`` brings the runner's rows into the
data that it is made of."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tools.coverage.data import BACKENDS, Coverage, collect, load, save
from tools.coverage.page import PAGE, page

parser = argparse.ArgumentParser(prog="python -m tools.coverage", description=__doc__)
commands = parser.add_subparsers(dest="command")
collecting = commands.add_parser("collect", help="bring rows of tests.opinfo.runner into docs/coverage")
collecting.add_argument("backend", choices=BACKENDS)
collecting.add_argument("rows", nargs="+", type=Path)
collecting.add_argument("--anew", action="store_true", help="forget what other runs have found")
options = parser.parse_args()
if options.command == "collect":
    rows = [json.loads(line) for path in options.rows for line in path.read_text().splitlines()]
    save(collect(Coverage(options.backend) if options.anew else load(options.backend), rows))
PAGE.write_text(page([load(backend) for backend in BACKENDS]))
