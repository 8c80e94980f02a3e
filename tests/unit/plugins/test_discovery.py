from __future__ import annotations

import sys
from typing import Any

from lazycore.plugins.discovery import installed
from lazycore.plugins.loading import FailedPlugin, load


def test_lists_the_backends_in_the_tree() -> None:
    assert {"reference", "xla", "tvm"} <= set(installed())


def test_listing_imports_nothing(install: Any) -> None:
    candidate = install("quiet", source="raise AssertionError('imported')")
    assert candidate.distribution == "vendor-quiet"
    assert candidate.version == "3.1"
    assert candidate.entry.module not in sys.modules


def test_names_are_sorted(install: Any) -> None:
    install("zz")
    install("aa")
    names = list(installed())
    assert names == sorted(names)


def test_two_distributions_with_one_name_are_broken_and_named(install: Any) -> None:
    install("twice", distribution="first-vendor")
    plugin = load(install("twice", distribution="second-vendor"))
    assert isinstance(plugin, FailedPlugin)
    assert "first-vendor, second-vendor all claim this name" in plugin.reason
