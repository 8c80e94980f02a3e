"""Loops out of expressions: one TIR function computes one node's results, with all that was fused into it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lazycore_tvm.arrays import Array
from lazycore_tvm.scalars import store
from lazycore_tvm.tvm_runtime import tvm

__all__ = ["BY_COLUMN", "build", "placeholders"]

BY_COLUMN = "by_column"
"""How stages are called that combine elements of the same column: read column by column, they are not vectorized."""

# TVM's number for a loop over the terms of a reduction.
_REDUCED = 2


def build(arrays: Sequence[Array]) -> tuple[Any, list[str]]:
    """The function that writes the arrays, flattened, after its operands; and the names of the operands' placeholders.

    Results that keep the row-major order of their operands have one loop, others one for each dimension.
    """
    outputs = [_output(array, f"out{i}") for i, array in enumerate(arrays)]
    operands = placeholders(outputs)
    function = tvm.te.create_prim_func([*operands.values(), *outputs])
    return _scheduled(function, arrays), list(operands)


def _output(array: Array, name: str) -> Any:
    return tvm.te.compute((array.size,), lambda place: store(array.element(place), array.dtype), name=name)


def placeholders(outputs: Sequence[Any]) -> dict[str, Any]:
    """Everything in memory that the tensors are computed from, by name, in the order of its first use."""
    found: dict[str, Any] = {}
    seen: set[Any] = set()
    waiting = list(reversed(outputs))
    while waiting:
        tensor = waiting.pop()
        if tensor.op in seen:
            continue
        seen.add(tensor.op)
        if isinstance(tensor.op, tvm.te.PlaceholderOp):
            found.setdefault(tensor.op.name, tensor)
        else:
            waiting.extend(reversed(list(tensor.op.input_tensors)))
    return found


def _scheduled(function: Any, arrays: Sequence[Array]) -> Any:
    """One loop per dimension for results that move elements, and reductions of columns row by row."""
    schedule = tvm.s_tir.Schedule(function)
    for i, array in enumerate(arrays):
        sizes = [n for n in array.shape if n != 1]
        if array.flat is None and len(sizes) > 1:
            (loop,) = schedule.get_loops(schedule.get_sblock(f"out{i}"))
            schedule.split(loop, factors=sizes)
    for block in schedule.get_child_blocks(schedule.get_sblock("root")):
        if schedule.get(block).name_hint.startswith(BY_COLUMN):
            _by_row(schedule, block)
    return schedule.mod["main"]


def _by_row(schedule: Any, block: Any) -> None:
    loops = schedule.get_loops(block)
    steps = [v.iter_type == _REDUCED for v in schedule.get(block).iter_vars]
    inner = len(steps) - 1 - steps[::-1].index(False)
    outer = [loop for loop, reduced in zip(loops, steps, strict=True) if reduced]
    schedule.reorder(*outer, loops[inner])
    schedule.decompose_reduction(block, outer[0])
