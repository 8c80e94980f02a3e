"""Record a module's call as one trace: which tensors are its arguments, its weights and its results.

The trace is recorded in a tree of its own, where nothing but the module's return ends it: whatever looks at a value on
the way raises in the middle of the module, so that the traceback shows the line.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from lazycore_plugin_api import HostArray, LazycoreError, TensorSpec
from torch.utils._pytree import tree_flatten_with_path, tree_unflatten

from lazycore.compiler.build import Built, build_graph
from lazycore.compiler.build.random import DRAWS
from lazycore.config import config
from lazycore.frontend.arguments import Arguments
from lazycore.frontend.copies import fresh_from_host
from lazycore.frontend.local import RootKey, fresh_trace, local, tree
from lazycore.frontend.storage import is_ours, state_of
from lazycore.frontend.sync import wait_all
from lazycore.runtime.buffers import DeviceValue
from lazycore.trace.call import Call
from lazycore.trace.node import Node
from lazycore.trace.recorder import Recorder, Trace
from lazycore.trace.tree import Limits, Tree

__all__ = ["Captured", "capture"]

_ENDLESS = Limits(soft_ops=1 << 60, hard_ops=1 << 60, nbytes=1 << 60, copy_ops=1 << 60)

_LOOKED = (
    "the module looks at a value while it is exported (`.item()`, `if tensor:`, `.cpu()`, a shape that depends on "
    "values): an exported program is one graph. The traceback shows the line; compute it on the device, or export the "
    "parts around it"
)


@dataclass(frozen=True)
class Captured:
    """A module's call. ``inputs``: the arguments' names and specs; ``values``: what each of the graph's inputs is: the
    argument of that position, or a name and its content. ``result``: the module's, device tensors as ``Place``."""

    built: Built
    inputs: tuple[tuple[str, TensorSpec], ...]
    values: tuple[int | tuple[str, HostArray], ...]
    result: Any
    key: RootKey


@dataclass(frozen=True)
class Place:
    """Where a tensor of the result is among the graph's outputs."""

    position: int


class _Whole(Trace):
    """A trace that refuses to be run while it is recorded. Running one begins with a look at ``ran``."""

    def __init__(self, tree: Tree, root: Node, recorder: Recorder) -> None:
        self.open = True
        self._ran = False
        super().__init__(tree, root, recorder)

    @property
    def ran(self) -> bool:  # type: ignore[override]
        if self.open and self.closed:
            raise LazycoreError(_LOOKED)
        return self._ran

    @ran.setter
    def ran(self, value: bool) -> None:
        self._ran = value


def capture(module: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Captured:
    """Call the module once on copies of its weights and arguments, without gradients. Raises LazycoreError where the
    call is not one graph of arguments: it looks at values, draws random numbers or writes into its weights."""
    weights = {name: _copied(tensor) for name, tensor in _state(module).items()}
    leaves, layout = tree_flatten_with_path((args, dict(kwargs)))
    given = [(path, _copied(leaf) if isinstance(leaf, torch.Tensor) else leaf) for path, leaf in leaves]
    tensors = [(_name(module, path), leaf) for path, leaf in given if isinstance(leaf, torch.Tensor)]
    moved_args, moved_kwargs = tree_unflatten([leaf for _, leaf in given], layout)
    known: dict[int, int | str] = {id(_value(tensor)): name for name, tensor in weights.items()}
    known |= {id(_value(tensor)): position for position, (_, tensor) in enumerate(tensors)}
    with _settings(), _recording() as (trace, key):
        result = torch.func.functional_call(module, weights, moved_args, moved_kwargs)
        outputs: list[int] = []
        result = _placed(result, outputs)
    calls = [call for node in trace.node.path() for call in node.calls]
    _check(calls, trace, known)
    built = build_graph(calls, outputs)
    specs = tuple((name, _value(tensor).spec) for name, tensor in tensors)
    return Captured(built, specs, _values(built, trace, known), result, key)


def _state(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    return dict(module.named_parameters()) | dict(module.named_buffers())


def _copied(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor's content on the device, row-major, in memory that nobody else has."""
    return fresh_from_host(tensor.detach().cpu().resolve_conj().resolve_neg().contiguous())


def _value(tensor: torch.Tensor) -> DeviceValue:
    value: DeviceValue = state_of(tensor).value
    return value


@contextmanager
def _recording() -> Iterator[tuple[_Whole, RootKey]]:
    """Record in a trace that only the end of this context ends."""
    wait_all()
    fresh_trace()
    key: RootKey = local.trace.node.key
    own = Tree(_ENDLESS)
    trace = local.trace = _Whole(own, own.root(key), local.recorder)
    try:
        with torch.no_grad():
            yield trace, key
        if trace.closed:
            raise LazycoreError(_LOOKED)
    finally:
        # What a module keeps of this call can still be computed: the trace is one like all others from here on.
        trace.open = False
        fresh_trace()


@contextmanager
def _settings() -> Iterator[None]:
    """Traces end nowhere, draws are calls (drawn on the CPU they would be contents, and not be found), and modules call
    the operators that they are made of: PyTorch has fused ones for inference that no backend knows."""
    rng, limits, fast = config.rng, tree.limits, torch.backends.mha.get_fastpath_enabled()
    config.rng, tree.limits = "philox", _ENDLESS
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        config.rng, tree.limits = rng, limits
        torch.backends.mha.set_fastpath_enabled(fast)


def _placed(result: Any, outputs: list[int]) -> Any:
    """The result with each tensor's place in the graph's outputs."""
    if isinstance(result, torch.Tensor):
        whole = result if is_ours(result) else fresh_from_host(result.detach())
        # A copy: what is returned may be a view, an argument or a weight.
        dense = whole.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
        outputs.append(state_of(dense).index)
        return Place(len(outputs) - 1)
    if isinstance(result, Mapping):
        return {key: _placed(item, outputs) for key, item in result.items()}
    if isinstance(result, (tuple, list)):
        items = [_placed(item, outputs) for item in result]
        return tuple(items) if isinstance(result, tuple) else items
    return result


def _check(calls: Sequence[Call], trace: Trace, known: Mapping[int, int | str]) -> None:
    for call in calls:
        if call.op in DRAWS:
            raise LazycoreError(f"{call.op} at {call.source} draws random numbers: call the module's eval() first")
        for write in call.writes:
            base = write.target.value
            name = known.get(id(trace.inputs[~base])) if base < 0 else None
            if isinstance(name, str):
                raise LazycoreError(
                    f"{call.op} at {call.source} writes into {name}, and an exported program keeps no state: call the "
                    "module's eval() first, or return what it writes"
                )


def _values(built: Built, trace: Trace, known: Mapping[int, int | str]) -> tuple[int | tuple[str, HostArray], ...]:
    values: list[int | tuple[str, HostArray]] = []
    for position, bound in enumerate(Arguments(built.bindings).of(trace)):
        if not isinstance(bound, DeviceValue):
            values.append((f"number.{position}", bound))
            continue
        name = known.get(id(bound), f"constant.{position}")
        values.append(name if isinstance(name, int) else (name, bound.to_host()))
    return tuple(values)


def _name(module: torch.nn.Module, path: Any) -> str:
    """What an argument is called: the parameter of ``forward``, with the place in it where it is nested."""
    side, first, *rest = (getattr(step, "idx", getattr(step, "key", step)) for step in path)
    names = list(inspect.signature(module.forward).parameters)
    head = str(first) if side == 1 else names[first] if first < len(names) else f"argument{first}"
    return ".".join((head, *map(str, rest)))
