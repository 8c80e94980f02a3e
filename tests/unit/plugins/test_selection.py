from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from lazycore_plugin_api import LazycoreError, PluginError, UnknownBackend

from lazycore.plugins import PluginWarning, current, on_change, selection, use_backend
from lazycore.plugins.discovery import Candidate


def names() -> list[str]:
    return [backend.name for backend in current()]


@pytest.fixture
def only(install: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """``only(name=source or None)``: nothing else is installed; None is a sound plugin."""

    def restrict(**sources: str | None) -> None:
        made = {n: install(n) if source is None else install(n, source=source) for n, source in sources.items()}
        # The in-tree backends are installed as well; here they are not to count as rivals of their namesakes.
        found: Mapping[str, Candidate] = {name: replace(candidate, rivals=()) for name, candidate in made.items()}
        monkeypatch.setattr(selection, "installed", lambda: found)

    return restrict


def test_the_default_is_xla(only: Any) -> None:
    only(reference=None, xla=None)
    assert names() == ["xla"]


def test_the_default_is_reference_where_xla_is_not_installed(only: Any) -> None:
    only(reference=None, acme=None)
    assert names() == ["reference"]


def test_a_broken_default_warns_and_the_next_is_taken(only: Any) -> None:
    only(reference=None, xla="import no_such_module_at_all")
    with pytest.warns(PluginWarning, match=r"'xla'.*is broken.*no_such_module_at_all"):
        assert names() == ["reference"]


def test_no_default_at_all_is_an_error(only: Any) -> None:
    only(acme=None)
    with pytest.raises(UnknownBackend, match=r"none of the default backends .* works; installed: acme"):
        current()


def test_the_environment_comes_before_the_default(only: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    only(reference=None, xla=None, acme=None)
    monkeypatch.setenv("LAZYCORE_BACKEND", "acme,reference")
    assert names() == ["acme", "reference"]


def test_an_empty_environment_variable_means_the_default(only: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    only(reference=None, xla=None)
    monkeypatch.setenv("LAZYCORE_BACKEND", " ")
    assert names() == ["xla"]


def test_use_backend_comes_before_the_environment(only: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    only(reference=None, acme=None)
    monkeypatch.setenv("LAZYCORE_BACKEND", "reference")
    use_backend("acme")
    assert names() == ["acme"]
    use_backend(None)
    assert names() == ["reference"]


def test_with_puts_the_earlier_selection_back(only: Any) -> None:
    only(reference=None, acme=None, bcme=None)
    with use_backend("acme") as backends:
        assert backends == current()
        with use_backend("bcme"):
            assert names() == ["bcme"]
        assert names() == ["acme"]
    assert names() == ["reference"]


def test_with_puts_it_back_after_an_exception(only: Any) -> None:
    only(reference=None, acme=None)
    with pytest.raises(KeyError), use_backend("acme"):
        raise KeyError
    assert names() == ["reference"]


@pytest.mark.parametrize("explicit", [True, False])
def test_an_unknown_name_lists_the_installed(only: Any, monkeypatch: pytest.MonkeyPatch, explicit: bool) -> None:
    only(reference=None, acme=None)
    monkeypatch.setenv("LAZYCORE_BACKEND", "acne")
    with pytest.raises(UnknownBackend, match="no backend named 'acne' is installed; installed: reference, acme"):
        use_backend("acne") if explicit else current()


@pytest.mark.parametrize("explicit", [True, False])
def test_a_broken_backend_that_was_asked_for_fails(only: Any, monkeypatch: pytest.MonkeyPatch, explicit: bool) -> None:
    only(reference=None, bad="raise ValueError('no')")
    monkeypatch.setenv("LAZYCORE_BACKEND", "bad")
    with pytest.raises(PluginError, match=r"'bad'.*is broken: ValueError: no") as caught:
        use_backend("bad") if explicit else current()
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_refused_selection_leaves_the_old_one(only: Any) -> None:
    only(reference=None, acme=None)
    use_backend("acme")
    for text in ("nobody", "acme:gpu", "acme?nothing=1", "acme?level=x", "acme,", "acme,acme"):
        with pytest.raises(LazycoreError):
            use_backend(text)
    assert names() == ["acme"]


def test_unselected_backends_are_not_imported(only: Any) -> None:
    only(reference=None, trap="raise AssertionError('imported')")
    use_backend("reference")
    assert names() == ["reference"]


def test_the_key_changes_with_the_selection_only(only: Any) -> None:
    only(acme=None, bcme=None)
    texts = ("acme", "acme:npu:0", "acme?level=3", "acme,bcme", "bcme,acme")
    keys = []
    for text in texts:
        use_backend(text)
        keys.append(current())
    assert len(set(keys)) == len(texts)
    use_backend("acme:cpu?level=2")
    assert current() == keys[0]


def test_a_target_keeps_its_backend_and_thereby_its_session(only: Any) -> None:
    only(acme=None, bcme=None)
    first = use_backend("acme").backends[0]
    use_backend("bcme")
    assert use_backend("bcme,acme").backends[1] is first


def test_listeners_hear_of_real_changes_before_they_happen(only: Any) -> None:
    only(reference=None, acme=None)
    heard: list[list[str]] = []
    on_change(lambda: heard.append(names()))
    use_backend("acme")
    use_backend("acme")
    with use_backend("reference"):
        pass
    assert heard == [["acme"], ["reference"]]


def test_a_listener_that_raises_stops_the_change(only: Any) -> None:
    only(reference=None, acme=None)
    use_backend("acme")
    on_change(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        use_backend("reference")
    assert names() == ["acme"]


def test_a_backend_prints_as_it_is_selected(only: Any) -> None:
    only(acme=None)
    assert str(use_backend("acme").backends[0]) == "acme:cpu"
    assert str(use_backend("acme:npu:0?level=3&fast=no").backends[0]) == "acme:npu:0?level=3"
