from __future__ import annotations

from typing import Any

import pytest

from lazycore.plugins import PluginWarning, use_backend
from lazycore.plugins.observers import Observers

HEARS = """
    @hookimpl
    def lazycore_synced(cause):
        open(cause, "a").write(NAME)
"""


def test_every_plugin_is_told(install: Any, tmp_path: Any) -> None:
    install("one", extra=HEARS)
    install("two", extra=HEARS)
    install("three")
    backends = use_backend("two,three,one").backends
    Observers(backends).synced(cause=str(tmp_path / "heard"))
    assert (tmp_path / "heard").read_text() == "twoone"


def test_a_failing_observer_is_a_warning_and_the_others_are_told(install: Any, tmp_path: Any) -> None:
    install("bad", extra="@hookimpl\ndef lazycore_synced(cause): 1 // 0")
    install("good", extra=HEARS)
    backends = use_backend("bad,good").backends
    with pytest.warns(PluginWarning, match="backend 'bad': lazycore_synced raised ZeroDivisionError"):
        Observers(backends).synced(cause=str(tmp_path / "heard"))
    assert (tmp_path / "heard").read_text() == "good"
