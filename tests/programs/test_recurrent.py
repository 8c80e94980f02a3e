"""torch's recurrent modules: several layers, both directions, projections, packed sequences."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from programkit.outcome import Log, Results
from programkit.training import classes, steps
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import lazycore

MODULES: dict[str, Callable[[], nn.RNNBase]] = {
    "lstm": lambda: nn.LSTM(5, 8, 2, batch_first=True, bidirectional=True),
    "lstm_dropout": lambda: nn.LSTM(5, 8, 2, batch_first=True, dropout=0.2),
    "lstm_projected": lambda: nn.LSTM(5, 8, proj_size=4, batch_first=True),
    "gru": lambda: nn.GRU(5, 8, 2, batch_first=True, bidirectional=True),
    "gru_no_bias": lambda: nn.GRU(5, 8, bias=False, batch_first=True),
    "rnn_tanh": lambda: nn.RNN(5, 8, 2, batch_first=True, bidirectional=True),
    "rnn_relu": lambda: nn.RNN(5, 8, nonlinearity="relu", batch_first=True),
}
LENGTHS = torch.tensor([6, 4, 3])


class Tagger(nn.Module):
    """(batch, time, 5) -> logits (batch, time, 4); ``lengths`` packs the sequences."""

    def __init__(self, recurrent: nn.RNNBase) -> None:
        super().__init__()
        self.recurrent = recurrent
        self.head = nn.LazyLinear(4)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        if lengths is None:
            return self.head(self.recurrent(x)[0])
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return self.head(pad_packed_sequence(self.recurrent(packed)[0], batch_first=True)[0])


def tagging(make: Callable[[], nn.RNNBase], lengths: torch.Tensor | None) -> Callable[[str, Log], Results]:
    """The program that trains a tagger."""

    def program(device: str, log: Log) -> Results:
        model = Tagger(make()).to(device)
        model(torch.zeros(3, 6, 5).to(device), lengths)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def loss_of(_: int) -> torch.Tensor:
            x, y = torch.randn(3, 6, 5).to(device), torch.randint(0, 4, (3, 6)).to(device)
            return nn.functional.cross_entropy(model(x, lengths).transpose(1, 2), y)

        steps(loss_of, optimizer, log, clip=1.0)
        return model.state_dict()

    return program


def cells_of_a_loop(device: str, log: Log) -> Results:
    """LSTM cells stepped by Python over 32 positions, two layers deep."""
    layers = nn.ModuleList([nn.LSTMCell(5, 8), nn.LSTMCell(8, 8)]).to(device)
    head = nn.Linear(8, 3).to(device)
    optimizer = torch.optim.Adam([*layers.parameters(), *head.parameters()], lr=1e-3)

    def loss_of(_: int) -> torch.Tensor:
        x = torch.randn(4, 32, 5).to(device)
        states = [(torch.zeros(4, 8, device=device), torch.zeros(4, 8, device=device)) for _ in layers]
        for position in x.unbind(1):
            below = position
            for depth, cell in enumerate(layers):
                states[depth] = cell(below, states[depth])
                below = states[depth][0]
        return nn.functional.cross_entropy(head(below), classes(device, 4, 3))

    steps(loss_of, optimizer, log)
    return {**layers.state_dict(), **head.state_dict()}


@pytest.mark.parametrize("module", MODULES)
def test_recurrent(compare, module: str) -> None:
    compare(tagging(MODULES[module], None), atol=1e-4)


@pytest.mark.parametrize("module", ["lstm", "gru", "rnn_tanh"])
def test_packed(compare, module: str) -> None:
    compare(tagging(MODULES[module], LENGTHS), atol=1e-4)


def test_cells_of_a_loop(compare) -> None:
    compare(cells_of_a_loop, atol=1.2e-2)


@pytest.mark.parametrize("batch_first", [False, True])
def test_packing_does_not_wait_for_the_steps(batch_first: bool) -> None:
    """What is packed has not been computed yet, and need not be: the lengths are known."""
    x = torch.arange(36.0).reshape((3, 6, 2) if batch_first else (6, 3, 2))
    expected = pack_padded_sequence(x * 2, LENGTHS, batch_first)
    with lazycore.use_backend("reference"):
        lazycore.sync()
        leaf = x.to("lazycore").requires_grad_()
        lazycore.reset_metrics()
        packed = pack_padded_sequence(leaf * 2, LENGTHS, batch_first)
        packed.data.sum().backward()
        assert (lazycore.metrics()["syncs"], lazycore.metrics()["fallbacks"]) == (0, {})
        assert torch.equal(packed.data.cpu(), expected.data)
        assert torch.equal(packed.batch_sizes, expected.batch_sizes)
        assert leaf.grad is not None
        assert torch.equal(leaf.grad.cpu(), pack_gradient(x, batch_first))


def pack_gradient(x: torch.Tensor, batch_first: bool) -> torch.Tensor:
    """2 where a step is within its sequence's length."""
    steps_of = torch.arange(6) < LENGTHS[:, None]
    return torch.where((steps_of if batch_first else steps_of.t())[..., None], 2.0, torch.zeros_like(x))
