from __future__ import annotations

from typing import Any

import pytest
from lazycore_plugin_api import API_VERSION, BackendInfo, PluginError

from lazycore.plugins.loading import FailedPlugin, Plugin, State, load
from lazycore.plugins.validation import check_info


def failed(candidate: Any) -> FailedPlugin:
    plugin = load(candidate)
    assert isinstance(plugin, FailedPlugin)
    return plugin


def test_a_sound_plugin_is_ready_in_a_manager_of_its_own(install: Any) -> None:
    one, two = load(install("one")), load(install("two"))
    assert isinstance(one, Plugin)
    assert isinstance(two, Plugin)
    assert one.state is State.READY
    assert one.info.version == "3.1"
    assert [name for name, _ in one.manager.list_name_plugin()] == ["one"]
    assert one.manager is not two.manager


def test_an_object_can_be_a_plugin(install: Any) -> None:
    source = """
        class Backend:
            lazycore_backend_info = staticmethod(lazycore_backend_info)
            lazycore_supports = staticmethod(lazycore_supports)
            lazycore_compile = staticmethod(lazycore_compile)
        backend = Backend()
    """
    assert load(install("object", extra=source, attribute=":backend")).state is State.READY


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("def broken(:", "SyntaxError: "),
    ],
)
def test_what_fails_to_import_is_broken_with_its_traceback(install: Any, source: str, reason: str) -> None:
    candidate = install("bad", source=source)
    plugin = failed(candidate)
    assert plugin.state is State.BROKEN
    assert plugin.reason.startswith(reason)
    assert "Traceback (most recent call last)" in plugin.traceback
    assert candidate.entry.module in plugin.traceback


def test_failing_is_not_tried_again_and_harms_nobody(install: Any) -> None:
    candidate = install("bad", source="raise ValueError('no')")
    assert load(candidate) is load(candidate)
    assert load(install("good")).state is State.READY


@pytest.mark.parametrize("hook", ["lazycore_backend_info", "lazycore_supports", "lazycore_compile"])
def test_a_missing_required_hook_is_named(install: Any, hook: str) -> None:
    plugin = failed(install("lacking", extra=f"del {hook}"))
    assert plugin.state is State.BROKEN
    assert hook in plugin.reason
    assert "not implemented" in plugin.reason


def test_a_misspelt_hook_is_named_beside_the_right_ones(install: Any) -> None:
    plugin = failed(install("typo", extra="@hookimpl\ndef lazycore_patern(): return []"))
    assert plugin.state is State.BROKEN
    assert "lazycore_patern" in plugin.reason
    assert "lazycore_patterns" in plugin.reason


def test_an_unmarked_hook_is_named(install: Any) -> None:
    plugin = failed(install("unmarked", extra="def lazycore_patterns(): return []"))
    assert plugin.reason.startswith("lazycore_patterns: not marked with @hookimpl")


def test_a_hook_with_an_unknown_parameter_is_broken(install: Any) -> None:
    plugin = failed(install("parameter", extra="@hookimpl\ndef lazycore_open(context): return None"))
    assert plugin.state is State.BROKEN
    assert "context" in plugin.reason


def info_source(arguments: str, rest: str = "") -> str:
    return f"""
        @hookimpl
        def lazycore_backend_info():
            return BackendInfo({arguments})
        {rest}
    """


def test_another_major_version_is_incompatible_whatever_its_hooks_are(install: Any) -> None:
    hooks = "@hookimpl\n        def lazycore_open(novelty): return None"
    plugin = failed(install("major", extra=info_source("NAME, '1', api_version=(99, 0)", hooks)))
    assert plugin.state is State.INCOMPATIBLE
    assert "99.0" in plugin.reason
    assert f"{API_VERSION[0]}.{API_VERSION[1]}" in plugin.reason


def test_a_newer_minor_version_may_have_hooks_unknown_here(install: Any) -> None:
    version = f"NAME, '1', api_version=({API_VERSION[0]}, {API_VERSION[1] + 1})"
    hooks = "@hookimpl\n        def lazycore_novelty(): return None"
    assert load(install("minor", extra=info_source(version, hooks))).state is State.READY


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("'other', '1'", "the entry point is named 'wrong' and lazycore_backend_info says 'other'"),
        ("NAME, 1", "BackendInfo.version is 1; it must be a string"),
        ("NAME, '1', api_version='1.0'", "api_version is '1.0'; it must be a pair of integers"),
        ("NAME, '1', devices=()", "BackendInfo.devices is ()"),
        ("NAME, '1', devices='cpu'", "BackendInfo.devices is 'cpu'"),
        ("NAME, '1', dtypes=frozenset({'float32'})", "BackendInfo.dtypes is"),
        ("NAME, '1', options={'a': 1}", "BackendInfo.options is"),
        ("NAME, '1', options={'a': Option([])}", "BackendInfo.options is"),
        ("NAME, '1', capabilities=None", "BackendInfo.capabilities is None"),
    ],
)
def test_an_unsound_info_names_the_field(install: Any, arguments: str, reason: str) -> None:
    plugin = failed(install("wrong", extra=info_source(arguments)))
    assert plugin.state is State.BROKEN
    assert plugin.reason.startswith(reason)


def test_an_info_of_another_type_is_broken(install: Any) -> None:
    plugin = failed(install("dict", extra="@hookimpl\ndef lazycore_backend_info(): return {}"))
    assert plugin.reason == "lazycore_backend_info returned dict {}; it must return a BackendInfo"


def test_the_failure_names_distribution_module_and_cause(install: Any) -> None:
    candidate = install("bad", source="raise ValueError('no')")
    error = failed(candidate).failure()
    assert isinstance(error, PluginError)
    for part in ("'bad'", "vendor-bad 3.1", candidate.entry.module, "broken", "ValueError: no", "lazycore backends"):
        assert part in str(error)


@pytest.mark.parametrize("name", ["a.b", "a b", "", "a:cpu"])
def test_a_name_that_selections_and_op_names_cannot_hold_is_unsound(name: str) -> None:
    with pytest.raises(PluginError, match=r"BackendInfo\.name is .*; it must be letters, digits, _ and -"):
        check_info(BackendInfo(name, "1"), name)
