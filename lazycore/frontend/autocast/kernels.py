"""The kernels that stand before the ops of the lists while autocast is on: they cast, then call the op without it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import torch

from lazycore.frontend.autocast import casts
from lazycore.frontend.autocast.casts import cast, eligible, widest
from lazycore.frontend.autocast.lists import APPENDED, FULL, FULL_RESULT, LOWER, REFUSED, WIDEST
from lazycore.frontend.schema import overload
from lazycore.frontend.storage import NAME

__all__ = ["register_autocast"]

_KEY = "AutocastPrivateUse1"
_OFF = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)

Call: TypeAlias = tuple[Any, tuple[Any, ...], dict[str, Any]]
Rule: TypeAlias = Callable[[Any, tuple[Any, ...], dict[str, Any]], Call]
"""From an op and its arguments to what is called instead."""

_libraries: list[Any] = []


def register_autocast() -> None:
    """Give the ops of the lists their casting kernels; all others pass. Called once."""
    passing, library = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
    passing.fallback(torch.library.fallthrough_kernel, _KEY)
    for names, rule in _RULES:
        for name in names:
            library.impl(name, _kernel(name, rule), _KEY)
    _libraries.extend((passing, library))
    casts.install()


def _kernel(name: str, rule: Rule) -> Callable[..., Any]:
    op: Any = None

    def kernel(*args: Any, **kwargs: Any) -> Any:
        nonlocal op
        if op is None:
            # Not at import: making an operator's Python object costs more than registering its kernel.
            op = overload(f"aten::{name}")
        with torch._C._ExcludeDispatchKeyGuard(_OFF):
            called, args, kwargs = rule(op, args, kwargs)
            return called(*args, **kwargs)

    return kernel


def _in(dtype: torch.dtype, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    return op, tuple([cast(x, dtype) for x in args]), {k: cast(x, dtype) for k, x in kwargs.items()}


def _lower(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    return _in(torch.get_autocast_dtype(NAME), op, args, kwargs)


def _full(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    return _in(torch.float32, op, args, kwargs)


def _widest(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    return _in(widest((*args, *kwargs.values()), torch.get_autocast_dtype(NAME)), op, args, kwargs)


def _full_result(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    if not eligible(args[0]):
        return op, args, kwargs
    position = _position_of_dtype(op)
    if position is None or len(args) <= position:
        return op, args, {**kwargs, "dtype": kwargs.get("dtype") or torch.float32}
    return op, (*args[:position], args[position] or torch.float32, *args[position + 1 :]), kwargs


def _position_of_dtype(op: Any) -> int | None:
    """Where ``dtype`` stands among the positional arguments: softmax has it there, the others by name only."""
    names = [a.name for a in op._schema.arguments if not a.kwarg_only]
    return names.index("dtype") if "dtype" in names else None


def _appended(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    name = op._schema.name.removeprefix("aten::") + "." + op._schema.overload_name
    given = {a.name: a.default_value for a in op._schema.arguments if a.has_default_value()}
    names = [a.name for a in op._schema.arguments]
    given |= dict(zip(names, args, strict=False)) | kwargs
    dtype = torch.float32 if eligible(args[0]) else args[0].dtype
    return overload(f"aten::{APPENDED[name]}"), tuple(given[n] for n in names), {"dtype": dtype}


def _refused(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:  # noqa: ARG001
    raise RuntimeError(
        "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast: the sigmoid before them "
        "may round to 0 or 1. Use binary_cross_entropy_with_logits or BCEWithLogitsLoss, which autocast knows, or "
        'leave autocast for this call with torch.autocast("lazycore", enabled=False)'
    )


_RULES: list[tuple[Iterable[str], Rule]] = [
    (LOWER, _lower),
    (FULL, _full),
    (FULL_RESULT, _full_result),
    (APPENDED, _appended),
    (WIDEST, _widest),
    (REFUSED, _refused),
]
