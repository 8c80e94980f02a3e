"""torch's transformer modules at inference, where they ask for whole layers as one op: the CPU's values, compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import lazycore

pytestmark = pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)

X = torch.randn(3, 6, 8, generator=torch.Generator().manual_seed(0))
FUTURE = torch.ones(6, 6, dtype=torch.bool).triu(1)
PADDING = torch.arange(6) >= torch.tensor([[4], [6], [1]])
NOTHING = torch.arange(6) >= torch.tensor([[0], [6], [1]])
MASKS: dict[str, tuple[torch.Tensor | None, torch.Tensor | None]] = {
    "none": (None, None),
    "future": (FUTURE, None),
    "padding": (None, PADDING),
    "both": (FUTURE, PADDING),
    "a row of padding": (None, NOTHING),
    "future as floats": (torch.zeros(6, 6).masked_fill(FUTURE, -torch.inf), None),
}


def values(make: Callable[[], nn.Module], call: Callable[..., Any], *tensors: torch.Tensor | None) -> list[Any]:
    """On the CPU and on the device, of one module; nothing of it ran in PyTorch."""
    found = []
    for device in ("cpu", "lazycore"):
        torch.manual_seed(1)
        module = make().eval().to(device)
        moved = [None if t is None else t.to(device) for t in tensors]
        lazycore.reset_metrics()
        with torch.no_grad():
            results = call(module, *moved)
        results = results if isinstance(results, tuple) else (results,)
        found.append([None if r is None else r.cpu() for r in results])
    assert lazycore.metrics()["fallbacks"] == {}
    return found


def layer(**options: Any) -> nn.TransformerEncoderLayer:
    return nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, **options)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("options", [{}, {"norm_first": True, "activation": "gelu"}], ids=("after", "before"))
def test_a_layer(options: dict[str, Any], mask: str) -> None:
    expected, got = values(
        lambda: layer(**options),
        lambda m, x, mask, padding: m(x, src_mask=mask, src_key_padding_mask=padding),
        X, *MASKS[mask],
    )  # fmt: skip
    torch.testing.assert_close(got, expected, equal_nan=True)


@pytest.mark.parametrize("mask", MASKS)
def test_an_encoder(mask: str) -> None:
    """torch nests the batch where all that is masked is padding behind the steps: 0 comes out there."""
    expected, got = values(
        lambda: nn.TransformerEncoder(layer(), 2),
        lambda m, x, mask, padding: m(x, mask=mask, src_key_padding_mask=padding),
        X, *MASKS[mask],
    )  # fmt: skip
    torch.testing.assert_close(got, expected, equal_nan=True)
    if mask == "padding":
        assert not got[0][PADDING].any()


@pytest.mark.parametrize("options", [{}, {"need_weights": False}, {"average_attn_weights": False}], ids=str)
@pytest.mark.parametrize("mask", ["none", "padding", "both"])
def test_attention_by_several_heads(mask: str, options: dict[str, bool]) -> None:
    expected, got = values(
        lambda: nn.MultiheadAttention(8, 2, batch_first=True),
        lambda m, x, mask, padding: m(x, x, x, attn_mask=mask, key_padding_mask=padding, **options),
        X, *MASKS[mask],
    )  # fmt: skip
    torch.testing.assert_close(got, expected)


def test_attention_of_other_keys() -> None:
    def call(m: Any, x: torch.Tensor, y: torch.Tensor) -> Any:
        projections = m.in_proj_weight, m.in_proj_bias, m.out_proj.weight, m.out_proj.bias
        return torch._native_multi_head_attention(x, y, y, 8, 2, *projections)

    expected, got = values(lambda: nn.MultiheadAttention(8, 2, batch_first=True), call, X, X.flip(1))
    torch.testing.assert_close(got, expected)


def test_a_nested_tensor_is_refused_and_the_modules_source_is_still_scripted() -> None:
    with pytest.raises(NotImplementedError, match="lazycore has no strided nested tensors"):
        torch._nested_tensor_from_mask(X.to("lazycore"), PADDING.logical_not().to("lazycore"))
    encoder = nn.TransformerEncoder(layer(), 2).eval()
    with torch.no_grad():
        torch.testing.assert_close(torch.jit.script(encoder)(X), encoder(X))
