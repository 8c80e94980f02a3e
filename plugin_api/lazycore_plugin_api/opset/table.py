"""The rows."""

from __future__ import annotations

from lazycore_plugin_api.opset.row import IndexOperand, OpRow, Promotion

__all__ = ["OPSET"]


def _rows(names: str, promotion: Promotion, operands: str = "", lift: str = "") -> list[OpRow]:
    return [OpRow(f"aten.{n}", promotion, tuple(operands.split()), tuple(lift.split())) for n in names.split()]


_COMMON, _FLOAT, _KEEP = Promotion.common, Promotion.floating, Promotion.none

_ELEMENTWISE = [
    *_rows("add.Tensor sub.Tensor rsub.Tensor", _COMMON, "self other", "other alpha"),
    *_rows("add.Scalar sub.Scalar rsub.Scalar", _COMMON, "self other", "other alpha"),
    *_rows("mul.Tensor mul.Scalar", _COMMON, "self other", "other"),
    *_rows("div.Tensor div.Scalar", _FLOAT, "self other", "other"),
    *_rows("div.Tensor_mode div.Scalar_mode", Promotion.quotient, "self other"),
    *_rows("maximum.default minimum.default fmax.default fmin.default", _COMMON),
    *_rows("fmod.Tensor remainder.Tensor floor_divide.default", _COMMON, "self other"),
    *_rows("fmod.Scalar remainder.Scalar remainder.Scalar_Tensor floor_divide.Scalar", _COMMON, "self other"),
    *_rows("pow.Tensor_Tensor pow.Tensor_Scalar pow.Scalar", _COMMON, "self exponent"),
    *_rows("atan2.default xlogy.Tensor xlogy.Scalar_Self xlogy.Scalar_Other", _FLOAT, "self other"),
    *_rows("copysign.Tensor copysign.Scalar", _FLOAT, "self other"),
    *_rows("hypot.default nextafter.default gcd.default lcm.default", _COMMON),
    *_rows("eq.Tensor ne.Tensor lt.Tensor le.Tensor gt.Tensor ge.Tensor", _COMMON, "self other", "other"),
    *_rows("eq.Scalar ne.Scalar lt.Scalar le.Scalar gt.Scalar ge.Scalar", _COMMON, "self other", "other"),
    *_rows("bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor", _COMMON, "self other"),
    *_rows("bitwise_and.Scalar bitwise_or.Scalar bitwise_xor.Scalar", _COMMON, "self other"),
    *_rows("bitwise_left_shift.Tensor bitwise_right_shift.Tensor", _COMMON, "self other"),
    *_rows("bitwise_left_shift.Tensor_Scalar bitwise_right_shift.Tensor_Scalar", _COMMON, "self other"),
    *_rows("where.self", _COMMON, "self other", "self other"),
    *_rows("clamp.default", _COMMON, "self min max", "min max"),
    *_rows("clamp.Tensor", _COMMON, "self min max"),
    *_rows("clamp_min.default clamp_min.Tensor", _COMMON, "self min", "min"),
    *_rows("clamp_max.default clamp_max.Tensor", _COMMON, "self max", "max"),
    *_rows("addcmul.default addcdiv.default", _COMMON, "self tensor1 tensor2", "value"),
    *_rows("lerp.Scalar lerp.Tensor", _COMMON, "self end", "weight"),
    *_rows("masked_fill.Scalar", _KEEP, "", "value"),
    *_rows("masked_fill.Tensor", _COMMON, "self"),
    *_rows("threshold.default threshold_backward.default", _COMMON),
    *_rows(
        "sqrt.default rsqrt.default reciprocal.default exp.default exp2.default expm1.default log.default log2.default"
        " log10.default log1p.default sin.default cos.default tan.default asin.default acos.default atan.default"
        " sinh.default cosh.default tanh.default asinh.default acosh.default atanh.default sigmoid.default erf.default"
        " erfc.default erfinv.default lgamma.default digamma.default logit.default i0.default sinc.default"
        " special_ndtri.default special_log_ndtr.default special_entr.default special_erfcx.default"
        " logsumexp.default special_i0e.default special_i1.default special_i1e.default special_bessel_j0.default"
        " special_bessel_j1.default special_bessel_y0.default special_bessel_y1.default"
        " special_modified_bessel_i0.default special_modified_bessel_i1.default special_modified_bessel_k0.default"
        " special_modified_bessel_k1.default special_scaled_modified_bessel_k0.default"
        " special_scaled_modified_bessel_k1.default special_spherical_bessel_j0.default special_airy_ai.default"
        " polygamma.default angle.default",
        _FLOAT,
    ),
    *_rows(
        " ".join(
            f"special_{name}.default"
            for name in (
                "zeta",
                "hermite_polynomial_h",
                "hermite_polynomial_he",
                "laguerre_polynomial_l",
                "legendre_polynomial_p",
                *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
            )
        ),
        _FLOAT,
    ),
    *_rows("igamma.default igammac.default", _COMMON),
    *_rows(
        "mse_loss.default mse_loss_backward.default smooth_l1_loss.default smooth_l1_loss_backward.default"
        " huber_loss.default huber_loss_backward.default binary_cross_entropy_with_logits.default"
        " sigmoid_backward.default tanh_backward.default gelu_backward.default silu_backward.default"
        " mish_backward.default hardtanh_backward.default hardswish_backward.default hardsigmoid_backward.default"
        " elu_backward.default softplus_backward.default leaky_relu_backward.default log_sigmoid_backward.default",
        _COMMON,
    ),
    *_rows("cat.default", _COMMON),
    *_rows("full.default", _KEEP, "", "fill_value"),
]

_INDEXED = [
    OpRow("aten.embedding.default", index=(IndexOperand("indices", "weight", 0),)),
    OpRow("aten._embedding_bag.default", index=(IndexOperand("indices", "weight", 0),)),
    OpRow("aten._embedding_bag_forward_only.default", index=(IndexOperand("indices", "weight", 0),)),
    OpRow("aten.index_select.default", index=(IndexOperand("index", "self", "dim"),)),
    OpRow("aten.gather.default", index=(IndexOperand("index", "self", "dim"),)),
    OpRow("aten.scatter.src", index=(IndexOperand("index", "self", "dim"),)),
    OpRow("aten.scatter.value", lift=("value",), index=(IndexOperand("index", "self", "dim"),)),
    OpRow("aten.scatter_add.default", index=(IndexOperand("index", "self", "dim"),)),
    OpRow("aten.scatter_reduce.two", index=(IndexOperand("index", "self", "dim"),)),
    OpRow("aten.index_add.default", index=(IndexOperand("index", "self", "dim"),)),
    OpRow("aten.index_copy.default", index=(IndexOperand("index", "self", "dim"),)),
    OpRow("aten.index_fill.int_Scalar", index=(IndexOperand("index", "self", "dim", negative=True),)),
    OpRow("aten.index.Tensor", index=(IndexOperand("indices", "self", "each", negative=True),)),
    OpRow("aten.index_put.default", index=(IndexOperand("indices", "self", "each", negative=True),)),
    OpRow("aten.take.default", index=(IndexOperand("index", "self", "flat", negative=True),)),
    OpRow("aten.put.default", index=(IndexOperand("index", "self", "flat", negative=True),)),
]

OPSET: dict[str, OpRow] = {row.name: row for row in (*_ELEMENTWISE, *_INDEXED)}
