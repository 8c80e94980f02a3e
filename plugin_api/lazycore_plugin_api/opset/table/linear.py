"""Products, factorizations, solving, Fourier transforms, distances."""

from __future__ import annotations

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.opset.result_dtypes import each, fixed, given, imaginary, real, same
from lazycore_plugin_api.opset.shapes.elementwise import same_as
from lazycore_plugin_api.opset.shapes.matmul import (
    batched,
    grouped,
    matrix_vector,
    multiplied,
    outer,
    summed_batches,
    trilinear,
)
from lazycore_plugin_api.opset.shapes.reduction import to_scalar
from lazycore_plugin_api.opset.shapes.spectral import (
    aligned,
    distance_gradient,
    distances,
    eigen,
    eigenvalues,
    factored,
    from_half,
    householder,
    lu,
    pair_distances,
    qr,
    solution,
    solved,
    svd,
    to_half,
    unpacked,
    with_info,
)
from lazycore_plugin_api.opset.table.make import row

__all__ = ["LINEAR"]

_SAME = same_as("self")
_INT32 = fixed(DType.int32)
_BETA = "self is left out where beta is 0, NaN in it too"
_INFO = "info: 0, or the order of the minor that failed"
_DIMS = "normalization: 0 none, 1 by the root of the size, 2 by the size"

LINEAR = [
    row("mm(Tensor self, Tensor mat2) -> Tensor", same(), multiplied("self", "mat2")),
    row("bmm(Tensor self, Tensor mat2) -> Tensor", same(), batched("self", "mat2")),
    row("mv(Tensor self, Tensor vec) -> Tensor", same(), matrix_vector("self", "vec")),
    row("dot(Tensor self, Tensor tensor) -> Tensor", same(), to_scalar()),
    row("vdot(Tensor self, Tensor other) -> Tensor", same(), to_scalar(), "self is conjugated"),
    row(
        "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
        same(),
        multiplied("mat1", "mat2", "self"),
        _BETA,
    ),
    row(
        "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
        same(),
        batched("batch1", "batch2", "self"),
        _BETA,
    ),
    row(
        "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
        same(),
        summed_batches("batch1", "batch2", "self"),
        _BETA,
    ),
    row(
        "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
        same(),
        matrix_vector("mat", "vec", "self"),
        _BETA,
    ),
    row(
        "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
        same(),
        outer("vec1", "vec2", "self"),
        _BETA,
    ),
    row(
        "_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, "
        "ScalarType? out_dtype=None) -> Tensor",
        given("out_dtype", same()),
        grouped(),
    ),
    row(
        "_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, "
        "int unroll_dim=1) -> Tensor",
        same("i1"),
        trilinear(),
    ),
    row(
        "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor, Tensor)",
        each(same(), _INT32),
        with_info("self"),
        f"reads one triangle; {_INFO}",
    ),
    row(
        "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor, Tensor)",
        each(same("A"), _INT32),
        with_info("A"),
        "info: 0, or the place of a zero pivot",
    ),
    row(
        "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor, Tensor, Tensor)",
        each(same("A"), _INT32, _INT32),
        factored(),
        "pivots count from 1",
    ),
    row("linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor, Tensor, Tensor)", same("A"), lu()),
    row(
        "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor, "
        "Tensor, Tensor)",
        same("LU_data"),
        unpacked(),
    ),
    row(
        "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
        same("LU"),
        solution("B", "LU"),
    ),
    row(
        "_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor, Tensor, "
        "Tensor, Tensor)",
        each(same("A"), same("A"), _INT32, _INT32),
        solved(),
        "B may be one vector per matrix",
    ),
    row(
        "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, "
        "bool unitriangular=False) -> Tensor",
        same(),
        solution("B", "self"),
        "reads one triangle",
    ),
    row(
        "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, "
        "bool unitriangular=False) -> (Tensor, Tensor)",
        same(),
        aligned("self", "A"),
        "reads one triangle",
    ),
    row("cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor", same(), solution("self", "input2")),
    row("_cholesky_solve_helper(Tensor self, Tensor A, bool upper) -> Tensor", same(), _SAME),
    row("cholesky_inverse(Tensor self, bool upper=False) -> Tensor", same(), _SAME),
    row('linalg_qr(Tensor A, str mode="reduced") -> (Tensor, Tensor)', same("A"), qr(), "signs are LAPACK's"),
    row("geqrf(Tensor self) -> (Tensor, Tensor)", same(), householder()),
    row("linalg_householder_product(Tensor input, Tensor tau) -> Tensor", same("input"), same_as("input")),
    row(
        "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
        same(),
        same_as("input3"),
    ),
    row(
        "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor, "
        "Tensor, Tensor)",
        each(same("A"), real("A"), same("A")),
        svd(),
        "singular values fall",
    ),
    row(
        '_linalg_eigh(Tensor A, str UPLO="L", bool compute_v=True) -> (Tensor, Tensor)',
        each(real("A"), same("A")),
        eigen("A", "compute_v"),
        "reads one triangle; eigenvalues rise",
    ),
    row("linalg_eig(Tensor self) -> (Tensor, Tensor)", imaginary(), eigen("self")),
    row("_linalg_eigvals(Tensor self) -> Tensor", imaginary(), eigenvalues()),
    row("linalg_eigvals(Tensor self) -> Tensor", imaginary(), eigenvalues()),
    row("_fft_c2c(Tensor self, int[] dim, int normalization, bool forward) -> Tensor", same(), _SAME, _DIMS),
    row("_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor", imaginary(), to_half(), _DIMS),
    row(
        "_fft_c2r(Tensor self, int[] dim, int normalization, int last_dim_size) -> Tensor",
        real(),
        from_half(),
        f"{_DIMS}; the imaginary part of entry 0 is left out",
    ),
    row("_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor", same("x1"), distances()),
    row(
        "_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor",
        same("x1"),
        distance_gradient(),
    ),
    row("_pdist_forward(Tensor self, float p=2.) -> Tensor", same(), pair_distances()),
    row("_pdist_backward(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor", same(), _SAME),
]
