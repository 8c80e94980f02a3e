"""The patterns on real modules, and what is made of frozen weights."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
import torch
from lazycore_openvino import plugin
from lazycore_openvino.program import Program
from lazycore_plugin_api import Artifact, ArtifactMeta, CompileContext, HostArray, HostSession, Segment, Target

import lazycore


class Block(torch.nn.Module):
    """Convolution, normalization, sum, relu; each of them may be missing."""

    def __init__(self, parts: str) -> None:
        super().__init__()
        self.parts = parts
        self.convolution = torch.nn.Conv2d(3, 3, 3, padding=1, bias="b" in parts)
        self.normalization = torch.nn.BatchNorm2d(3)
        for tensor in (self.normalization.weight, self.normalization.running_var):
            torch.nn.init.uniform_(tensor, 0.5, 1.5)
        for tensor in (self.normalization.bias, self.normalization.running_mean):
            torch.nn.init.normal_(tensor)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.convolution(x)
        y = self.normalization(y) if "n" in self.parts else y
        y = x + y if "s" in self.parts else y
        return y.relu() if "r" in self.parts else y


def composites() -> Counter[str]:
    """Composites of the last plan."""
    steps = lazycore.explain().plans[-1].steps
    return Counter(op for step in steps for op, n in step.ops.items() for _ in range(n) if op.endswith(".composite"))


@pytest.mark.usefixtures("selection")
@pytest.mark.parametrize("parts", ["n", "nr", "nsr", "bn", "bnsr", "br", "bs", "s", "r"])
def test_convolutions_with_what_follows_them(parts: str) -> None:
    block = Block(parts).eval()
    x = torch.randn(2, 3, 5, 6)
    with torch.no_grad():
        expected = block(x)
        block.to("lazycore")
        for _ in range(6):
            torch.testing.assert_close(block(x.to("lazycore")).cpu(), expected, rtol=1e-5, atol=1e-5)
    assert composites() == {"openvino.conv.composite": 1}


@pytest.mark.usefixtures("selection")
def test_a_weight_that_is_written_counts() -> None:
    block = Block("nr").eval()
    x = torch.randn(1, 3, 4, 4)
    device = Block("nr").eval()
    device.load_state_dict(block.state_dict())
    device.to("lazycore")
    with torch.no_grad():
        for step in range(12):
            if step in (6, 9):
                for module in (block, device):
                    module.normalization.bias.add_(1.5)
            torch.testing.assert_close(device(x.to("lazycore")).cpu(), block(x), rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("selection")
def test_weights_that_two_layers_share_are_not_folded_twice() -> None:
    block = Block("n").eval()
    x = torch.randn(1, 3, 4, 4)
    with torch.no_grad():
        expected = block(block(x))
        block.to("lazycore")
        for _ in range(6):
            torch.testing.assert_close(block(block(x.to("lazycore"))).cpu(), expected, rtol=1e-5, atol=1e-5)


def written_out(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None, form: str
) -> torch.Tensor:
    scores = q @ k.transpose(-2, -1)
    scores = scores / math.sqrt(q.shape[-1]) if form == "div" else scores * 0.3 if form == "mul" else scores
    return (scores if mask is None else scores + mask).softmax(-1) @ v


@pytest.mark.usefixtures("selection")
@pytest.mark.parametrize("form", ["div", "mul", "plain"])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("shape", [(2, 3, 5, 4), (6, 5, 4)])
def test_attention_that_is_written_out(shape: tuple[int, ...], masked: bool, form: str) -> None:
    q, k, v = (torch.randn(shape) for _ in range(3))
    mask = torch.randn((*shape[:-3], 1, 1, 5)) if masked else None
    got = written_out(*(t.to("lazycore") for t in (q, k, v)), None if mask is None else mask.to("lazycore"), form)
    torch.testing.assert_close(got.cpu(), written_out(q, k, v, mask, form), rtol=1e-5, atol=1e-5)
    assert composites() == {"openvino.attention.composite": 1}


@pytest.mark.usefixtures("selection")
def test_a_softmax_over_queries_is_no_attention() -> None:
    q = torch.randn(2, 4, 4)
    x = q.to("lazycore")
    torch.testing.assert_close(((x @ x).softmax(1) @ x).cpu(), (q @ q).softmax(1) @ q, rtol=1e-5, atol=1e-5)
    assert not composites()


def test_prepared_constants_have_the_normalization_in_them(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Segment, dict[int, HostArray]]] = []
    build = plugin.build

    def spy(segment: Segment, finite: bool) -> object:
        seen.append((segment, dict(segment.constants)))
        return build(segment, finite)

    monkeypatch.setattr(plugin, "build", spy)
    block = Block("nr").eval().to("lazycore")
    x = torch.randn(1, 3, 4, 4)
    with lazycore.use_backend("openvino,reference"), torch.no_grad():
        for _ in range(6):
            block(x.to("lazycore")).cpu()
    segment, constants = seen[-1]
    (node,) = segment.nodes
    position = [value.id for value in segment.inputs].index(node.kwargs["w"].id)
    norm = block.normalization.cpu()
    factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    expected = block.convolution.weight.cpu() * factor.reshape(-1, 1, 1, 1)
    np.testing.assert_allclose(constants[position], expected.detach().numpy(), rtol=1e-5)


def test_a_serialized_program_runs_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Program] = []
    build = Program.compile.__func__

    def spy(cls: type[Program], *arguments: object) -> Program:
        made.append(build(cls, *arguments))
        return made[-1]

    monkeypatch.setattr(Program, "compile", classmethod(spy))
    x = torch.randn(2, 3)
    with lazycore.use_backend("openvino,reference"):
        device = x.to("lazycore")
        (device.tanh() * device).cpu()
    target = Target("openvino", "cpu", {"finite": False, "threads": 0})
    meta = ArtifactMeta("openvino", "0.1.0", (1, 0), target, "key")
    again = plugin.lazycore_load(Artifact(meta, made[-1].serialize()), CompileContext(HostSession(), target))
    (got,) = again.run([HostSession().upload(x.numpy())])
    np.testing.assert_allclose(got.to_host(), (x.tanh() * x).numpy(), rtol=1e-6)
