"""The user's own jax code keeps its settings while the backend works in 64 bits beside it."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest


@pytest.fixture
def doubled(xla, segment, node):
    """A compiled x + x on int64, and its input."""
    array = np.array([2**40, -3], np.int64)
    built = segment([array], lambda v: ([n := node("aten.add.Tensor", v[0], v[0], alpha=1, to=1)], n.outputs))
    return xla.compile(built), xla.session.upload(array)


def _user_code() -> tuple[str, str]:
    squares = jax.jit(lambda x: x * x)(jnp.arange(3))
    return str(squares.dtype), str(jnp.asarray(np.ones(2)).dtype)


def test_user_code_stays_at_32_bits(doubled):
    before = _user_code()
    executable, buffer = doubled
    result = executable.run([buffer])[0]
    assert before == _user_code() == ("int32", "float32")
    assert not jax.config.jax_enable_x64
    assert result.to_host().tolist() == [2**41, -6]


def test_user_results_compiled_before_are_still_used(doubled):
    traces = []

    @jax.jit
    def user(x: jax.Array) -> jax.Array:
        traces.append(x.dtype)
        return x + 1

    user(jnp.arange(3))
    executable, buffer = doubled
    executable.run([buffer])
    user(jnp.arange(3))
    assert traces == [np.dtype("int32")]


@pytest.fixture
def strict_user() -> Iterator[None]:
    """A user who forbids what the lowerings rely on."""
    with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
        yield


@pytest.mark.usefixtures("strict_user")
def test_lowerings_do_not_depend_on_the_users_settings(xla, segment, node):
    x, bias = np.ones((2, 3), np.float32), np.ones(3, np.float32)
    built = segment([x, bias], lambda v: ([n := node("aten.add.Tensor", v[0], v[1], alpha=2, to=2)], n.outputs))
    result = xla.compile(built).run([xla.session.upload(x), xla.session.upload(bias)])[0]
    assert result.to_host().tolist() == [[3.0] * 3] * 2
