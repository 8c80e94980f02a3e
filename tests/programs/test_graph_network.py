"""A network on a graph: messages along edges are gathered, added up and reduced at nodes."""

from __future__ import annotations

import torch
from programkit.outcome import Log, Results
from programkit.training import steps
from torch import nn

NODES, EDGES = 12, 30


class Messages(nn.Module):
    """Node features (nodes, inner) -> (nodes, outer): mean and maximum of the messages that arrive."""

    def __init__(self, inner: int, outer: int) -> None:
        super().__init__()
        self.message, self.update = nn.Linear(2 * inner, outer), nn.Linear(inner + 3 * outer, outer)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        source, target = edges
        sent = torch.tanh(self.message(torch.cat([x[source], x.index_select(0, target)], 1)))
        zeros = sent.new_zeros(x.shape[0], sent.shape[1])
        total = zeros.index_add(0, target, sent)
        degree = zeros.new_zeros(x.shape[0]).scatter_add_(0, target, torch.ones_like(target, dtype=x.dtype))
        where = target[:, None].expand_as(sent)
        largest = zeros.scatter_reduce(0, where, sent, "amax", include_self=False)
        mean = zeros.scatter_reduce(0, where, sent, "mean", include_self=False)
        return self.update(torch.cat([x, total / degree.clamp(min=1)[:, None], largest, mean], 1))


def graph_network(device: str, log: Log) -> Results:
    layers = nn.ModuleList([Messages(4, 8), Messages(8, 8)]).to(device)
    head = nn.Linear(8, 3).to(device)
    optimizer = torch.optim.Adam([*layers.parameters(), *head.parameters()], lr=1e-3)

    def loss_of(_: int) -> torch.Tensor:
        edges = torch.randint(0, NODES, (2, EDGES)).to(device)
        x = torch.randn(NODES, 4).to(device)
        for layer in layers:
            x = torch.relu(layer(x, edges))
        graph = torch.arange(3, device=device).repeat_interleave(NODES // 3)
        pooled = torch.zeros(3, 8, device=device).index_add_(0, graph, x)
        return nn.functional.cross_entropy(head(pooled), torch.tensor([0, 1, 2]).to(device))

    steps(loss_of, optimizer, log)
    return {**layers.state_dict(), **{f"head.{k}": v for k, v in head.state_dict().items()}}


def propagation(device: str, log: Log) -> Results:
    """PageRank by a dense and by a scattered transition, with ties to no gradient."""
    edges = torch.randint(0, NODES, (2, EDGES)).to(device)
    dense = torch.zeros(NODES, NODES, device=device)
    dense.index_put_((edges[1], edges[0]), torch.ones(EDGES, device=device), accumulate=True)
    out = dense.sum(0).clamp(min=1)
    rank = torch.full((NODES,), 1 / NODES, device=device)
    for _ in range(8):
        spread = torch.zeros_like(rank).index_add_(0, edges[1], (rank / out)[edges[0]])
        other = dense @ (rank / out)
        rank = 0.85 * (spread + other) / 2 + 0.15 / NODES
        log(rank.norm() + (spread - other).abs().max())
    return {"rank": rank, "order": rank.argsort(descending=True, stable=True)}


def test_graph_network(compare) -> None:
    compare(graph_network, atol=1.2e-2)


def test_propagation(compare) -> None:
    compare(propagation)
