"""Composite ops that a selected backend wants whole (``lazycore_preserve_ops``).

torch takes a composite op such as ``linear`` apart above the device, so that no backend would ever be asked about it.
One that is preserved gets kernels of ours that record it as it is; where no backend takes it after all, the compiler
takes it apart. Its gradient is that of torch's own composition, computed in backward from the op's inputs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from lazycore_plugin_api import LazycoreError
from torch.utils import _pytree as pytree

from lazycore.frontend.compositions import composition_of
from lazycore.plugins.backend import LoadedBackend
from lazycore.plugins.warning import PluginWarning

__all__ = ["preserve"]

_KEYS = ("AutogradPrivateUse1", "PrivateUse1")
# Arguments that make a seeded op draw random numbers: those must be drawn by the frontend.
_PROBABILITIES = frozenset(("p", "dropout", "dropout_p"))

# The kernels of what is preserved now, by op; they go with their library.
_libraries: dict[str, torch.library.Library] = {}


def preserve(backends: Sequence[LoadedBackend]) -> None:
    """From now on, keep whole what these backends preserve, and nothing else. A name that is no op, and a plugin whose
    hook fails, is a PluginWarning; an op that torch does not take apart needs nothing."""
    wanted = set()
    for backend in backends:
        try:
            names = backend.preserve_ops()
        except LazycoreError as error:
            warnings.warn(f"{error}; it preserves no op", PluginWarning, stacklevel=2)
            continue
        wanted |= {name for name in names if _prepare(name, backend)}
    for name in _libraries.keys() - wanted:
        _libraries.pop(name)._destroy()


def _prepare(name: str, backend: LoadedBackend) -> bool:
    """Give the op its kernels; whether it is a composite."""
    if name in _libraries:
        return True
    try:
        namespace, base, variant = name.split(".")
        op = getattr(getattr(getattr(torch.ops, namespace), base), variant)
    except (AttributeError, ValueError):
        text = f"backend {backend.name!r}: lazycore_preserve_ops names {name!r}, which is no operator here"
        warnings.warn(f"{text}; write it as namespace.name.overload", PluginWarning, stacklevel=4)
        return False
    composed = composition_of(op)
    if composed is None or not all(str(r.type) == "Tensor" for r in op._schema.returns):
        return False
    library = _libraries[name] = torch.library.Library(namespace, "IMPL")
    with warnings.catch_warnings():
        # torch warns of an overridden kernel; here that is the plan.
        warnings.simplefilter("ignore")
        for key in _KEYS:
            short = op._schema.name.partition("::")[2] + ("" if variant == "default" else f".{variant}")
            library.impl(short, _kernel(op, composed), key, allow_override=True)
    return True


def _kernel(op: Any, composed: Callable[..., Any]) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        if _draws(op, args, kwargs):
            return composed(*args, **kwargs)
        leaves, form = pytree.tree_flatten((args, kwargs))
        tensors = [x for x in leaves if isinstance(x, torch.Tensor)]
        if torch.is_grad_enabled() and any(x.requires_grad for x in tensors):
            return _Whole.apply(op, composed, form, *leaves)
        return _record(op, args, kwargs)

    return kernel


def _draws(op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    if torch.Tag.nondeterministic_seeded not in op.tags:
        return False
    given = dict(zip((a.name for a in op._schema.arguments), args, strict=False)) | kwargs
    return any(given.get(name) for name in _PROBABILITIES)


def _record(op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    # Not at import: the kernels come with the first op that needs one.
    from lazycore.frontend.kernels import recorded

    return recorded(op)(*args, **kwargs)


class _Whole(torch.autograd.Function):
    """The op recorded whole, with the gradient of its composition."""

    @staticmethod
    def forward(ctx: Any, op: Any, composed: Callable[..., Any], form: Any, *leaves: Any) -> Any:
        ctx.composed, ctx.form = composed, form
        ctx.leaves = [None if isinstance(x, torch.Tensor) else x for x in leaves]
        ctx.places = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor)]
        ctx.save_for_backward(*(leaves[i] for i in ctx.places))
        args, kwargs = pytree.tree_unflatten(list(leaves), form)
        return _record(op, args, kwargs)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        again = torch.is_grad_enabled()
        leaves = list(ctx.leaves)
        wanted: dict[int, torch.Tensor] = {}
        with torch.enable_grad():
            for place, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
                leaves[place] = tensor
                if tensor.requires_grad:
                    # An alias: the gradient stops here, and a second derivative goes on through the tensor itself.
                    leaves[place] = wanted[place] = tensor.view_as(tensor)
            args, kwargs = pytree.tree_unflatten(leaves, ctx.form)
            results = ctx.composed(*args, **kwargs)
        results = results if isinstance(results, tuple) else (results,)
        pairs = [(r, g) for r, g in zip(results, gradients, strict=True) if g is not None and r.requires_grad]
        found = torch.autograd.grad(
            [r for r, _ in pairs], list(wanted.values()), [g for _, g in pairs], create_graph=again, allow_unused=True
        )
        by_place = dict(zip(wanted, found, strict=True))
        return None, None, None, *(by_place.get(i) for i in range(len(leaves)))
