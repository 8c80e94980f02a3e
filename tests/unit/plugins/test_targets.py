from __future__ import annotations

import pytest
from lazycore_plugin_api import BackendInfo, LazycoreError, Option, Target

from lazycore.plugins.grammar import parse
from lazycore.plugins.targets import make_target

OPTIONS = {"level": Option(2), "fast": Option(False), "rate": Option(0.5), "path": Option("x")}
INFO = BackendInfo("acme", "1", devices=("cpu", "npu:0"), options=OPTIONS)


def target(text: str) -> Target:
    return make_target(parse(text)[0], INFO)


def test_the_first_device_and_the_defaults_are_filled_in() -> None:
    assert target("acme") == Target("acme", "cpu", {"level": 2, "fast": False, "rate": 0.5, "path": "x"})


def test_options_are_parsed_by_their_defaults_type() -> None:
    made = target("acme:npu:0?level=3&fast=On&rate=1e-3&path=3")
    assert made.device == "npu:0"
    assert made.options == {"level": 3, "fast": True, "rate": 1e-3, "path": "3"}
    assert type(made.options["fast"]) is bool


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("acme:gpu", "backend 'acme' has no device 'gpu'; its devices are: cpu, npu:0"),
        ("acme?lewel=3", "backend 'acme' has no option 'lewel'; its options are: level, fast, rate, path"),
        ("acme?level=high", "option level is 'high'; it must be an integer (default 2)"),
        ("acme?level=1.5", "option level is '1.5'; it must be an integer (default 2)"),
        ("acme?fast=maybe", "option fast is 'maybe'; it must be one of true, 1, yes"),
        ("acme?rate=", "option rate is ''; it must be a number (default 0.5)"),
    ],
)
def test_refuses_naming_what_is_valid(text: str, message: str) -> None:
    with pytest.raises(LazycoreError) as caught:
        target(text)
    assert message in str(caught.value)


def test_refuses_options_of_a_backend_without_any() -> None:
    with pytest.raises(LazycoreError, match="it has no options"):
        make_target(parse("plain?a=1")[0], BackendInfo("plain", "1"))
