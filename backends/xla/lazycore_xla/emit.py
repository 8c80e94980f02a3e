"""A segment as one function of jax arrays: each node's lowering, called in order while jax traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from lazycore_plugin_api import Argument, BackendError, DType, Node, Segment, TensorSpec, Value

from lazycore_xla.locations import called_from
from lazycore_xla.registry import TABLE, Lowering

__all__ = ["emit"]

_HALF = (np.dtype(jnp.float16), np.dtype(jnp.bfloat16))


def emit(segment: Segment) -> Callable[..., tuple[jax.Array, ...]]:
    """The function from the segment's arguments to its outputs, to be traced by jax; bound constants are part of it.

    While it is traced it raises BackendError, with the op and the user's line, where a lowering fails or gives
    another shape or dtype than the IR says.
    """

    def run(*inputs: jax.Array) -> tuple[jax.Array, ...]:
        values = {value.id: array for value, array in zip(segment.arguments, inputs, strict=True)}
        values.update((segment.inputs[p].id, jnp.asarray(array)) for p, array in segment.constants.items())
        for node in segment.nodes:
            with jax.named_scope(node.op):
                results = called_from(node.source, _results, node, values)
            values.update(zip((v.id for v in node.outputs), results, strict=True))
        return tuple(values[value.id] for value in segment.outputs)

    return run


def _results(node: Node, values: Mapping[int, jax.Array]) -> list[jax.Array]:
    try:
        results = _call(TABLE[node.op], node, values)
        return [_checked(r, v.spec) for r, v in zip(results, node.outputs, strict=True)]
    except Exception as error:
        where = f" ({node.source})" if node.source else ""
        raise BackendError(f"xla: lowering {node.op}{where}: {type(error).__name__}: {error}") from error


def _call(row: Lowering, node: Node, values: Mapping[int, jax.Array]) -> list[Any]:
    widen = row.widen and any(v.spec.dtype.numpy in _HALF for v in (*node.inputs(), *node.outputs))
    args = [_argument(a, values, widen) for a in node.args]
    kwargs = {k: _argument(a, values, widen) for k, a in node.kwargs.items()}
    specs = tuple(v.spec for v in node.outputs)
    if row.needs_out:
        kwargs["out"] = tuple(map(_widened_spec, specs)) if widen else specs
    results = row.function(*args, **kwargs)
    results = results if isinstance(results, (tuple, list)) else (results,)
    return [r.astype(s.dtype.numpy) if widen else r for r, s in zip(results, specs, strict=True)]


def _argument(argument: Argument, values: Mapping[int, jax.Array], widen: bool) -> Any:
    if isinstance(argument, Value):
        array = values[argument.id]
        return array.astype(jnp.float32) if widen and array.dtype in _HALF else array
    if isinstance(argument, tuple):
        return tuple(_argument(a, values, widen) for a in argument)
    if isinstance(argument, DType):
        return argument.numpy
    return argument


def _widened_spec(spec: TensorSpec) -> TensorSpec:
    return TensorSpec(spec.shape, DType.float32) if spec.dtype.numpy in _HALF else spec


def _checked(result: Any, spec: TensorSpec) -> jax.Array:
    array = jnp.asarray(result)
    if array.shape != spec.shape or array.dtype != spec.dtype.numpy:
        raise TypeError(f"the lowering gives {array.dtype}{list(array.shape)} where the IR says {spec}")
    return array
