"""``x.data = y`` where y is on another device: x stays the same Python object and takes y's content.

Between devices written in C++ torch does this itself; between the CPU and this one it refuses. What stands on it
(modules that keep their Parameters, tied weights, optimizers made before a move) would come apart without it.
"""

from __future__ import annotations

from typing import Any

import torch

from lazycore.frontend.storage import NAME

__all__ = ["crosses", "install", "take_content"]

_data: Any = torch._C.TensorBase.data


def crosses(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether exactly one of the two is on this device, and neither is a subclass with a dispatch of its own."""
    return (a.device.type == NAME) != (b.device.type == NAME) and not (_wraps(a) or _wraps(b))


def _wraps(x: torch.Tensor) -> bool:
    return torch._C._dispatch_keys(x).has(torch._C.DispatchKey.Python)


def take_content(x: torch.Tensor, content: torch.Tensor) -> None:
    """Give ``x`` the content of a tensor on another device; attributes, hooks and weak references to x stay.

    The gradient is left out: x has none afterwards. Raises RuntimeError where x is no leaf.
    """
    if not x.is_leaf:
        raise RuntimeError(
            f"cannot move the result of an autograd operation from {x.device} to {content.device} in place; use "
            f"x = x.to({str(content.device)!r})"
        )
    # Uninitialized parameters refuse most methods to all but the class itself.
    with torch._C.DisableTorchFunctionSubclass():
        fresh = _data.__get__(content).requires_grad_(x.requires_grad)
        _forbid_backward_into(x, content.device)
        torch._C._swap_tensor_impl(x, fresh)
        _rearm_hooks(x)


def _forbid_backward_into(x: torch.Tensor, target: torch.device) -> None:
    """Graphs recorded before the move would add gradients to the content that x had, which nobody sees."""
    if not x.requires_grad:
        return
    message = (
        f"a result computed before its parameter moved from {x.device} to {target} cannot be differentiated any more; "
        "move the model before the forward pass, or after backward()"
    )

    def refuse(_grads: Any) -> None:
        raise RuntimeError(message)

    torch.autograd.graph.get_gradient_edge(x).node.register_prehook(refuse)


def _rearm_hooks(x: torch.Tensor) -> None:
    # The dictionaries stay with the Python object; what calls them was registered with the content it had before.
    for name in ("_backward_hooks", "_post_accumulate_grad_hooks"):
        hooks = getattr(x, name)
        if hooks:
            setattr(x, name, hooks)


def _set_data(x: torch.Tensor, content: torch.Tensor) -> None:
    if isinstance(content, torch.Tensor) and crosses(x, content):
        take_content(x, content)
    else:
        _data.__set__(x, content)


def install() -> None:
    """Replace the setter of ``Tensor.data``."""
    torch.Tensor.data = property(_data.__get__, _set_data)  # type: ignore[assignment, method-assign]
