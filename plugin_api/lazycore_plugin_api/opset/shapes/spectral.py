"""Fourier transforms, factorizations, solving, distances."""

from __future__ import annotations

from lazycore_plugin_api.opset.rule import Call, Sizes, Unfit, rule
from lazycore_plugin_api.opset.shapes.dims import Shapes, broadcast_sizes, wrap

__all__ = [
    "aligned", "ctc", "distance_gradient", "distances", "eigen", "eigenvalues", "factored", "from_half", "householder",
    "lu", "pair_distances", "qr", "solution", "solved", "svd", "to_half", "unpacked", "with_info",
]  # fmt: skip


def _resized_last(call: Call, size: int) -> Shapes:
    shape = call.shape("self")
    dim = wrap(call["dim"][-1], len(shape))
    return ((*shape[:dim], size, *shape[dim + 1 :]),)


@rule
def to_half(call: Call) -> Shapes:
    """Of the last of ``dim`` only the half that the other mirrors, if ``onesided``."""
    shape = call.shape("self")
    size = shape[wrap(call["dim"][-1], len(shape))]
    return _resized_last(call, size // 2 + 1 if call["onesided"] else size)


@rule
def from_half(call: Call) -> Shapes:
    """The last of ``dim`` has ``last_dim_size``."""
    return _resized_last(call, call["last_dim_size"])


def _matrix(call: Call, name: str) -> tuple[Sizes, int, int]:
    shape = call.shape(name)
    if len(shape) < 2:
        raise Unfit(f"has {name} of shape {list(shape)}, which is no matrix")
    return shape[:-2], shape[-2], shape[-1]


def _square(call: Call, name: str) -> tuple[Sizes, int]:
    batch, rows, columns = _matrix(call, name)
    if rows != columns:
        raise Unfit(f"has {name} of shape {list(call.shape(name))}, which is not square")
    return batch, rows


@rule
def with_info(call: Call, of: str) -> Shapes:
    """A square matrix, and one flag per matrix."""
    batch, _ = _square(call, of)
    return call.shape(of), batch


def _aligned(call: Call, of: str, other: str) -> Sizes:
    """Matrices ``of``, their batch broadcast with that of ``other``."""
    return broadcast_sizes((call.shape(of)[:-2], call.shape(other)[:-2])) + call.shape(of)[-2:]


@rule
def solution(call: Call, right_hand: str, matrix: str) -> Shapes:
    """Right-hand sides, their batch broadcast with that of the matrices."""
    return (_aligned(call, right_hand, matrix),)


@rule
def aligned(call: Call, first: str, second: str) -> Shapes:
    """Both operands, their batches broadcast."""
    return _aligned(call, first, second), _aligned(call, second, first)


@rule
def factored(call: Call) -> Shapes:
    """LU in one matrix, pivots, one flag per matrix."""
    batch, rows, columns = _matrix(call, "A")
    return call.shape("A"), (*batch, min(rows, columns)), batch


@rule
def lu(call: Call) -> Shapes:
    """P (left open without pivoting), L, U."""
    batch, rows, columns = _matrix(call, "A")
    k = min(rows, columns)
    return (*batch, rows, rows) if call["pivot"] else None, (*batch, rows, k), (*batch, k, columns)


@rule
def unpacked(call: Call) -> Shapes:
    """P, L, U, as far as ``unpack_pivots`` and ``unpack_data`` ask for them."""
    batch, rows, columns = _matrix(call, "LU_data")
    k, data = min(rows, columns), call["unpack_data"]
    return (
        (*batch, rows, rows) if call["unpack_pivots"] else None,
        (*batch, rows, k) if data else None,
        (*batch, k, columns) if data else None,
    )


@rule
def solved(call: Call) -> Shapes:
    """The solution, then LU, pivots and flags of ``A``. ``B`` may be a vector per matrix."""
    batch, rows = _square(call, "A")
    b = call.shape("B")
    vector = len(b) == 1 or (len(b) == len(batch) + 1 and b == (*batch, rows))
    shape = broadcast_sizes((batch, b[:-1] if vector else b[:-2])) + (b[-1:] if vector else b[-2:])
    return shape, call.shape("A"), (*batch, rows), batch


@rule
def qr(call: Call) -> Shapes:
    """Q (left open in mode ``r``) and R."""
    batch, rows, columns = _matrix(call, "A")
    k = rows if call["mode"] == "complete" else min(rows, columns)
    return None if call["mode"] == "r" else (*batch, rows, k), (*batch, k, columns)


@rule
def householder(call: Call) -> Shapes:
    """``geqrf``: the factored matrix and one number per reflector."""
    batch, rows, columns = _matrix(call, "self")
    return call.shape("self"), (*batch, min(rows, columns))


@rule
def svd(call: Call) -> Shapes:
    """U, S, Vh; only S without ``compute_uv``."""
    batch, rows, columns = _matrix(call, "A")
    k = min(rows, columns)
    u, vh = (rows, columns) if call["full_matrices"] else (k, k)
    asked = call["compute_uv"]
    return (*batch, rows, u) if asked else None, (*batch, k), (*batch, vh, columns) if asked else None


@rule
def eigen(call: Call, of: str, vectors: str | None = None) -> Shapes:
    """Eigenvalues; eigenvectors unless the argument ``vectors`` says no."""
    batch, rows = _square(call, of)
    return (*batch, rows), call.shape(of) if vectors is None or call[vectors] else None


@rule
def distances(call: Call) -> Shapes:
    """One distance for each row of ``x1`` to each of ``x2``."""
    (batch, rows, _), (other, columns, _) = _matrix(call, "x1"), _matrix(call, "x2")
    return ((*broadcast_sizes((batch, other)), rows, columns),)


@rule
def distance_gradient(call: Call) -> Shapes:
    """That of ``x1``, its batch broadcast with the one of ``x2`` unless one of them is empty."""
    shapes = call.shape("x1"), call.shape("x2")
    return (shapes[0] if any(0 in shape for shape in shapes) else _aligned(call, "x1", "x2"),)


@rule
def pair_distances(call: Call) -> Shapes:
    """One distance for each pair of rows."""
    rows = call.shape("self")[0]
    return ((rows * (rows - 1) // 2,),)


@rule
def ctc(call: Call) -> Shapes:
    """One loss per item, and what helps the gradient, which is left open."""
    return call.shape("log_probs")[1:-1], None


@rule
def eigenvalues(call: Call) -> Shapes:
    """One number per row."""
    batch, rows = _square(call, "self")
    return ((*batch, rows),)
