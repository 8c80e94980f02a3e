"""A segment as one function of jax arrays: each node's lowering, called in order while jax traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from lazycore_plugin_api import Argument, BackendError, DType, Node, Segment, TensorSpec, Value

from lazycore_xla.chains import Chains, kept
from lazycore_xla.locations import called_from
from lazycore_xla.registry import TABLE, ChannelsLast
from lazycore_xla.values import IMAGE, Values

__all__ = ["emit"]

_NO_CALLS: Mapping[str, Callable[..., Any]] = MappingProxyType({})
_HALF = (np.dtype(jnp.float16), np.dtype(jnp.bfloat16))


def emit(
    segment: Segment, on_cpu: bool = True, calls: Mapping[str, Callable[..., Any]] = _NO_CALLS
) -> Callable[..., tuple[jax.Array, ...]]:
    """The function from the segment's arguments to its outputs, to be traced by jax; bound constants are part of it.
    ``on_cpu``: between convolutions images have their channels in the last dimension, and long chains are cut.
    ``calls``: ops that another library may compute, and how; see ``lazycore_xla.aten.calls``.

    While it is traced it raises BackendError, with the op and the user's line, where a lowering fails or gives
    another shape or dtype than the IR says.
    """

    def run(*inputs: jax.Array) -> tuple[jax.Array, ...]:
        bound = ((segment.inputs[p], jnp.asarray(array)) for p, array in segment.constants.items())
        values = Values((*zip(segment.arguments, inputs, strict=True), *bound))
        chains = Chains()
        for node in segment.nodes:
            form = values.form_for(node) if on_cpu else None
            keep = kept if chains.is_too_long(node) and on_cpu else None
            with jax.named_scope(node.op):
                called_from(node.source, _compute, node, values, form, keep, calls.get(node.op))
        return tuple(values.plain(value) for value in segment.outputs)

    return run


def _compute(
    node: Node,
    values: Values,
    form: ChannelsLast | None,
    keep: Callable[..., jax.Array] | None,
    call: Callable[..., Any] | None,
) -> None:
    try:
        for position, (value, result) in enumerate(zip(node.outputs, _call(node, values, form, call), strict=True)):
            last = form is not None and position == 0 and len(value.spec.shape) == IMAGE
            array = _checked(result, value.spec, last)
            values.put(value, keep(array) if keep else array, last)
    except Exception as error:
        where = f" ({node.source})" if node.source else ""
        raise BackendError(f"xla: lowering {node.op}{where}: {type(error).__name__}: {error}") from error


def _call(node: Node, values: Values, form: ChannelsLast | None, call: Callable[..., Any] | None) -> list[Any]:
    row = TABLE[node.op]
    widen = row.widen and any(v.spec.dtype.numpy in _HALF for v in (*node.inputs(), *node.outputs))

    def read(value: Value, image: bool) -> jax.Array:
        array = values.channels_last(value) if image and value.spec.shape else values.plain(value)
        return array.astype(jnp.float32) if widen and array.dtype in _HALF else array

    args = [_argument(a, read, form is not None and form.takes_image(p)) for p, a in enumerate(node.args)]
    kwargs = {k: _argument(a, read, form is not None and form.operands is None) for k, a in node.kwargs.items()}
    specs = tuple(v.spec for v in node.outputs)
    if row.needs_out:
        kwargs["out"] = tuple(map(_widened_spec, specs)) if widen else specs
    function = form.function if form and form.function else row.function
    if call is not None:
        function = partial(call, function, form is not None)
    results = function(*args, **kwargs)
    results = results if isinstance(results, (tuple, list)) else (results,)
    return [r.astype(s.dtype.numpy) if widen else r for r, s in zip(results, specs, strict=True)]


def _argument(argument: Argument, read: Callable[[Value, bool], jax.Array], image: bool) -> Any:
    if isinstance(argument, Value):
        return read(argument, image)
    if isinstance(argument, tuple):
        return tuple(_argument(a, read, image) for a in argument)
    if isinstance(argument, DType):
        return argument.numpy
    return argument


def _widened_spec(spec: TensorSpec) -> TensorSpec:
    return TensorSpec(spec.shape, DType.float32) if spec.dtype.numpy in _HALF else spec


def _checked(result: Any, spec: TensorSpec, channels_last: bool) -> jax.Array:
    array = jnp.asarray(result)
    shape = spec.static_shape
    expected = (shape[0], *shape[2:], shape[1]) if channels_last else shape
    if array.shape != expected or array.dtype != spec.dtype.numpy:
        raise TypeError(f"the lowering gives {array.dtype}{list(array.shape)} where the IR says {spec}")
    return array
