"""Rendering the templates into a new folder: all of them or nothing."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection
from importlib.metadata import version
from pathlib import Path

import jinja2
from lazycore_plugin_api import LazycoreError

from lazycore.scaffold.names import Names

__all__ = ["create"]

_SUFFIX = ".j2"
_PACKAGE = "package"
"""The templates' folder that stands for the import package."""


def create(backend: str, parent: Path, taken: Collection[str] = ()) -> Path:
    """Write the package of a backend into a new folder in ``parent``, which is made where it is missing; the folder.

    Raises LazycoreError for a bad name, for one in ``taken``, for a folder that exists, and for one that cannot be
    written. Nothing is left behind then.
    """
    names = Names.of(backend)
    if backend in taken:
        raise LazycoreError(f"a backend named {backend!r} is installed; two of one name would exclude each other")
    folder = parent / names.distribution
    if folder.exists():
        raise LazycoreError(f"{folder} exists; remove it, or choose another name or --dir")
    try:
        parent.mkdir(parents=True, exist_ok=True)
        _fill(folder, names)
    except OSError as error:
        raise LazycoreError(f"{folder} cannot be written: {error.strerror or error}") from error
    return folder


def _fill(folder: Path, names: Names) -> None:
    # Beside its final place, so that it moves there in one step, on one file system.
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder.parent) as scratch:
        made = Path(scratch) / "package"
        for name, text in _render(names).items():
            path = made / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        shutil.move(made, folder)


def _render(names: Names) -> dict[str, str]:
    """Path in the package -> content."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("lazycore.scaffold"),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    values = {"names": names, "api": version("lazycore-plugin-api")}
    templates = environment.list_templates(extensions=["j2"])
    return {_path(name, names): environment.get_template(name).render(values) for name in templates}


def _path(template: str, names: Names) -> str:
    top, slash, rest = template.removesuffix(_SUFFIX).partition("/")
    return (names.module if top == _PACKAGE else top) + slash + rest
