"""The nodes that common views take: few, idle ones never, and a gather for none that nests."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from lazycore.compiler.geometry import plan_view

from .oracle import Ints, base_tensor, geometry, read_ops, write_ops

View = Callable[[torch.Tensor], torch.Tensor]
NHWC = (0, 2, 3, 1)


def short(ops: list[str]) -> str:
    return " ".join(op.split(".")[1] for op in ops)


PLANS: list[tuple[Ints, Ints | None, str, View, str, str]] = [
    ((6, 8), None, "itself", lambda x: x, "", ""),
    ((6, 8), None, "t", lambda x: x.t(), "permute", "permute"),
    ((6, 8), None, "view", lambda x: x.view(3, 2, 8), "view", "view"),
    ((6, 8), None, "unsqueeze", lambda x: x.unsqueeze(1), "view", "view"),
    ((6, 8), None, "row", lambda x: x[2], "slice view", "view slice_scatter"),
    ((6, 8), None, "column", lambda x: x[:, 3], "slice view", "view slice_scatter"),
    ((6, 8), None, "rows", lambda x: x[2:4], "slice", "slice_scatter"),
    ((6, 8), None, "columns", lambda x: x[:, 5:], "slice", "slice_scatter"),
    ((6, 8), None, "every other row", lambda x: x[::2], "slice", "slice_scatter"),
    ((6, 8), None, "every third column", lambda x: x[:, 1::3], "slice", "slice_scatter"),
    ((6, 8), None, "box", lambda x: x[1:3, 2:5], "slice slice", "dynamic_update_slice"),
    ((6, 8), None, "grid", lambda x: x[::2, ::3], "slice slice", "slice slice_scatter slice_scatter"),
    ((6, 8), None, "flat part", lambda x: x.view(-1)[2:14], "view slice", "view slice_scatter view"),
    ((6, 8), None, "diagonal", lambda x: x.diagonal(), "view slice", "view slice_scatter view"),
    ((6, 8), None, "one element", lambda x: x[2, 3], "slice slice view", "view dynamic_update_slice"),
    ((4, 3, 8, 5), None, "element of four", lambda x: x[1, 2, 3, 4], "view slice view", "view view slice_scatter view"),
    ((6, 8), None, "nothing", lambda x: x[:0], "slice", ""),
    ((6, 1), None, "expanded", lambda x: x.expand(6, 4), "expand", "slice"),
    ((6,), None, "repeated", lambda x: x.expand(4, 6), "expand", "slice view"),
    ((), None, "filled", lambda x: x.expand(2, 3), "expand", "slice slice view"),
    ((6, 8), None, "unfold that tiles", lambda x: x.unfold(1, 4, 4), "view", "view"),
    ((6, 8), (1, 0), "row of a transposed base", lambda x: x[2], "slice view", "view slice_scatter"),
    ((2, 3, 4, 6), NHWC, "itself", lambda x: x, "", ""),
    ((2, 3, 4, 6), NHWC, "channel", lambda x: x[:, 1], "slice view", "view slice_scatter"),
    ((2, 3, 4, 6), NHWC, "channels", lambda x: x[:, 1:3], "slice", "slice_scatter"),
    ((2, 3, 4, 6), NHWC, "nhwc", lambda x: x.permute(0, 2, 3, 1), "permute", "permute"),
    ((2, 3, 4, 6), NHWC, "flatten hw", lambda x: x.flatten(2), "view", "view"),
    ((2, 3, 4, 6), NHWC, "regroup hw", lambda x: x.flatten(2).unflatten(2, (3, 8)), "view", "view"),
    ((2, 3, 4, 6), NHWC, "tokens", lambda x: x.flatten(2).transpose(1, 2), "permute view", "view permute"),
    ((2, 3, 4, 6), NHWC, "crop", lambda x: x[..., 1:3, 2:4], "slice slice", "dynamic_update_slice"),
    ((2, 6, 12), None, "split heads", lambda x: x.view(2, 6, 3, 4).transpose(1, 2), "view permute", "permute view"),
    (
        (2, 6, 36),
        None,
        "heads of k",
        lambda x: x[:, :, 12:24].view(2, 6, 3, 4).transpose(1, 2),
        "slice view permute",
        "permute view slice_scatter",
    ),
    (
        (3, 2, 6, 4),
        (1, 0, 2, 3),
        "part of merged axes",
        lambda x: x.flatten(2)[..., 2:14],
        "view slice",
        "view slice_scatter view",
    ),
    (
        (3, 2, 8, 5),
        (1, 0, 2, 3),
        "part of regrouped axes",
        lambda x: x.unflatten(2, (4, 2)).flatten(3)[..., 3:7],
        "view slice",
        "view slice_scatter view",
    ),
    ((4, 3, 8, 5), None, "cache row", lambda x: x[:, :, 3:4], "slice", "slice_scatter"),
    ((4, 3, 8, 5), None, "movedim", lambda x: x.movedim(0, -1), "permute", "permute"),
    (
        (6, 8),
        None,
        "unfold that overlaps",
        lambda x: x.unfold(1, 3, 1),
        "arange view arange view arange add add take",
        "arange view arange view arange add add put",
    ),
]


@pytest.mark.parametrize("case", PLANS, ids=lambda case: f"{case[0]}-{case[2]}".replace(" ", "-"))
def test_nodes(case: tuple[Ints, Ints | None, str, View, str, str]) -> None:
    size, order, _, view_of, read, write = case
    base = base_tensor(size, order)
    view = view_of(base)
    recipe = plan_view(*geometry(base), *geometry(view), view.storage_offset())
    assert short(read_ops(base, view, recipe)) == read
    assert short(write_ops(base, view, recipe)) == write
    assert recipe.is_identity == (not read)


NESTED: list[tuple[str, Ints, View]] = [
    ("window without divisors", (67,), lambda x: x[2:62].view(10, 6)[::3, :4]),
    ("common stride", (22,), lambda x: x[::3].view(2, 4)[:, :3]),
    ("offset flat", (35,), lambda x: x[2:14].view(3, 4)[:, 1:3]),
    ("deep", (3, 35), lambda x: x[:, 2:32].unflatten(1, (5, 6))[:, :, 1:5].unflatten(2, (2, 2))[::2, ::2, :, 1]),
    ("phase of the faster axes", (31,), lambda x: x.as_strided((2, 2, 3), (15, 8, 2), 2)),
    ("batched diagonal", (3, 4, 6), lambda x: x.diagonal(1, 1, 2)),
    ("split", (12, 10), lambda x: x.split(4)[2].split(3, 1)[1]),
    ("unbind", (3, 4, 5), lambda x: x.unbind(1)[2]),
    ("chunk and narrow", (9, 8), lambda x: x.chunk(2, 1)[1].narrow(0, 2, 5)),
    ("everything", (4, 6, 10), lambda x: x.movedim(0, 2)[1::2, 2:9:3].squeeze().unsqueeze(1).expand(-1, 2, -1, -1)),
]


@pytest.mark.parametrize(("size", "view_of"), [case[1:] for case in NESTED], ids=[name for name, *_ in NESTED])
def test_no_gather(size: Ints, view_of: View) -> None:
    base = base_tensor(size)
    view = view_of(base)
    recipe = plan_view(*geometry(base), *geometry(view), view.storage_offset())
    assert not recipe.gathers
    read_ops(base, view, recipe)
    write_ops(base, view, recipe)
