"""Valid calls of every family of ops, with small shapes: what the table's rules are compared with torch over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from hypothesis import assume
from hypothesis import strategies as st

from .calls import CallOf, meta

Draw = Callable[[st.SearchStrategy[Any]], Any]

sizes = st.integers(0, 4)
positive = st.integers(1, 4)
shapes = st.lists(sizes, max_size=4).map(tuple)
filled = st.lists(positive, max_size=4).map(tuple)
flags = st.booleans()
dtypes = st.sampled_from([torch.float32, torch.float64, torch.bfloat16, torch.int32, torch.bool, torch.complex64])
floats = st.sampled_from([torch.float32, torch.float64])

FAMILIES: dict[str, st.SearchStrategy[CallOf]] = {}


def family(function: Callable[[Draw], CallOf]) -> Callable[[Draw], CallOf]:
    """Enter a function that draws a call as a family of its name."""
    FAMILIES[function.__name__] = st.composite(lambda draw: function(draw))()
    return function


def one_of(draw: Draw, *choices: Any) -> Any:
    return draw(st.sampled_from(choices))


def broadcastable(draw: Draw, count: int) -> list[tuple[int, ...]]:
    """Shapes that broadcast: one shape with leading sizes cut off and sizes replaced by 1."""
    whole = draw(shapes)

    def part() -> tuple[int, ...]:
        kept = whole[draw(st.integers(0, len(whole))) :]
        return tuple(one_of(draw, size, size, 1) for size in kept)

    return [part() for _ in range(count)]


def dim_of(draw: Draw, rank: int) -> int:
    return draw(st.integers(-(rank or 1), (rank or 1) - 1))


def dims_of(draw: Draw, rank: int) -> list[int]:
    """Some dimensions, each once, counted from either end."""
    chosen = draw(st.lists(st.integers(0, max(rank - 1, 0)), unique=True, max_size=max(rank, 1)))
    return [one_of(draw, d, d - (rank or 1)) for d in chosen]


@family
def unary(draw: Draw) -> CallOf:
    op, dtype = one_of(
        draw,
        ("abs.default", dtypes), ("neg.default", floats), ("sgn.default", dtypes), ("isnan.default", dtypes),
        ("relu.default", floats), ("round.decimals", floats), ("frexp.Tensor", floats), ("logical_not.default", dtypes),
        ("exp.default", floats), ("angle.default", floats), ("clone.default", dtypes),
        ("log_sigmoid_forward.default", floats),
        ("logit.default", floats), ("sinc.default", floats), ("special_entr.default", floats),
        ("detach.default", dtypes),
    )  # fmt: skip
    x = meta(*draw(shapes), dtype=draw(dtype))
    return CallOf(f"aten.{op}", (x,), {"decimals": 1} if op == "round.decimals" else {})


@family
def binary(draw: Draw) -> CallOf:
    op, dtype = one_of(
        draw,
        *((f"{n}.{v}", dtypes) for n in ("add", "mul", "eq", "ne") for v in ("Tensor", "Scalar")),
        *((f"{n}.{v}", floats) for n in ("div", "xlogy", "copysign", "fmod", "remainder") for v in ("Tensor",)),
        ("copysign.Scalar", floats), ("maximum.default", floats), ("atan2.default", floats), ("hypot.default", floats),
        ("logical_and.default", dtypes), ("pow.Tensor_Tensor", floats), ("pow.Tensor_Scalar", floats),
        ("lt.Scalar", floats),
        ("xlogy.Scalar_Other", floats), ("threshold_backward.default", floats),
        ("bitwise_left_shift.Tensor_Scalar", INTEGERS),
        ("bitwise_right_shift.Tensor_Scalar", INTEGERS), ("bitwise_and.Tensor", INTEGERS), ("complex.default", floats),
        ("polar.default", floats), ("special_zeta.default", floats), ("gelu_backward.default", floats),
    )  # fmt: skip
    dtype, (a, b) = draw(dtype), broadcastable(draw, 2)
    other = True if "Scalar" in op else meta(*b, dtype=dtype)
    more = (0.5,) if op == "threshold_backward.default" else ()
    return CallOf(f"aten.{op}", (meta(*a, dtype=dtype), other, *more))


INTEGERS = st.sampled_from([torch.int64, torch.uint8])


@family
def rounded_quotients(draw: Draw) -> CallOf:
    mode = one_of(draw, None, "trunc", "floor")
    dtype = draw(floats if mode is None else st.sampled_from([torch.int64, torch.float32]))
    a, b = broadcastable(draw, 2)
    op, other = one_of(draw, ("Tensor_mode", meta(*b, dtype=dtype)), ("Scalar_mode", 3))
    return CallOf(f"aten.div.{op}", (meta(*a, dtype=dtype), other), {"rounding_mode": mode})


@family
def ternary(draw: Draw) -> CallOf:
    op = one_of(
        draw, "where.self", "addcmul.default", "lerp.Tensor", "clamp.Tensor", "masked_fill.Scalar", "lerp.Scalar"
    )
    a, b, c = (meta(*shape) for shape in broadcastable(draw, 3))
    truth = meta(*b.shape, dtype=torch.bool)
    args = {"where.self": (truth, a, c), "masked_fill.Scalar": (a, truth, 1.0), "lerp.Scalar": (a, b, 0.5)}
    optional = (a, one_of(draw, b, None), c)
    return CallOf(f"aten.{op}", args.get(op, optional if op == "clamp.Tensor" else (a, b, c)))


@family
def reductions(draw: Draw) -> CallOf:
    op = one_of(
        draw, "sum.dim_IntList", "mean.dim", "amax.default", "logsumexp.default", "linalg_vector_norm.default",
        "norm.ScalarOpt_dim", "var.correction", "var_mean.correction", "any.dims", "all.dims",
        "count_nonzero.dim_IntList",
    )  # fmt: skip
    shape = draw(filled)
    dims, keepdim = dims_of(draw, len(shape)), draw(flags)
    x = meta(*shape, dtype=draw(floats))
    # An empty list is all dimensions to the CPU, which then wants keepdim; Meta kernels do not.
    assume(dims or keepdim or op != "logsumexp.default")
    if op in ("linalg_vector_norm.default", "norm.ScalarOpt_dim"):
        return CallOf(f"aten.{op}", (x, 2, dims, keepdim))
    if op == "count_nonzero.dim_IntList":
        return CallOf(f"aten.{op}", (x, dims))
    if "correction" in op:
        return CallOf(f"aten.{op}", (x, dims), {"correction": 1, "keepdim": keepdim})
    return CallOf(f"aten.{op}", (x, dims, keepdim))


@family
def whole_reductions(draw: Draw) -> CallOf:
    op = one_of(draw, "sum.default", "prod.default", "any.default", "all.default", "max.default", "median.default")
    if op in ("sum.default", "prod.default"):
        kwargs = {"dtype": one_of(draw, None, torch.float64)}
        return CallOf(f"aten.{op}", (meta(*draw(shapes), dtype=draw(dtypes)),), kwargs)
    dtype = (
        draw(st.sampled_from([torch.float32, torch.uint8])) if op in ("any.default", "all.default") else torch.float32
    )
    return CallOf(f"aten.{op}", (meta(*draw(filled), dtype=dtype),))


@family
def along_a_dimension(draw: Draw) -> CallOf:
    shape = draw(filled)
    dim, keepdim = dim_of(draw, len(shape)), draw(flags)
    op, args, kwargs = one_of(
        draw,
        ("max.dim", (dim, keepdim), {}), ("min.dim", (dim, keepdim), {}), ("argmax.default", (dim, keepdim), {}),
        ("argmin.default", (None, keepdim), {}), ("any.dim", (dim, keepdim), {}), ("prod.dim_int", (dim, keepdim), {}),
        ("median.dim", (dim, keepdim), {}), ("nanmedian.dim", (dim, keepdim), {}), ("mode.default", (dim, keepdim), {}),
        ("kthvalue.default", (1, dim, keepdim), {}), ("topk.default", (1, dim), {}), ("cumsum.default", (dim,), {}),
        ("sort.stable", (), {"stable": True, "dim": dim}), ("sort.default", (dim,), {}), ("cummax.default", (dim,), {}),
        ("logcumsumexp.default", (dim,), {}), ("_softmax.default", (dim, False), {}), ("squeeze.dim", (dim,), {}),
        ("count_nonzero.default", (dim,), {}),
    )  # fmt: skip
    return CallOf(f"aten.{op}", (meta(*shape), *args), kwargs)


@family
def products(draw: Draw) -> CallOf:
    n, m, k, b = (draw(sizes) for _ in range(4))
    scaled = {"beta": 1, "alpha": 2}
    op, args, kwargs = one_of(
        draw,
        ("mm.default", (meta(n, m), meta(m, k)), {}), ("bmm.default", (meta(b, n, m), meta(b, m, k)), {}),
        ("mv.default", (meta(n, m), meta(m)), {}), ("dot.default", (meta(n), meta(n)), {}),
        ("addmm.default", (meta(k), meta(n, m), meta(m, k)), scaled),
        ("addmm.default", (meta(1, 1), meta(n, m), meta(m, k)), scaled),
        ("baddbmm.default", (meta(b, 1, k), meta(b, n, m), meta(b, m, k)), scaled),
        ("addbmm.default", (meta(n, k), meta(b, n, m), meta(b, m, k)), scaled),
        ("addmv.default", (meta(n), meta(n, m), meta(m)), scaled),
        ("addr.default", (meta(n, m), meta(n), meta(m)), scaled),
        ("_cdist_forward.default", (meta(b, n, 3), meta(1, m, 3), 2.0, None), {}),
        ("_pdist_forward.default", (meta(n, 3), 2.0), {}),
    )  # fmt: skip
    return CallOf(f"aten.{op}", args, kwargs)


def convolution_arguments(draw: Draw) -> tuple[Any, ...]:
    rank, groups, transposed = draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(flags)
    ins, outs = groups * draw(st.integers(1, 2)), groups * draw(st.integers(1, 2))
    channels = (ins, outs // groups) if transposed else (outs, ins // groups)
    spread = st.lists(st.integers(1, 2), min_size=rank, max_size=rank)
    stride, dilation = draw(spread), draw(spread)
    padding = draw(st.lists(st.integers(0, 1), min_size=rank, max_size=rank))
    x = meta(draw(positive), ins, *(draw(st.integers(5, 7)) for _ in range(rank)))
    weight = meta(*channels, *(draw(st.integers(1, 3)) for _ in range(rank)))
    extra = [int(transposed and s > 1 and draw(flags)) for s in stride]
    return x, weight, outs, (stride, padding, dilation, transposed, extra, groups)


@family
def convolutions(draw: Draw) -> CallOf:
    x, weight, outs, geometry = convolution_arguments(draw)
    return CallOf("aten.convolution.default", (x, weight, one_of(draw, None, meta(outs)), *geometry))


@family
def convolution_gradients(draw: Draw) -> CallOf:
    x, weight, outs, geometry = convolution_arguments(draw)
    (result,) = CallOf("aten.convolution.default", (x, weight, None, *geometry)).results()
    mask = [draw(flags) for _ in range(3)]
    return CallOf("aten.convolution_backward.default", (result, x, weight, [outs], *geometry, mask))


@family
def pools(draw: Draw) -> CallOf:
    rank = draw(st.integers(2, 3))
    batch = draw(st.lists(positive, min_size=1, max_size=2))
    x = meta(*batch, *(draw(st.integers(4, 9)) for _ in range(rank)))
    kernel = [draw(st.integers(2, 3)) for _ in range(rank)]
    stride, padding = one_of(draw, [], [2], [draw(positive) for _ in kernel]), [draw(st.integers(0, 1)) for _ in kernel]
    ceil = draw(flags)
    op, args = one_of(
        draw,
        (f"max_pool{rank}d_with_indices.default", (kernel, stride, padding, [1], ceil)),
        (f"avg_pool{rank}d.default", (kernel, stride, padding, ceil)),
        (f"_adaptive_avg_pool{rank}d.default", (kernel,)),
        (f"adaptive_max_pool{rank}d.default", (kernel,)),
    )
    return CallOf(f"aten.{op}", (x, *args))


@family
def resizes(draw: Draw) -> CallOf:
    n = draw(st.integers(1, 3))
    x, out = meta(2, 3, *(draw(positive) for _ in range(n))), [draw(positive) for _ in range(n)]
    linear = {1: "upsample_linear1d", 2: "upsample_bilinear2d", 3: "upsample_trilinear3d"}[n]
    pad = [draw(st.integers(0, 2)) for _ in range(2 * n)]
    small = meta(2, 3, *(draw(st.integers(3, 5)) for _ in range(n)))
    op, args = one_of(
        draw,
        (f"upsample_nearest{n}d.default", (x, out)), (f"_upsample_nearest_exact{n}d.default", (x, out)),
        (f"{linear}.default", (x, out, False)), (f"reflection_pad{n}d.default", (small, pad)),
        (f"replication_pad{n}d.default", (small, pad)), ("constant_pad_nd.default", (small, pad)),
        ("upsample_nearest2d_backward.default", (meta(2, 3, 4, 4), [4, 4], [2, 3, 2, 2])),
        ("pixel_shuffle.default", (meta(1, 8, 2, 3), 2)), ("pixel_unshuffle.default", (meta(8, 4, 6), 2)),
        ("im2col.default", (meta(2, 3, 5, 6), [2, 3], [1, 1], [1, 0], [2, 1])),
        ("col2im.default", (meta(2, 12, 20), [5, 6], [2, 2], [1, 1], [0, 0], [1, 1])),
        ("grid_sampler_2d.default", (meta(2, 3, 4, 5), meta(2, 6, 7, 2), 0, 0, False)),
        ("grid_sampler_3d.default", (meta(2, 3, 4, 5, 6), meta(2, 6, 7, 8, 3), 0, 0, False)),
    )  # fmt: skip
    return CallOf(f"aten.{op}", (*args,))


@family
def views(draw: Draw) -> CallOf:
    shape = draw(filled)
    rank, dim = len(shape), dim_of(draw, len(shape))
    x = meta(*shape)
    order = draw(st.permutations(range(rank)))
    new = draw(st.integers(-rank - 1, rank))
    bound = st.none() | st.integers(-6, 6)
    wide = [*(draw(positive) for _ in range(draw(st.integers(0, 2)))), *(one_of(draw, -1, size) for size in shape)]
    op, args = one_of(
        draw,
        ("permute.default", (order,)), ("unsqueeze.default", (new,)), ("squeeze.default", ()),
        ("squeeze.dims", (dims_of(draw, rank),)), ("expand.default", (wide,)), ("view.default", ([-1],)),
        ("view.default", ([*shape, 1],)), ("reshape.default", ([-1, 1],)), ("flip.default", ([],)),
        ("repeat.default", ([2, *([1] * rank)],)), ("tril.default", ()), ("transpose.int", (dim, 0)),
        ("roll.default", ([1], [])),
        ("view.dtype", (torch.int32,)), ("view.dtype", (torch.uint8,)),
        *([("slice.Tensor", (dim, draw(bound), draw(bound), draw(positive))),
        ("select.int", (dim, 0))] if rank else []),
        *([("diagonal.default", (draw(st.integers(-4, 4)), 0, -1))] if rank > 1 else []),
    )  # fmt: skip
    assume(op != "tril.default" or rank > 1)
    assume(op != "view.dtype" or rank)
    return CallOf(f"aten.{op}", (x, *args))


@family
def joins(draw: Draw) -> CallOf:
    shape = draw(filled.filter(len))
    dim, count = dim_of(draw, len(shape)), draw(positive)
    if draw(flags):
        return CallOf("aten.stack.default", ([meta(*shape)] * count, draw(st.integers(-len(shape) - 1, len(shape)))))
    parts = [list(shape) for _ in range(count)]
    for part in parts:
        part[dim] = draw(sizes)
    empty = [meta(0)] if draw(flags) else []
    return CallOf("aten.cat.default", ([*empty, *(meta(*part) for part in parts)], dim))


@family
def written_gradients(draw: Draw) -> CallOf:
    op, args = one_of(
        draw,
        ("select_backward.default", (meta(2, 3), [2, 4, 3], 1, 0)),
        ("slice_backward.default", (meta(2, 3), [2, 4], 1, 0, 3, 1)),
        ("diagonal_backward.default", (meta(2), [2, 3], 0, 0, 1)),
        ("select_scatter.default", (meta(2, 3), meta(2), 1, 0)),
        ("slice_scatter.default", (meta(2, 3), meta(2, 2), 1, 0, 2, 1)),
        ("embedding_dense_backward.default", (meta(2, 3, 4), meta(2, 3, dtype=torch.int64), 7, -1, False)),
        ("native_dropout_backward.default", (meta(2, 3), meta(2, 3, dtype=torch.bool), 2.0)),
        ("_softmax_backward_data.default", (meta(2, 3), meta(2, 3), 1, torch.float32)),
        ("masked_scatter.default", (meta(2, 3), meta(3, dtype=torch.bool), meta(6))),
        ("copy.default", (meta(2, 3), meta(3, dtype=torch.int32))),
        ("fill.Tensor", (meta(2, 3), meta())), ("fill.Scalar", (meta(2, 3), 1)),
        ("full_like.default", (meta(2, 3), 1.0)), ("zeros_like.default", (meta(2, 3),)),
        ("ones_like.default", (meta(2),)),
        ("new_zeros.default", (meta(2), [3])), ("new_ones.default", (meta(2), [3])), ("t.default", (meta(2, 3),)),
        ("new_full.default", (meta(2), [3, 4], 1.0)), ("t.default", (meta(2),)),
        ("_unsafe_index.Tensor", (meta(2, 3), [meta(4, dtype=torch.int64)])),
        ("_unsafe_index_put.default", (meta(2, 3), [meta(4, dtype=torch.int64)], meta(3))),
    )  # fmt: skip
    return CallOf(f"aten.{op}", args)


@family
def indexed(draw: Draw) -> CallOf:
    shape = draw(filled.filter(len))
    rank = len(shape)
    dim, long = dim_of(draw, rank), torch.int64
    common = broadcastable(draw, rank)
    indices = [one_of(draw, None, meta(*common[i], dtype=long)) for i in range(draw(st.integers(1, rank)))]
    assume(any(index is not None for index in indices))
    vector = meta(draw(positive), dtype=long)
    smaller = meta(*(draw(st.integers(1, size)) for size in shape), dtype=long)
    source = list(shape)
    source[dim] = len(vector)
    op, args = one_of(
        draw,
        ("index.Tensor", (meta(*shape), indices)), ("index_select.default", (meta(*shape), dim, vector)),
        ("gather.default", (meta(*shape), dim, smaller)), ("take.default", (meta(*shape), vector)),
        ("scatter.value", (meta(*shape), dim, smaller, 1.0)),
        ("scatter_add.default", (meta(*shape), dim, smaller, meta(*shape))),
        ("index_add.default", (meta(*shape), dim, vector, meta(*source))),
        ("put.default", (meta(*shape), vector, meta(len(vector)))),
        ("embedding.default", (meta(5, 3), smaller)), ("index_fill.int_Scalar", (meta(*shape), dim, vector, 1.0)),
        ("index_fill.int_Tensor", (meta(*shape), dim, vector, meta())),
        ("searchsorted.Tensor", (meta(5), meta(*shape))), ("bucketize.Tensor", (meta(*shape), meta(5))),
    )  # fmt: skip
    return CallOf(f"aten.{op}", args)


@family
def factories(draw: Draw) -> CallOf:
    start, end, step = (draw(st.integers(-5, 5)) for _ in range(3))
    step = abs(step or 1) * (1 if end >= start else -1)
    scale = draw(st.sampled_from([1, 0.3]))
    dtype = draw(st.sampled_from([torch.int64, torch.float32, torch.int32]))
    rows, columns, offset = draw(sizes), draw(sizes), draw(st.integers(-5, 5))
    assume(scale == 1 or dtype is torch.float32)
    op, args, dtype = one_of(
        draw,
        ("arange.start_step", (start * scale, end * scale, step * scale), dtype),
        ("arange.start", (-abs(start) * scale, abs(end) * scale), dtype),
        ("arange.default", (abs(end) * scale,), dtype),
        ("zeros.default", ([rows, columns],), dtype), ("ones.default", ([rows],), dtype),
        ("linspace.default", (0, 1, rows), torch.float32), ("eye.m", (rows, columns), torch.float32),
        ("eye.default", (rows,), torch.float32), ("full.default", ([rows, columns], 1), dtype),
        ("scalar_tensor.default", (1,), dtype), ("tril_indices.default", (rows, columns, offset), torch.int64),
        ("triu_indices.default", (rows, columns, offset), torch.int64),
    )  # fmt: skip
    return CallOf(f"aten.{op}", args, {"dtype": dtype})


@family
def norms(draw: Draw) -> CallOf:
    # More than one value per channel: of one alone there is no variance to train on.
    n, c, s, training = draw(positive), draw(positive), draw(st.integers(2, 4)), draw(flags)
    x, vector = meta(n, 2 * c, s), meta(2 * c)
    inner = one_of(draw, [s], [2 * c, s])
    mask = [draw(flags) for _ in range(3)]
    stats = meta(n, *([1] * len(inner))) if len(inner) == 2 else meta(n, 2 * c, 1)
    op, args = one_of(
        draw,
        ("native_layer_norm.default", (x, inner, None, None, 1e-5)),
        ("native_layer_norm_backward.default", (x, x, inner, stats, stats, meta(*inner), meta(*inner), mask)),
        ("native_group_norm.default", (x, vector, vector, n, 2 * c, s, 2, 1e-5)),
        ("native_group_norm_backward.default", (x, x, meta(n, 2), meta(n, 2), vector, n, 2 * c, s, 2, mask)),
        ("_native_batch_norm_legit_functional.default", (x, vector, vector, vector, vector, training, 0.1, 1e-5)),
        ("_native_batch_norm_legit.no_stats", (x, vector, vector, True, 0.1, 1e-5)),
        ("_native_batch_norm_legit_no_training.default", (x, vector, vector, vector, vector, 0.1, 1e-5)),
        ("native_batch_norm_backward.default", (x, x, vector, vector, vector, vector, vector, True, 1e-5, mask)),
    )
    return CallOf(f"aten.{op}", args)


@family
def losses(draw: Draw) -> CallOf:
    n, c, reduction = draw(positive), draw(positive), draw(st.integers(0, 2))
    a, b = (meta(*shape) for shape in broadcastable(draw, 2))
    target, plane = meta(n, dtype=torch.int64), meta(n, 2, 3, dtype=torch.int64)
    op, args = one_of(
        draw,
        ("mse_loss.default", (a, b, reduction)), ("smooth_l1_loss.default", (a, b, reduction)),
        ("huber_loss.default", (a, b, reduction)), ("binary_cross_entropy.default", (a, a, None, reduction)),
        ("binary_cross_entropy_with_logits.default", (a, a, None, None, reduction)),
        ("nll_loss_forward.default", (meta(n, c), target, None, reduction, -100)),
        ("nll_loss_forward.default", (meta(c), meta(dtype=torch.int64), None, reduction, -100)),
        ("nll_loss2d_forward.default", (meta(n, c, 2, 3), plane, None, reduction, -100)),
        ("mse_loss_backward.default", (meta(), a, a, reduction)),
    )  # fmt: skip
    return CallOf(f"aten.{op}", args)


@family
def spectra(draw: Draw) -> CallOf:
    shape = draw(filled.filter(len))
    dim = [draw(st.integers(0, len(shape) - 1))]
    real, whole = meta(*shape), meta(*shape, dtype=torch.complex64)
    return CallOf(*one_of(
        draw,
        ("aten._fft_c2c.default", (whole, dim, 0, True)), ("aten._fft_r2c.default", (real, dim, 0, draw(flags))),
        ("aten._fft_c2r.default", (whole, dim, 0, draw(positive))),
    ))  # fmt: skip


@family
def factorizations(draw: Draw) -> CallOf:
    batch, n, m, k = draw(filled)[:2], draw(positive), draw(positive), draw(positive)
    square, wide, right, vector = meta(*batch, n, n), meta(*batch, n, m), meta(*batch, n, k), meta(*batch, n)
    pivots = meta(*batch, n, dtype=torch.int32)
    reflectors = meta(*batch, min(n, m))
    yes = draw(flags)
    op, args, kwargs = one_of(
        draw,
        ("linalg_cholesky_ex", (square,), {}), ("linalg_inv_ex", (square,), {}), ("linalg_lu_factor_ex", (wide,), {}),
        ("linalg_lu", (wide,), {"pivot": True}), ("lu_unpack", (square, pivots, yes, True), {}),
        ("linalg_lu_solve", (square, pivots, right), {}), ("_linalg_solve_ex", (square, right), {}),
        ("_linalg_solve_ex", (square, vector), {}), ("linalg_solve_triangular", (square, right), {"upper": yes}),
        ("triangular_solve", (right, square), {}), ("linalg_qr", (wide, one_of(draw, "reduced", "complete", "r")), {}),
 ("_linalg_svd", (wide, yes, True), {}), ("_linalg_svd", (wide, False, False), {}),
        ("_linalg_eigh", (square, "L", yes), {}), ("linalg_eig", (square,), {}), ("cholesky_inverse", (square,), {}),
        ("linalg_householder_product", (meta(*batch, n + m, min(n, m)), reflectors), {}),
    )  # fmt: skip
    return CallOf(f"aten.{op}.default", args, kwargs)
