"""A program on another device of jax than its default one, and on one whose memory is not the host's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# Everything that crosses the border or jax's choice of a device: copies both ways, numbers, indices, writes at an
# offset, an op that falls back in mid-trace, donated parameters, random numbers, programs without inputs.
PROGRAM = """
import json, sys
import jax
import numpy as np
import torch
from torch import nn
from lazycore_xla import session

if sys.argv[1] == "far":  # as where host and device have no memory in common
    put, back = jax.device_put, session.JaxBuffer.to_host
    jax.device_put = lambda x, *a, **k: put(np.array(x) if isinstance(x, np.ndarray) else x, *a, **k)
    session.JaxBuffer.to_host = lambda self: np.array(back(self))

import lazycore
from lazycore.plugins import current


def run(device):
    torch.manual_seed(3)
    model = nn.Sequential(nn.Embedding(11, 8), nn.LayerNorm(8), nn.Flatten(), nn.Linear(32, 5)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    mean = torch.zeros(5, dtype=torch.float64).to(device)
    for step in range(4):
        x, y = torch.randint(0, 11, (6, 4)).to(device), torch.randint(0, 5, (6,)).to(device)
        optimizer.zero_grad()
        scores = model(x)
        loss = nn.functional.cross_entropy(scores, y)
        loss.backward()
        optimizer.step()
        mean[step] += scores.detach().double().sum() * 2.5
        counted = torch.bincount(y, minlength=5) + torch.arange(5, device=device)
        order = torch.linalg.matrix_exp(scores.detach()[:5]).argmax(0)
    state = [loss, *model.parameters(), mean, counted, order, torch.full((2,), 2**40, device=device)]
    return [t.detach().cpu() for t in state], state

expected, _ = run("cpu")
results, state = run("lazycore")
torch.testing.assert_close(results, expected, rtol=1e-4, atol=1e-5)
metrics = lazycore.metrics()
(backend,) = current()
places = {str(d) for array in backend.session.device.client.live_arrays() for d in array.devices()}
print(json.dumps({"places": sorted(places), "backend": str(backend), "devices": backend.info.devices,
                  "compiles": metrics["compiles"], "fallbacks": sorted(metrics["fallbacks"])}))
"""


def _run(tmp_path: Path, backend: str, how: str) -> dict[str, Any]:
    settings = {
        "XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu", "LAZYCORE_BACKEND": backend,
        "LAZYCORE_CACHE": "1", "LAZYCORE_CACHE_DIR": str(tmp_path),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, how], env=os.environ | settings,
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_a_program_runs_on_the_second_device_wherever_its_memory_is(tmp_path: Path) -> None:
    first = _run(tmp_path, "xla:cpu:1", "far")
    assert first["devices"] == ["cpu", "cpu:1"]
    assert first["backend"] == "xla:cpu:1"
    assert first["places"] == ["cpu:1"]
    assert first["compiles"] > 2
    assert first["fallbacks"]
    again = _run(tmp_path, "xla:cpu:1", "far")
    assert again == first | {"compiles": 0}


@pytest.mark.slow
def test_devices_keep_their_stored_programs_apart(tmp_path: Path) -> None:
    first, second = _run(tmp_path, "xla:cpu:1", "near"), _run(tmp_path, "xla", "near")
    assert second == first | {"backend": "xla:cpu", "places": ["cpu:0"]}
