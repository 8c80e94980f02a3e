"""Every op that PyTorch's operator database reaches, forward and backward, against the opset's table."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from lazycore_plugin_api import node_text
from lazycore_plugin_api.opset import OPSET
from lazycore_plugin_api.opset.inference import fault_of
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from lazycore.frontend.infer import compute_dtype
from lazycore.frontend.schema import info_of

from .calls import CallOf

SAMPLES = 4
ENOUGH = 40
"""Calls that are looked at of one op and dtype: `mul` is called by nearly every sample."""
DTYPES = [torch.float32, torch.bfloat16, torch.complex64, torch.int64, torch.bool]


class Checking(TorchDispatchMode):
    """Compares each call that has a row with what the row says of it, operands cast as the IR's builder does."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()
        self.faults: dict[str, str] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        results = func(*args, **kwargs)
        name = str(func)
        if name in OPSET and self.seen[name] < ENOUGH:
            self.seen[name] += 1
            self._check(name, func, args, kwargs, results)
        return results

    def _check(self, name: str, func: Any, args: Any, kwargs: Any, results: Any) -> None:
        info = info_of(func)
        given = {a.name: x for a, x in zip(info.args, args, strict=False)} | kwargs
        dtype = compute_dtype(info, given)
        cast = {a.name for a in info.args if dtype is not None and info.row.promotion.value != "none"}
        operands = set(info.row.operands) or cast

        def argument(key: str, kind: str, x: Any) -> Any:
            if type(x) in (bool, int, float, complex) and "Tensor" in kind:
                x = torch.tensor(x)
            promoted = isinstance(x, torch.Tensor) and key in cast & operands
            if isinstance(x, (tuple, list)):
                return [argument(key, kind, item) for item in x]
            return torch.empty(x.shape, dtype=dtype, device="meta") if promoted else x

        kinds = {a.name: a.kind for a in info.args}
        named = {key: argument(key, kinds[key], x) for key, x in given.items()}
        made = tuple(results) if isinstance(results, (tuple, list)) else (results,)
        node = CallOf(name, (), named).node(made)
        fault = fault_of(node, static=True)
        if fault is not None:
            self.faults.setdefault(name, f"{node_text(node)} {fault}")


def calls(dtype: torch.dtype) -> Iterator[tuple[Any, Any]]:
    """Ops of the database and samples of this dtype."""
    for op in op_db:
        if dtype in op.supported_dtypes("cpu") and not op.name.startswith("jiterator"):
            backward = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
            samples = op.sample_inputs("cpu", dtype, requires_grad=backward and dtype not in (torch.int64, torch.bool))
            for _, sample in zip(range(SAMPLES), samples, strict=False):
                yield op, sample


def run(op: Any, sample: Any) -> None:
    """Forward, and backward from every dense result."""
    results = op(sample.input, *sample.args, **sample.kwargs)
    tensors = [r for r in tree_leaves(results) if isinstance(r, torch.Tensor) and r.layout is torch.strided]
    wanted = [r for r in tensors if r.requires_grad]
    if wanted:
        torch.autograd.backward(wanted, tree_map(torch.ones_like, wanted))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_table_fits_what_pytorch_does(dtype: torch.dtype) -> None:
    checking, refused = Checking(), set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for op, sample in calls(dtype):
            try:
                with checking:
                    run(op, sample)
            except RuntimeError as error:
                # PyTorch has no kernel for some gradients of sparse matrices; that says nothing of the table.
                refused.add(f"{op.name}: {error}"[:200])
    assert checking.faults == {}
    assert len(refused) < 10, refused
    assert len(checking.seen) > 100
