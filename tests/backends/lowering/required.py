"""The ops a complete backend takes: what forward, backward and optimizer steps of ordinary models reach."""

from __future__ import annotations

_NAMES = """
abs neg exp exp2 expm1 log log1p log2 log10 sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh tanh asinh acosh
atanh sigmoid erf erfc floor ceil round round.decimals trunc sign sgn frac relu silu mish gelu hardtanh hardswish
hardsigmoid leaky_relu elu softplus log_sigmoid_forward logical_not bitwise_not isnan isinf signbit lgamma
add.Tensor add.Scalar sub.Tensor sub.Scalar mul.Tensor mul.Scalar div.Tensor div.Scalar div.Tensor_mode div.Scalar_mode
rsub.Tensor rsub.Scalar floor_divide pow.Tensor_Tensor pow.Tensor_Scalar pow.Scalar maximum minimum fmax fmin
fmod.Tensor fmod.Scalar remainder.Tensor remainder.Scalar remainder.Scalar_Tensor atan2 hypot
eq.Tensor eq.Scalar ne.Tensor ne.Scalar lt.Tensor lt.Scalar le.Tensor le.Scalar gt.Tensor gt.Scalar ge.Tensor ge.Scalar
logical_and logical_or logical_xor bitwise_and.Tensor bitwise_and.Scalar bitwise_or.Tensor bitwise_or.Scalar
bitwise_xor.Tensor bitwise_xor.Scalar bitwise_left_shift.Tensor bitwise_right_shift.Tensor copysign.Tensor xlogy.Tensor
where.self clamp clamp.Tensor clamp_min clamp_min.Tensor clamp_max clamp_max.Tensor addcmul addcdiv lerp.Scalar
lerp.Tensor masked_fill.Scalar masked_fill.Tensor threshold
threshold_backward sigmoid_backward tanh_backward gelu_backward silu_backward mish_backward hardtanh_backward
leaky_relu_backward elu_backward softplus_backward log_sigmoid_backward hardswish_backward hardsigmoid_backward
sum sum.dim_IntList mean mean.dim amax amin max min max.dim min.dim argmax argmin prod prod.dim_int any any.dim any.dims
all all.dim all.dims var.correction std.correction var_mean.correction logsumexp linalg_vector_norm norm.Scalar
norm.ScalarOpt_dim cumsum cumprod count_nonzero.dim_IntList
_softmax _log_softmax _softmax_backward_data _log_softmax_backward_data
mm bmm addmm baddbmm addbmm mv addmv dot addr
convolution convolution_backward
max_pool2d_with_indices max_pool2d_with_indices_backward avg_pool2d avg_pool2d_backward _adaptive_avg_pool2d
_adaptive_avg_pool2d_backward
_native_batch_norm_legit_functional _native_batch_norm_legit.no_stats native_batch_norm_backward native_layer_norm
native_layer_norm_backward native_group_norm native_group_norm_backward
nll_loss_forward nll_loss_backward nll_loss2d_forward nll_loss2d_backward mse_loss mse_loss_backward
binary_cross_entropy binary_cross_entropy_backward binary_cross_entropy_with_logits smooth_l1_loss
smooth_l1_loss_backward huber_loss huber_loss_backward
embedding embedding_dense_backward gather scatter.src scatter.value scatter_add scatter_reduce.two index_select
index.Tensor index_put index_add index_copy index_fill.int_Scalar take put select_backward slice_backward
select_scatter slice_scatter diagonal_backward unfold_backward
cat view permute expand select.int slice.Tensor squeeze squeeze.dim squeeze.dims unsqueeze flip roll repeat
constant_pad_nd tril triu clone alias _to_copy view.dtype diagonal stack lift_fresh_copy
full scalar_tensor arange.start_step eye.m linspace
sort.stable topk
upsample_nearest2d upsample_nearest2d_backward upsample_bilinear2d upsample_bilinear2d_backward
"""

_EXTRA_REFERENCE = """
_grouped_mm
_fft_c2c _fft_c2r _fft_r2c angle complex polar conj_physical _conj_physical cummax cummin logcumsumexp nonzero_static
digamma erfinv frexp.Tensor gcd lcm nextafter i0 igamma igammac special_erfcx special_i0e special_i1 special_i1e
special_log_ndtr special_ndtri special_spherical_bessel_j0 special_zeta special_airy_ai special_bessel_j0
special_bessel_j1 special_bessel_y0 special_bessel_y1 special_modified_bessel_i0 special_modified_bessel_i1
special_modified_bessel_k0 special_modified_bessel_k1 special_scaled_modified_bessel_k0
special_scaled_modified_bessel_k1 special_chebyshev_polynomial_t special_chebyshev_polynomial_u
special_chebyshev_polynomial_v special_chebyshev_polynomial_w special_shifted_chebyshev_polynomial_t
special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w
special_hermite_polynomial_h special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p
linalg_cholesky_ex linalg_lu_factor_ex lu_unpack linalg_lu_solve linalg_inv_ex linalg_solve_triangular linalg_qr geqrf
linalg_householder_product ormqr _linalg_svd _linalg_eigh linalg_eig _linalg_eigvals
"""

_EXTRA_XLA = """
special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v
special_chebyshev_polynomial_w special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u
special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w special_hermite_polynomial_h
special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p
_ctc_loss _ctc_loss_backward
linalg_cholesky_ex linalg_lu_factor_ex linalg_lu lu_unpack linalg_lu_solve linalg_inv_ex _linalg_solve_ex
linalg_solve_triangular triangular_solve cholesky_solve cholesky_inverse linalg_qr geqrf linalg_householder_product
ormqr _fft_c2c _fft_r2c _fft_c2r i0 special_i0e special_i1 special_i1e special_erfcx digamma erfinv special_ndtri
special_log_ndtr special_spherical_bessel_j0 polygamma igamma igammac special_zeta nextafter frexp.Tensor gcd lcm
_conj_physical nonzero_static
isposinf isneginf complex polar conj_physical angle kthvalue median.dim nanmedian.dim median nanmedian mode cummax
cummin logcumsumexp searchsorted.Tensor searchsorted.Scalar bucketize.Tensor bucketize.Scalar max_pool3d_with_indices
max_pool3d_with_indices_backward avg_pool3d avg_pool3d_backward adaptive_max_pool2d adaptive_max_pool2d_backward
adaptive_max_pool3d adaptive_max_pool3d_backward _adaptive_avg_pool3d _adaptive_avg_pool3d_backward
fractional_max_pool2d fractional_max_pool2d_backward fractional_max_pool3d fractional_max_pool3d_backward
upsample_nearest1d upsample_nearest1d_backward upsample_nearest3d upsample_nearest3d_backward
_upsample_nearest_exact1d _upsample_nearest_exact1d_backward _upsample_nearest_exact2d
_upsample_nearest_exact2d_backward _upsample_nearest_exact3d _upsample_nearest_exact3d_backward upsample_linear1d
upsample_linear1d_backward upsample_trilinear3d upsample_trilinear3d_backward upsample_bicubic2d
upsample_bicubic2d_backward _upsample_bilinear2d_aa _upsample_bilinear2d_aa_backward _upsample_bicubic2d_aa
_upsample_bicubic2d_aa_backward reflection_pad1d reflection_pad1d_backward reflection_pad2d reflection_pad2d_backward
reflection_pad3d reflection_pad3d_backward replication_pad1d replication_pad1d_backward replication_pad2d
replication_pad2d_backward replication_pad3d replication_pad3d_backward grid_sampler_2d grid_sampler_2d_backward
grid_sampler_3d grid_sampler_3d_backward _cdist_forward _cdist_backward _pdist_forward _pdist_backward dist
multi_margin_loss_backward multilabel_margin_loss_backward index_reduce scatter.reduce scatter.value_reduce
hardshrink_backward softshrink_backward rrelu_with_noise_backward _trilinear tril_indices triu_indices
_grouped_mm _linalg_svd _linalg_eigh linalg_eig _linalg_eigvals
reshape _unsafe_view detach sort fill.Scalar fill.Tensor index_fill.int_Tensor eye copysign.Scalar count_nonzero
native_dropout_backward vdot linalg_eigvals _cholesky_solve_helper _native_batch_norm_legit_no_training
"""

_TVM = """
special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v
special_chebyshev_polynomial_w special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u
special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w special_hermite_polynomial_h
special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p scatter_reduce.two
scatter.reduce scatter.value_reduce index_reduce diagonal_backward unfold_backward cummax cummin logcumsumexp
nonzero_static gcd lcm nextafter frexp.Tensor linalg_solve_triangular triangular_solve cholesky_solve
_cholesky_solve_helper cholesky_inverse linalg_lu_solve lu_unpack linalg_lu_factor_ex linalg_inv_ex linalg_cholesky_ex
linalg_qr _linalg_svd _linalg_eigh geqrf linalg_householder_product ormqr
exp exp2 expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc lgamma floor
ceil round trunc reciprocal rsqrt sqrt sigmoid frac abs neg relu sign sgn bitwise_not signbit isnan isinf logical_not
round.decimals silu mish hardswish hardsigmoid gelu leaky_relu elu softplus log_sigmoid_forward gelu_backward
sigmoid_backward tanh_backward silu_backward mish_backward hardswish_backward hardsigmoid_backward threshold_backward
hardtanh_backward leaky_relu_backward elu_backward softplus_backward log_sigmoid_backward add.Tensor add.Scalar
sub.Tensor sub.Scalar rsub.Tensor rsub.Scalar mul.Tensor mul.Scalar div.Tensor div.Scalar floor_divide fmod.Tensor
fmod.Scalar remainder.Tensor remainder.Scalar maximum minimum fmax fmin atan2 hypot copysign.Tensor xlogy.Tensor
pow.Tensor_Tensor remainder.Scalar_Tensor div.Tensor_mode div.Scalar_mode pow.Tensor_Scalar pow.Scalar
bitwise_left_shift.Tensor bitwise_right_shift.Tensor eq.Tensor eq.Scalar ne.Tensor ne.Scalar lt.Tensor lt.Scalar
le.Tensor le.Scalar gt.Tensor gt.Scalar ge.Tensor ge.Scalar logical_and logical_or logical_xor bitwise_and.Tensor
bitwise_and.Scalar bitwise_or.Tensor bitwise_or.Scalar bitwise_xor.Tensor bitwise_xor.Scalar convolution
convolution_backward full scalar_tensor arange.start_step eye.m clone alias lift_fresh_copy _to_copy view squeeze
squeeze.dim squeeze.dims unsqueeze permute expand select.int slice.Tensor flip roll repeat cat stack constant_pad_nd
tril triu diagonal lazycore.dynamic_slice.default lazycore.dynamic_update_slice.default slice_scatter select_scatter
select_backward slice_backward embedding gather index_select take index.Tensor sum sum.dim_IntList prod prod.dim_int
mean mean.dim amax max amin min argmax argmin max.dim min.dim any any.dim any.dims all all.dim all.dims
count_nonzero.dim_IntList var_mean.correction var.correction std.correction logsumexp linalg_vector_norm norm.Scalar
norm.ScalarOpt_dim mse_loss smooth_l1_loss huber_loss mse_loss_backward smooth_l1_loss_backward huber_loss_backward
binary_cross_entropy binary_cross_entropy_backward binary_cross_entropy_with_logits nll_loss_forward
nll_loss2d_forward nll_loss_backward nll_loss2d_backward mm bmm mv dot addmm baddbmm addmv addbmm addr
_native_batch_norm_legit_functional _native_batch_norm_legit.no_stats native_batch_norm_backward native_layer_norm
native_layer_norm_backward native_group_norm native_group_norm_backward sort.stable topk cumsum cumprod
max_pool2d_with_indices max_pool2d_with_indices_backward avg_pool2d avg_pool2d_backward _adaptive_avg_pool2d
_adaptive_avg_pool2d_backward lazycore.philox.default scatter.src scatter.value scatter_add index_put index_add
index_copy index_fill.int_Scalar put embedding_dense_backward where.self masked_fill.Scalar masked_fill.Tensor clamp
clamp.Tensor hardtanh clamp_min clamp_min.Tensor clamp_max clamp_max.Tensor addcmul addcdiv lerp.Scalar lerp.Tensor
threshold _softmax _log_softmax _softmax_backward_data _log_softmax_backward_data
"""


def _overloads(text: str) -> list[str]:
    return [_overload(name) for name in text.split()]


def _overload(name: str) -> str:
    if name.startswith("lazycore."):
        return name
    return f"aten.{name}" if "." in name else f"aten.{name}.default"


_OWN = ["lazycore.dynamic_slice.default", "lazycore.dynamic_update_slice.default", "lazycore.philox.default"]

REQUIRED = [*_overloads(_NAMES), *_OWN]
EXTRA = {"reference": _overloads(_EXTRA_REFERENCE), "xla": _overloads(_EXTRA_XLA)}
"""Backend -> the ops it takes beyond the required ones. It is not asked for those that only another backend lists."""


PARTIAL = {"tvm": frozenset(_overloads(_TVM))}
"""Backend that takes only a part -> that part. It may leave single calls of these to others, by dtype or shape."""


def is_asked(backend: str, op: str) -> bool:
    """Whether the backend's lowering of the op is tested."""
    return op in PARTIAL[backend] if backend in PARTIAL else op in REQUIRED or op in EXTRA[backend]
