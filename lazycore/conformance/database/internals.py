"""The parts of torch that its releases may move: reached here and nowhere else."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch

__all__ = ["KNOWN", "Moved", "module_entries", "operator_entries"]

KNOWN = "2.13"
_OPERATORS = ("torch.testing._internal.common_methods_invocations", "op_db")
_MODULES = ("torch.testing._internal.common_modules", "module_db")
# What the suite reads of an entry.
_OPERATOR_PARTS = ("name", "variant_test_name", "sample_inputs", "supported_dtypes", "supports_autograd", "op")
_MODULE_PARTS = ("module_cls", "module_inputs_func")


class Moved(Exception):
    """This release of torch keeps its databases elsewhere, or in another form."""


def operator_entries() -> list[Any]:
    """All OpInfos. Raises Moved."""
    return _entries(*_OPERATORS, _OPERATOR_PARTS)


def module_entries() -> list[Any]:
    """All ModuleInfos. Raises Moved."""
    return _entries(*_MODULES, _MODULE_PARTS)


def _entries(module: str, name: str, parts: tuple[str, ...]) -> list[Any]:
    try:
        entries = list(getattr(import_module(module), name))
    except (ImportError, AttributeError, TypeError) as error:
        raise Moved(_message(f"{module}.{name} cannot be read ({type(error).__name__}: {error})")) from error
    for part in parts:
        if not entries or not hasattr(entries[0], part):
            raise Moved(_message(f"the entries of {module}.{name} have no {part}"))
    return entries


def _message(what: str) -> str:
    return (
        f"{what}: torch {torch.__version__} has its test databases in another form than torch {KNOWN}, for which this "
        f"suite is written. Use torch {KNOWN}, or a release of lazycore for torch {torch.__version__}"
    )
