"""jax's traces of its own library's functions do not pile up, and the user's own stay."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from lazycore_xla import forgetting
from lowering.backends import Backend


def _library_traces() -> int:
    from jax._src.interpreters import partial_eval

    return int(partial_eval.trace_to_jaxpr.cache_info().currsize)


def _compile(xla: Backend, segment: Any, node: Any, size: int) -> None:
    """relu(x * x) of a shape of its own."""
    array = np.ones(size, np.float32)

    def compose(values: Any) -> Any:
        product = node("aten.mul.Tensor", *values, *values, to=1)
        positive = node("aten.relu.default", *product.outputs, to=2)
        return [product, positive], positive.outputs

    (result,) = xla.compile(segment([array], compose)).run(xla.bind(segment([array], compose), [array]))
    assert result.to_host().tolist() == [1.0] * size


def test_traces_do_not_pile_up(xla: Backend, segment: Any, node: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting, "EVERY", 10)
    sizes = []
    for size in range(1, 61):
        _compile(xla, segment, node, size)
        sizes.append(_library_traces())
    a_round = max(sizes[10:20]) - min(sizes[10:20])
    assert a_round > 0, "nothing is remembered, so that nothing need be forgotten"
    assert max(sizes[40:]) <= max(sizes[10:20])


def test_the_users_functions_are_not_compiled_again(
    xla: Backend, segment: Any, node: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    traced = []

    @jax.jit
    def users(x: jax.Array) -> jax.Array:
        traced.append(x)
        return jnp.where(x > 0, x, 0)

    users(jnp.ones(3))
    monkeypatch.setattr(forgetting, "EVERY", 1)
    _compile(xla, segment, node, 7)
    assert users(jnp.ones(3)).tolist() == [1.0] * 3
    assert len(traced) == 1
