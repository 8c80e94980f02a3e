"""`lazycore run` keeps freed memory with the process, unless it is told not to."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from lazycore.cli.allocator import peak_mib

FAULTS = """
import resource
import numpy as np

def fill():
    np.empty(64 << 20, np.uint8).fill(1)

fill()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(40):
    fill()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(cli: Any, tmp_path: Path, *options: str) -> int:
    """Page faults of a script that uses 64 MiB forty times more: 32 each time at least, with huge pages."""
    (tmp_path / "faults.py").write_text(FAULTS)
    done = cli("run", *options, "faults.py")
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the setting is glibc's")
def test_freed_memory_is_used_again_without_faults(cli: Any, tmp_path: Path) -> None:
    assert faults(cli, tmp_path) < 400


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the setting is glibc's")
def test_an_option_leaves_the_allocator_alone(cli: Any, tmp_path: Path) -> None:
    assert faults(cli, tmp_path, "--return-memory") > 1000


LARGE = """
import re

# NumPy would ask for large pages itself.
kept = [b"x" * (1 << 20) for _ in range(64)]
# The heap is several mappings: only a part of it asks for large pages.
heaps = open("/proc/self/smaps").read().split("[heap]")[1:]
print(sum(int(re.search(r"AnonHugePages: +([0-9]+) kB", heap)[1]) for heap in heaps))
"""
_THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@pytest.mark.skipif(
    not _THP.exists() or "[never]" in _THP.read_text(), reason="this system gives nobody large pages for the asking"
)
def test_the_heap_has_large_pages(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "large.py").write_text(LARGE)
    done = cli("run", "large.py")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 32 << 10


def test_the_summary_ends_with_the_peak(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("import lazycore")
    last = cli("run", "empty.py").stderr.splitlines()[-1]
    found = re.search(r"; peak memory: (\d+) MiB$", last)
    assert found
    assert 50 < int(found[1]) < 4000


def test_the_peak_is_this_process_s() -> None:
    peak = peak_mib()
    assert peak is not None
    assert 20 < peak < 100_000
