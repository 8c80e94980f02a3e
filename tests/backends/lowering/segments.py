"""A one-node segment from an op call, following the IR's conventions for arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from lazycore_plugin_api import Argument, DType, HostArray, Node, Segment, Source, TensorSpec, Value

from lowering.arrays import dtype_of, spec_of, to_array
from lowering.case import Case, overload

DROPPED = {"device", "layout", "pin_memory", "generator", "memory_format", "non_blocking"}
NOT_LIFTED = {
    "aten.arange.start_step": {"start", "end", "step"},
    "aten.linspace.default": {"start", "end"},
    "aten.linalg_vector_norm.default": {"ord"},
    "aten.norm.Scalar": {"p"},
    "aten.norm.ScalarOpt_dim": {"p"},
    "aten.var.correction": {"correction"},
    "aten.std.correction": {"correction"},
    "aten.var_mean.correction": {"correction"},
}
"""Scalar arguments that decide a shape or a formula and therefore are literals always."""


class Builder:
    """Collects a segment's inputs while arguments are turned into the IR's."""

    def __init__(self, op: str, dtype: DType, lift: bool) -> None:
        self.op, self.dtype, self.lift = op, dtype, lift
        self.values: list[Value] = []
        self.arrays: list[HostArray] = []
        self.scalars: set[int] = set()

    def input(self, array: HostArray) -> Value:
        """A new segment input that holds the array."""
        value = Value(len(self.values), TensorSpec(tuple(array.shape), DType.of(array.dtype)))
        self.values.append(value)
        self.arrays.append(array)
        return value

    def scalar(self, number: float) -> Value:
        """A new scalar input, in the op's compute dtype."""
        self.scalars.add(len(self.values))
        return self.input(to_array(rounded(number, self.dtype)))

    def argument(self, content: Any, name: str, kind: str) -> Argument:
        """The IR's form of one argument of the schema type ``kind``."""
        if isinstance(content, torch.Tensor):
            return self.input(to_array(content))
        if isinstance(content, torch.dtype):
            return dtype_of(content)
        if isinstance(content, (tuple, list)):
            return tuple(self.argument(item, name, kind) for item in content)
        if self.lift and is_liftable(self.op, name, kind, content):
            return self.scalar(content)
        return content  # type: ignore[no-any-return]


def is_liftable(op: str, name: str, kind: str, content: Any) -> bool:
    """Whether an argument is a ``Scalar`` that may vary from run to run."""
    numeric = isinstance(content, (int, float)) and not isinstance(content, bool)
    return numeric and kind in ("number", "Optional[number]") and name not in NOT_LIFTED.get(op, ())


def rounded(number: float, dtype: DType) -> torch.Tensor:
    """The number as a 0-d tensor of the dtype."""
    return torch.tensor(number, dtype=getattr(torch, dtype.value))


def normalized(case: Case) -> tuple[list[tuple[str, str, Any]], list[tuple[str, str, Any]]]:
    """The call's positional and keyword-only arguments as (name, type, content), defaults filled in."""
    if case.reference:
        return [("", "", a) for a in case.args], []
    positional, keywords = [], []
    for i, argument in enumerate(overload(case.op)._schema.arguments):
        given = case.args[i] if i < len(case.args) else case.kwargs.get(argument.name, argument.default_value)
        row = (argument.name, str(argument.type), given)
        if not argument.kwarg_only:
            positional.append(row)
        elif argument.name not in DROPPED:
            keywords.append(row)
    return positional, keywords


def liftable(case: Case) -> bool:
    """Whether the call has a scalar that the core may turn into a run-time input."""
    positional, keywords = normalized(case)
    return any(is_liftable(case.op, *row) for row in (*positional, *keywords))


def rounded_scalars(case: Case) -> Case:
    """The same call with its liftable scalars rounded to the compute dtype, as a run-time input would be."""
    dtype = compute_dtype(case)
    positional, keywords = normalized(case)

    def literal(name: str, kind: str, content: Any) -> Any:
        return rounded(content, dtype).item() if is_liftable(case.op, name, kind, content) else content

    args = tuple(literal(*row) for row in positional)
    kwargs = {row[0]: literal(*row) for row in keywords}
    return Case(case.op, args, kwargs, case.tolerance, shape_only=case.shape_only)


def compute_dtype(case: Case) -> DType:
    """The dtype an op computes in: its first float operand's, else its first operand's, else its result's."""
    tensors = list(_tensors((*case.args, *case.kwargs.values())))
    if not tensors:
        tensors = [t for t in case.expected() if t is not None]
    floating = [t for t in tensors if t.is_floating_point()]
    return dtype_of((floating or tensors)[0].dtype)


def build(case: Case, lift: bool = False) -> tuple[Segment, list[HostArray]]:
    """The segment and its inputs. ``lift`` makes the liftable scalars run-time inputs."""
    builder = Builder(case.op, compute_dtype(case), lift)
    positional, keywords = normalized(case)
    args = tuple(builder.argument(content, name, kind) for name, kind, content in positional)
    kwargs: Mapping[str, Argument] = {n: builder.argument(c, n, k) for n, k, c in keywords}
    first = len(builder.values)
    specs = [spec_of(t) if t is not None else TensorSpec((0,), builder.dtype) for t in case.expected()]
    outputs = tuple(Value(first + i, spec) for i, spec in enumerate(specs))
    node = Node(case.op, args, kwargs, outputs, Source("case.py", 1))
    segment = Segment(tuple(builder.values), [node], outputs, name=case.op, scalars=frozenset(builder.scalars))
    return segment, builder.arrays


def _tensors(arguments: Iterable[Any]) -> Iterator[torch.Tensor]:
    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            yield argument
        elif isinstance(argument, (tuple, list)):
            yield from _tensors(argument)
