"""Registering kernels with the dispatcher: by name, and built on the first call.

Touching every OpOverload would cost a tenth of a second at import, a name costs ten microseconds; so names are given
only to ops that torch would else compose of others. All the rest reaches the fallback on its first call, and gets a
kernel of its own there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch

from lazycore.frontend.attention import scaled_dot_product_attention
from lazycore.frontend.cross_entropy import cross_entropy_loss
from lazycore.frontend.dense import take_apart_for_tangents

__all__ = ["register_all"]


def _registered(key: str) -> frozenset[str]:
    """The ops with a kernel for a key. Asked all at once: one question an op would cost a fifth of the import."""
    return frozenset(torch._C._dispatch_get_registrations_for_dispatch_key(key))


# Bases, or single overloads, whose C++ kernels serve this device as they are: views (they call as_strided), metadata,
# and composites of other ops that lose nothing by being recorded in parts.
_LEFT = frozenset(
    (
        "alias", "detach", "diagonal", "expand", "permute", "select", "slice", "split", "split_with_sizes",
        "squeeze", "t", "transpose", "unbind", "unsqueeze", "lift", "lift_fresh", "_fw_primal", "_make_dual",
        "_reshape_copy", "data", "squeeze_", "t_", "transpose_", "unsqueeze_", "swapaxes_", "swapdims_",
        "detach_", "resize_as_", "empty_like", "new_empty", "new_empty_strided", "empty_permuted",
        "is_same_size", "is_coalesced", "sparse_dim", "dense_dim", "values", "indices", "crow_indices",
        "col_indices", "ccol_indices", "row_indices", "rand_like", "randn_like", "randint_like",
        "_has_same_storage_numel", "_print", "_assert_tensor_metadata", "_nested_tensor_from_tensor_list",
        "_coalesced", "sym_size", "sym_stride", "sym_numel", "sym_storage_offset", "retain_grad", "_version",
        "is_leaf", "output_nr", "requires_grad_", "stack", "rot90", "_pin_memory", "narrow_copy",
        "embedding_renorm_", "fill", "ldexp", "allclose", "_trilinear",
        "dist", "unsafe_split", "unsafe_split_with_sizes", "linspace.Tensor_Tensor", "linspace.Tensor_Scalar",
        "linspace.Scalar_Tensor", "logspace.Tensor_Tensor", "logspace.Tensor_Scalar", "logspace.Scalar_Tensor",
        "linalg_pinv",
        # A view, cloned.
        *(f"{view}_copy" for view in (
            "alias", "as_strided", "detach", "diagonal", "expand", "lift_fresh", "permute", "select", "slice", "split",
            "split_with_sizes", "squeeze", "t", "transpose", "unbind", "unfold", "unsqueeze", "view", "view_as_complex",
            "view_as_real", "_conj", "_neg_view", "_reshape_alias", "_fw_primal", "_make_dual",
        )),
    )
)  # fmt: skip

# Foreach overloads without a per-tensor overload of the same arguments: torch's loop serves them.
_LOOPED = frozenset(
    (
        "norm.Scalar", "powsum.Scalar", "max", "zero", "zero_", "copy", "copy_", "clone", "pow.ScalarAndTensor",
        *(f"{base}{suffix}.Tensor" for base in ("addcdiv", "addcmul") for suffix in ("", "_")),
        *(f"{base}{suffix}.{kind}" for base in ("maximum", "minimum") for suffix in ("", "_")
          for kind in ("Scalar", "ScalarList")),
    )
)  # fmt: skip

_library: Any = None
_fallbacks: Any = None
_replaced = False


def register_all() -> None:
    """Give every ATen op its kernel, and all others (a vendor's own) a fallback. Called once."""
    global _library, _fallbacks
    _library = torch.library.Library("aten", "IMPL")
    _fallbacks = torch.library.Library("_", "IMPL")
    kernels = {key: _registered(key) for key in (_IMPLICIT, _CPU, *_EXPLICIT)}
    for name in set().union(*kernels.values()):
        if name.startswith("aten::") and _wanted(name, kernels):
            short = name.removeprefix("aten::")
            _library.impl(short, _first_call(short), "PrivateUse1")
    for key in ("AutogradPrivateUse1", "PrivateUse1"):
        # Differentiable composites of ours instead of torch's: below autograd torch's would already be taken apart.
        _library.impl("scaled_dot_product_attention", scaled_dot_product_attention, key)
        _library.impl("cross_entropy_loss", cross_entropy_loss, key)
    _library.impl("linear", _first_call("linear"), "PrivateUse1")
    take_apart_for_tangents()
    _fallbacks.fallback(_fallback, "PrivateUse1")


def _wanted(name: str, kernels: Mapping[str, frozenset[str]]) -> bool:
    short = name.removeprefix("aten::")
    base = short.partition(".")[0]
    if (base in _LEFT and short != "view.dtype") or short in _LEFT:
        return False
    if short.startswith("_foreach_") and short.removeprefix("_foreach_") in _LOOPED:
        return False
    on_cpu = name in kernels[_CPU]
    if name in kernels[_IMPLICIT]:
        return on_cpu
    if name.endswith("out") and not on_cpu:
        return False  # generated: the functional op, then a copy
    return any(name in kernels[key] for key in _EXPLICIT)


_CPU, _IMPLICIT = "CPU", "CompositeImplicitAutograd"
_EXPLICIT = ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")


def _first_call(short: str) -> Callable[..., Any]:
    def build_then_run(*args: Any, **kwargs: Any) -> Any:
        kernel = _build(short)
        _replace(short, kernel)
        return kernel(*args, **kwargs)

    return build_then_run


def _build(short: str) -> Callable[..., Any]:
    from lazycore.frontend.foreach import foreach_kernel
    from lazycore.frontend.kernels import kernel_for
    from lazycore.frontend.schema import overload
    from lazycore.frontend.tables import special

    op = overload(f"aten::{short}")
    if short.startswith("_foreach_"):
        return foreach_kernel(op)
    return special(short) or kernel_for(op)


def _replace(short: str, kernel: Callable[..., Any]) -> None:
    global _replaced
    if _replaced:
        _library.impl(short, kernel, "PrivateUse1", allow_override=True)
        return
    _replaced = True
    with warnings.catch_warnings():
        # torch warns once that a kernel was overridden; here that is the plan.
        warnings.simplefilter("ignore")
        _library.impl(short, kernel, "PrivateUse1", allow_override=True)


_kernels: dict[Any, Callable[..., Any]] = {}


def _fallback(op: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The first call of an op without a name here, and every call of a vendor's or user's own ``torch.library`` op."""
    kernel = _kernels.get(op)
    if kernel is None:
        kernel = _kernels[op] = _adopt(op)
    return kernel(*args, **kwargs)


def _adopt(op: Any) -> Callable[..., Any]:
    schema = op._schema
    if not schema.name.startswith("aten::"):
        from lazycore.frontend.kernels import kernel_for

        return kernel_for(op)
    short = schema.name.removeprefix("aten::") + (f".{schema.overload_name}" if schema.overload_name else "")
    kernel = _build(short)
    _library.impl(short, kernel, "PrivateUse1")
    return kernel
