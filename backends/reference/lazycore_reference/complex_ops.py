"""The ops whose NumPy functions are right for complex numbers too. Mere movement of elements always is."""

from __future__ import annotations

__all__ = ["COMPLEX"]

_NAMES = """
abs neg exp log log10 sqrt rsqrt reciprocal sin cos tan sinh cosh tanh sigmoid sgn angle isnan isinf conj_physical
_conj_physical logical_not logical_and logical_or logical_xor complex polar
add.Tensor add.Scalar sub.Tensor sub.Scalar rsub.Tensor rsub.Scalar mul.Tensor mul.Scalar div.Tensor div.Scalar
pow.Tensor_Tensor pow.Tensor_Scalar pow.Scalar eq.Tensor eq.Scalar ne.Tensor ne.Scalar
where.self masked_fill.Scalar masked_fill.Tensor addcmul addcdiv lerp.Scalar lerp.Tensor
sum sum.dim_IntList mean mean.dim prod prod.dim_int cumsum cumprod any any.dim any.dims all all.dim all.dims
count_nonzero.dim_IntList linalg_vector_norm var.correction std.correction var_mean.correction
mm bmm mv dot addmm baddbmm addbmm addmv addr
scatter_add index_put index_add put unfold_backward
_fft_c2c _fft_r2c _fft_c2r
linalg_solve_triangular linalg_lu_factor_ex lu_unpack linalg_lu_solve linalg_inv_ex linalg_cholesky_ex linalg_qr
linalg_eig _linalg_eigvals _linalg_eigh _linalg_svd linalg_householder_product
"""

COMPLEX = frozenset(f"aten.{name}" if "." in name else f"aten.{name}.default" for name in _NAMES.split())
