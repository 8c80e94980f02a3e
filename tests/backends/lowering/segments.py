"""A segment from op calls, following the IR's conventions for arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

import torch
from lazycore_plugin_api import Argument, DType, HostArray, Node, Segment, Source, TensorSpec, Value

from lowering.arrays import dtype_of, spec_of, to_array
from lowering.case import Case, overload

DROPPED = {"device", "layout", "pin_memory", "generator", "memory_format", "non_blocking"}
NOT_LIFTED = {
    "aten.arange.start_step": {"start", "end", "step"},
    "aten.linspace.default": {"start", "end"},
    "aten.dist.default": {"p"},
    "aten.multi_margin_loss.default": {"p", "margin"},
    "aten.multi_margin_loss_backward.default": {"p", "margin"},
    "aten.linalg_vector_norm.default": {"ord"},
    "aten.norm.Scalar": {"p"},
    "aten.norm.ScalarOpt_dim": {"p"},
    "aten.var.correction": {"correction"},
    "aten.std.correction": {"correction"},
    "aten.var_mean.correction": {"correction"},
}
"""Scalar arguments that decide a shape or a formula and therefore are literals always."""


class SegmentBuilder:
    """Puts op calls side by side into one segment."""

    def __init__(self) -> None:
        self._identifiers = count()
        self._inputs: list[Value] = []
        self._scalars: set[int] = set()
        self._nodes: list[Node] = []
        self.arrays: list[HostArray] = []

    def add(self, case: Case, lift: bool) -> Node:
        """One call as a node whose source line is its position. ``lift`` makes its liftable scalars run-time inputs."""
        dtype = compute_dtype(case) if lift else None
        positional, keywords = normalized(case)
        args = tuple(self._argument(case.op, row, dtype) for row in positional)
        kwargs = {row[0]: self._argument(case.op, row, dtype) for row in keywords}
        outputs = tuple(self._value(spec) for spec in result_specs(case))
        node = Node(case.op, args, kwargs, outputs, Source("sample", len(self._nodes)))
        self._nodes.append(node)
        return node

    def segment(self) -> Segment:
        """All calls so far; every result is an output."""
        outputs = tuple(v for node in self._nodes for v in node.outputs)
        scalars = frozenset(self._scalars)
        return Segment(tuple(self._inputs), self._nodes, outputs, name=self._nodes[0].op, scalars=scalars)

    def _value(self, spec: TensorSpec) -> Value:
        return Value(next(self._identifiers), spec)

    def _input(self, tensor: torch.Tensor) -> Value:
        value = self._value(spec_of(tensor))
        self._inputs.append(value)
        self.arrays.append(to_array(tensor))
        return value

    def _argument(self, op: str, row: tuple[str, str, Any], lift: DType | None) -> Argument:
        """The IR's form of an argument (name, type, content); liftable scalars become inputs of the dtype ``lift``."""
        name, kind, content = row
        if isinstance(content, torch.Tensor):
            return self._input(content)
        if isinstance(content, torch.dtype):
            return dtype_of(content)
        if isinstance(content, (tuple, list)):
            return tuple(self._argument(op, (name, kind, item), lift) for item in content)
        if lift and is_liftable(op, name, kind, content):
            self._scalars.add(len(self._inputs))
            return self._input(rounded(content, lift))
        literal: Argument = content
        return literal


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
        if str(argument.real_type) == "Optional[ScalarType]" and given == 4:
            given = torch.int64  # the number that stands in schemas for it
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


def result_specs(case: Case) -> list[TensorSpec]:
    """The specs that the core declares: PyTorch's, and (0,) for a result that was not asked for."""
    dtype = compute_dtype(case)
    return [spec_of(t) if t is not None else TensorSpec((0,), dtype) for t in case.expected()]


def _tensors(arguments: Iterable[Any]) -> Iterator[torch.Tensor]:
    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            yield argument
        elif isinstance(argument, (tuple, list)):
            yield from _tensors(argument)
