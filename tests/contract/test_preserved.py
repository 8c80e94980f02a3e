"""Composite ops that a vendor preserves: whole where it takes them, taken apart where not, with right gradients."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from vendorkit.vendor import Vendor

import lazycore
from lazycore.frontend.local import local
from lazycore.plugins import PluginWarning

F = torch.nn.functional


def preserves(*names: str) -> str:
    return (
        f"\nTAKES = {{'aten.linear.default'}}\n@hookimpl\ndef lazycore_preserve_ops(target): return {list(names)!r}\n"
    )


LINEAR, ATTENTION, NORM = (
    "aten.linear.default", "aten.scaled_dot_product_attention.default", "aten.layer_norm.default",
)  # fmt: skip


def ops(vendor: Vendor) -> list[str]:
    return [node.op for segment in vendor.segments for node in segment.nodes]


def results(device: str) -> list[torch.Tensor]:
    """A layer, attention and normalization, with first and second derivatives."""
    torch.manual_seed(0)
    layer = torch.nn.Linear(8, 4).to(device)
    x = torch.randn(2, 8).to(device).requires_grad_()
    q, k = (torch.randn(1, 2, 4, 8).to(device).requires_grad_() for _ in range(2))
    y = F.layer_norm(layer(x), (4,)).square().sum() + F.scaled_dot_product_attention(q, k, k).square().sum()
    y.backward()
    (first,) = torch.autograd.grad(layer(x).pow(3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.square().sum(), x)
    return [t.detach().cpu() for t in (y, layer.weight.grad, layer.bias.grad, q.grad, k.grad, first, second)]


def test_what_is_claimed_arrives_whole_and_what_is_not_is_decomposed(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(preserves(LINEAR, ATTENTION, NORM))
    with lazycore.use_backend("acme,reference"):
        torch.testing.assert_close(results("lazycore"), results("cpu"))
        assert lazycore.metrics()["fallbacks"] == {}
    assert set(ops(acme)) == {LINEAR}
    assert ATTENTION in acme.calls("lazycore_supports")


def test_without_the_hook_nobody_is_asked_about_the_composite(vendor: Callable[..., Vendor]) -> None:
    acme = vendor("\nTAKES = {'aten.linear.default'}")
    with lazycore.use_backend("acme,reference"):
        torch.testing.assert_close(results("lazycore"), results("cpu"))
    assert LINEAR not in acme.calls("lazycore_supports")


def test_another_selection_takes_them_apart_again(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(preserves(LINEAR))
    plain = vendor("\nTAKES = {'aten.linear.default'}", name="plain")
    with lazycore.use_backend("acme,reference"):
        results("lazycore")
    with lazycore.use_backend("plain,reference"):
        torch.testing.assert_close(results("lazycore"), results("cpu"))
    assert LINEAR in ops(acme)
    assert LINEAR not in plain.calls("lazycore_supports")


def recorded() -> int:
    """How many calls a layer leaves in the trace, both ways, on a backend that preserves nothing."""
    with lazycore.use_backend("reference"):
        layer, x = torch.nn.Linear(8, 4).to("lazycore"), torch.randn(2, 8).to("lazycore").requires_grad_()
        lazycore.sync()
        layer(x).sum().backward()
        depth: int = local.trace.node.depth
        lazycore.sync()
        return depth


def test_what_was_preserved_is_recorded_as_before(vendor: Callable[..., Vendor]) -> None:
    whole = 4  # the layer, the sum, the sum's gradient and the layer's
    assert recorded() == whole
    vendor(preserves(LINEAR, ATTENTION, NORM))
    with lazycore.use_backend("acme,reference"):
        results("lazycore")
    assert recorded() == whole
    torch.testing.assert_close(results("lazycore"), results("cpu"))


def test_no_gradient_is_computed_where_none_is_wanted(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(preserves(LINEAR))
    x, w = torch.randn(2, 4), torch.randn(3, 4)
    with lazycore.use_backend("acme,reference"), torch.no_grad():
        torch.testing.assert_close(F.linear(x.to("lazycore"), w.to("lazycore")).cpu(), F.linear(x, w))
        with torch.inference_mode():
            torch.testing.assert_close(F.linear(x.to("lazycore"), w.to("lazycore")).cpu(), F.linear(x, w))
    assert set(ops(acme)) == {LINEAR}


def test_attention_with_dropout_is_not_preserved(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(preserves(ATTENTION))
    q = torch.randn(1, 2, 4, 8)
    with lazycore.use_backend("acme,reference"):
        y = F.scaled_dot_product_attention(*[q.to("lazycore")] * 3, dropout_p=0.5)
        assert torch.isfinite(y.cpu()).all()
    assert ATTENTION not in acme.calls("lazycore_supports")


def test_a_name_that_is_no_op_is_a_warning(vendor: Callable[..., Vendor]) -> None:
    vendor(preserves("aten.lineer.default", LINEAR, "linear"))
    with pytest.warns(PluginWarning) as warned:
        selection = lazycore.use_backend("acme,reference")
    texts = [str(w.message) for w in warned]
    assert ["'aten.lineer.default'" in texts[0], "'linear'" in texts[1], len(texts)] == [True, True, 2]
    assert "backend 'acme': lazycore_preserve_ops names" in texts[0]
    with selection:
        torch.testing.assert_close(results("lazycore"), results("cpu"))


def test_a_hook_that_fails_is_a_warning_and_preserves_nothing(vendor: Callable[..., Vendor]) -> None:
    acme = vendor("\n@hookimpl\ndef lazycore_preserve_ops(target): return 1 // 0")
    with pytest.warns(PluginWarning, match="'acme': lazycore_preserve_ops raised ZeroDivisionError"):
        selection = lazycore.use_backend("acme,reference")
    with selection:
        torch.testing.assert_close(results("lazycore"), results("cpu"))
    assert LINEAR not in acme.calls("lazycore_supports")


def test_a_classifier_trains_on_a_backend_of_few_operators(vendor: Callable[..., Vendor]) -> None:
    """The loss's gradient is decomposed; its indices stay integers."""
    target = torch.tensor([0, 2, 1, 1])
    gradients = []
    with lazycore.use_backend(vendor("TAKES |= {'aten.scatter.value'}\n").name):
        for device in ("cpu", "lazycore"):
            x = torch.linspace(-1, 1, 12).reshape(4, 3).to(device).requires_grad_()
            torch.nn.functional.cross_entropy(x, target.to(device)).backward()
            assert x.grad is not None
            gradients.append(x.grad.cpu())
    torch.testing.assert_close(*gradients)
