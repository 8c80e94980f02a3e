"""Every hook has a page, and the page's signature is the hook's."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
import typer
from lazycore_plugin_api import REQUIRED, errors, hooks

from lazycore.cli.main import app

DOCS = Path(__file__).parents[2] / "docs" / "hooks"
HOOKS = [name for name in vars(hooks) if name.startswith("lazycore_")]


def test_there_is_a_page_for_each_hook_and_no_other() -> None:
    assert {path.stem for path in DOCS.glob("lazycore_*.md")} == set(HOOKS)


@pytest.mark.parametrize("name", HOOKS)
def test_the_page_has_the_signature_and_all_sections(name: str) -> None:
    text = (DOCS / f"{name}.md").read_text()
    signature = str(inspect.signature(getattr(hooks, name))).replace("'", "")
    assert f"```python\ndef {name}{signature}\n```" in text
    assert text.startswith(f"# {name}\n")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Called", "Threads", "Errors"]
    assert ("\nRequired.\n" in text) == (name in REQUIRED)


def test_the_overview_lists_the_hooks_in_order() -> None:
    listed = re.findall(r"^\| \[`(\w+)`\]\((\w+)\.md\)", (DOCS / "README.md").read_text(), re.MULTILINE)
    assert listed == [(name, name) for name in HOOKS]


def test_the_patterns_of_the_page_are_sound() -> None:
    code = re.findall(r"```python\n(from .*?)```", (DOCS / "lazycore_patterns.md").read_text(), re.DOTALL)
    scope: dict[str, object] = {}
    exec(code[0], scope)
    assert scope["LINEAR_ACT"].name == "linear_act"


def test_the_vendors_page_lists_every_hook_with_its_signature() -> None:
    (block,) = re.findall(r"```py\n(.*?)```", (DOCS.parent / "vendors.md").read_text(), re.DOTALL)
    signatures = (str(inspect.signature(getattr(hooks, name))).replace("'", "") for name in HOOKS)
    assert block.splitlines() == [name + signature for name, signature in zip(HOOKS, signatures, strict=True)]


def test_the_vendors_page_lists_every_error_class() -> None:
    text = (DOCS.parent / "vendors.md").read_text()
    for name in errors.__all__:
        assert f"| `{name}` |" in text


def test_the_vendors_page_names_commands_that_exist() -> None:
    text = (DOCS.parent / "vendors.md").read_text()
    commands = set(re.findall(r"^lazycore ([a-z-]+)", text, re.MULTILINE))
    group = typer.main.get_command(app)
    assert commands
    assert commands <= set(group.commands)  # type: ignore[attr-defined]
