"""Singular values, eigenvalues and their vectors, on stacks of matrices, by LAPACK as in ATen."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax
from lazycore_plugin_api import TensorSpec

from lazycore_xla.lowerings.factorization import FACTORABLE
from lazycore_xla.lowerings.operands import Array, Out
from lazycore_xla.registry import lowering

__all__: list[str] = []

_GENERAL = frozenset({"cpu", "gpu"})
"""Where jax has eigenvalues of matrices that are not Hermitian."""


def _identities(spec: TensorSpec) -> Array:
    """What stands for vectors where there are none: rows and columns of the identity, or nothing."""
    shape, dtype = spec.static_shape, spec.dtype.numpy
    return jnp.broadcast_to(
        jnp.eye(shape[-2], shape[-1], dtype=dtype) if len(shape) > 1 else jnp.zeros(0, dtype), shape
    )


@lowering("aten._linalg_svd.default", dtypes=FACTORABLE, needs_out=True)
def _svd(
    x: Array,
    full_matrices: bool = False,
    compute_uv: bool = True,
    *,
    driver: str | None = None,  # noqa: ARG001
    out: Out,
) -> tuple[Array, Array, Array]:
    """Left vectors, singular values in descending order, right vectors as rows."""
    u, values, v = out
    if 0 in x.shape:
        return _identities(u), jnp.zeros(values.static_shape, values.dtype.numpy), _identities(v)
    if not compute_uv:
        return _identities(u), lax.linalg.svd(x, compute_uv=False), _identities(v)
    left, sizes, right = lax.linalg.svd(x, full_matrices=full_matrices)
    return left, sizes, right


@lowering("aten._linalg_eigh.default", dtypes=FACTORABLE, needs_out=True)
def _eigh(x: Array, uplo: str = "L", compute_v: bool = True, *, out: Out) -> tuple[Array, Array]:
    """Eigenvalues in ascending order and vectors of a Hermitian matrix, of which one triangle is looked at."""
    if x.size == 0:
        return jnp.zeros(out[0].static_shape, out[0].dtype.numpy), _identities(out[1])
    vectors, values = lax.linalg.eigh(x, lower=uplo.upper() == "L", symmetrize_input=False)
    return values, vectors if compute_v else _identities(out[1])


@lowering("aten.linalg_eig.default", dtypes=FACTORABLE, needs_out=True, platforms=_GENERAL)
def _eig(x: Array, *, out: Out) -> tuple[Array, Array]:
    """Eigenvalues and vectors, complex."""
    if x.size == 0:
        return jnp.zeros(out[0].static_shape, out[0].dtype.numpy), jnp.zeros(x.shape, out[1].dtype.numpy)
    values, vectors = lax.linalg.eig(x, compute_left_eigenvectors=False)
    return values, vectors


@lowering(
    "aten._linalg_eigvals.default", "aten.linalg_eigvals.default",
    dtypes=FACTORABLE, needs_out=True, platforms=_GENERAL,
)  # fmt: skip
def _eigenvalues(x: Array, *, out: Out) -> Array:
    if x.size == 0:
        return jnp.zeros(out[0].static_shape, out[0].dtype.numpy)
    (values,) = lax.linalg.eig(x, compute_left_eigenvectors=False, compute_right_eigenvectors=False)
    return values
