"""The graphs of a training step, from recording to segments, against the opset's table."""

from __future__ import annotations

import pytest
import torch
from lazycore_plugin_api import Graph, Node, node_text, verify
from lazycore_plugin_api.opset import OPSET, infer

import lazycore.compiler.pipeline
import lazycore.compiler.segments


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> list[Node]:
    """Every node that the compiler lets the verifier look at."""
    seen: list[Node] = []

    def spying(graph: Graph) -> None:
        seen.extend(graph.nodes)
        verify(graph)

    monkeypatch.setattr(lazycore.compiler.pipeline, "verify", spying)
    monkeypatch.setattr(lazycore.compiler.segments, "verify", spying)
    return seen


def train() -> None:
    torch.manual_seed(0)
    image = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Dropout(0.5),
        torch.nn.Flatten(), torch.nn.Linear(4 * 3 * 3, 5),
    ).to("lazycore")  # fmt: skip
    words = torch.nn.Sequential(torch.nn.Embedding(7, 8), torch.nn.TransformerEncoderLayer(8, 2, 8, batch_first=True))
    words.to("lazycore")
    optimizer = torch.optim.AdamW([*image.parameters(), *words.parameters()])
    scores = image(torch.randn(2, 3, 8, 8).to("lazycore"))
    loss = torch.nn.functional.cross_entropy(scores, torch.tensor([1, 2]).to("lazycore"))
    loss = loss + words(torch.tensor([[1, 2, 3]]).to("lazycore"))[:, -1].pow(2).mean()
    loss.backward()
    optimizer.step()
    assert loss.item() > 0


def test_every_node_of_a_training_step_has_a_row_and_keeps_it(nodes: list[Node]) -> None:
    with lazycore.use_backend("reference"):
        train()
    assert len({node.op for node in nodes}) > 40
    assert [node_text(node) for node in nodes if node.op not in OPSET] == []
    for node in nodes:
        for found, output in zip(infer(node), node.outputs, strict=True):
            assert found in (None, output.spec), node_text(node)
