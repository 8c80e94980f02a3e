from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lazycore_plugin_api import LazycoreError

from lazycore.plugins.grammar import Request, parse


@pytest.mark.parametrize(
    ("text", "requests"),
    [
        ("xla", (Request("xla"),)),
        ("xla:gpu", (Request("xla", "gpu"),)),
        ("xla:gpu:1", (Request("xla", "gpu:1"),)),
        ("xla?a=1", (Request("xla", None, (("a", "1"),)),)),
        ("xla:gpu?a=1&b=x=y", (Request("xla", "gpu", (("a", "1"), ("b", "x=y"))),)),
        ("xla?a=", (Request("xla", None, (("a", ""),)),)),
        (" acme : npu , xla ", (Request("acme", "npu"), Request("xla"))),
    ],
)
def test_parses(text: str, requests: tuple[Request, ...]) -> None:
    assert parse(text) == requests


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "a backend's name is missing"),
        ("xla,", "a backend's name is missing"),
        (":cpu", "a backend's name is missing"),
        ("?a=1", "a backend's name is missing"),
        ("xla:", "no device follows 'xla:'"),
        ("xla?", "'' is no option=value"),
        ("xla?fast", "'fast' is no option=value"),
        ("xla?=1", "'=1' is no option=value"),
        ("xla?a=1&a=2", "option 'a' is given twice"),
    ],
)
def test_refuses(text: str, what: str) -> None:
    with pytest.raises(LazycoreError) as caught:
        parse(text)
    assert what in str(caught.value)
    assert repr(text) in str(caught.value)
    assert "name[:device]" in str(caught.value)


words = st.text("abcz019_-.", min_size=1, max_size=5)
options = st.dictionaries(words, words, max_size=3).map(lambda d: tuple(d.items()))
requests = st.builds(Request, words, st.none() | words, options)


def spelling(request: Request) -> str:
    device = f":{request.device}" if request.device else ""
    options = "&".join(f"{k}={v}" for k, v in request.options)
    return request.name + device + (f"?{options}" if options else "")


@given(st.lists(requests, min_size=1, max_size=3))
def test_reads_back_what_is_spelt(wanted: list[Request]) -> None:
    assert parse(",".join(map(spelling, wanted))) == tuple(wanted)
