"""k-means and a power iteration: loops without gradients whose results feed the next round."""

from __future__ import annotations

import torch
from programkit.outcome import Log, Results

POINTS, CENTERS = 40, 4


def k_means(device: str, log: Log) -> Results:
    points = torch.randn(POINTS, 3).to(device)
    # Beside the points and not on them: a distance of zero is all rounding.
    centers = points[:CENTERS] + 0.1
    for _ in range(8):
        distance = torch.cdist(points, centers)
        nearest = distance.argmin(1)
        sums = torch.zeros_like(centers).index_add_(0, nearest, points)
        counts = torch.bincount(nearest, minlength=CENTERS).clamp(min=1)
        centers = sums / counts[:, None]
        log(distance.gather(1, nearest[:, None]).sum())
    return {"centers": centers, "nearest": nearest}


def by_one_hot(device: str, log: Log) -> Results:
    points = torch.randn(POINTS, 3).to(device)
    centers = points[:CENTERS].clone()
    for _ in range(8):
        distance = (points[:, None] - centers).square().sum(-1)
        member = torch.nn.functional.one_hot(distance.argmin(1), CENTERS).to(points.dtype)
        centers = (member.T @ points) / member.sum(0).clamp(min=1)[:, None]
        log(distance.amin(1).sum())
    return {"centers": centers}


def power_iteration(device: str, log: Log) -> Results:
    matrix = torch.randn(6, 6).to(device)
    matrix = matrix @ matrix.T
    vector = torch.ones(6, device=device)
    for _ in range(12):
        vector = matrix @ vector
        vector /= vector.norm()
        log(vector @ matrix @ vector)
    return {"vector": vector}


def test_k_means(compare) -> None:
    compare(k_means, fallbacks=("aten.bincount.default",))


def test_by_one_hot(compare) -> None:
    compare(by_one_hot)


def test_power_iteration(compare) -> None:
    compare(power_iteration)
