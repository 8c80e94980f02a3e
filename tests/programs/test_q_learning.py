"""Deep Q-learning: a replay buffer that lives on the device, a target network, decisions read back one by one."""

from __future__ import annotations

import copy

import torch
from programkit.outcome import Log, Results
from torch import nn

STATE, ACTIONS, CAPACITY = 4, 3, 16


class Replay:
    """The last ``CAPACITY`` transitions, in buffers on the device that are overwritten in turn."""

    def __init__(self, device: str) -> None:
        self.states, self.nexts = (torch.zeros(CAPACITY, STATE, device=device) for _ in range(2))
        self.actions = torch.zeros(CAPACITY, dtype=torch.int64, device=device)
        self.rewards, self.ends = (torch.zeros(CAPACITY, device=device) for _ in range(2))
        self.count = 0

    def add(
        self, state: torch.Tensor, action: torch.Tensor, reward: torch.Tensor, end: bool, after: torch.Tensor
    ) -> None:
        i = self.count % CAPACITY
        self.states[i], self.actions[i], self.rewards[i], self.nexts[i] = state, action, reward, after
        self.ends[i] = float(end)
        self.count += 1

    def sample(self, count: int) -> tuple[torch.Tensor, ...]:
        rows = torch.randint(0, min(self.count, CAPACITY), (count,)).to(self.states.device)
        return self.states[rows], self.actions[rows], self.rewards[rows], self.ends[rows], self.nexts[rows]


def learn(
    network: nn.Module, target: nn.Module, optimizer: torch.optim.Optimizer, batch: tuple[torch.Tensor, ...]
) -> torch.Tensor:
    """One step on a batch of transitions; returns the loss."""
    states, actions, rewards, ends, nexts = batch
    chosen = network(states).gather(1, actions[:, None])[:, 0]
    with torch.no_grad():
        best = target(nexts).max(1).values
        wanted = rewards + 0.9 * best * (1 - ends)
    loss = nn.functional.smooth_l1_loss(chosen, wanted)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(network.parameters(), 0.5)
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), network.parameters(), strict=True):
            slow.lerp_(fast, 0.05)
    return loss


def q_learning(device: str, log: Log) -> Results:
    network = nn.Sequential(nn.Linear(STATE, 16), nn.ReLU(), nn.Linear(16, ACTIONS)).to(device)
    target = copy.deepcopy(network).requires_grad_(False)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    replay, state = Replay(device), torch.randn(STATE).to(device)
    push = torch.randn(ACTIONS, STATE).to(device)
    for step in range(24):
        with torch.no_grad():
            action = network(state).argmax()
        if step % 5 == 4:
            action = torch.randint(0, ACTIONS, ()).to(device)
        after = 0.9 * state + 0.1 * push[action]
        replay.add(state, action, -after.square().sum(), step % 7 == 6, after)
        state = after
        loss = learn(network, target, optimizer, replay.sample(8))
        log(loss)
    return {**{f"target.{k}": v for k, v in target.state_dict().items()}, "states": replay.states, "ends": replay.ends}


def test_q_learning(compare) -> None:
    compare(q_learning, settled=12, atol=5e-2)
