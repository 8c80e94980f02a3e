"""The exported program in a process that has neither PyTorch nor lazycore in it, against CPU eager."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from exported import MODELS

import lazycore

RUN = """
import sys
import numpy as np
from lazycore_loader import load

for name in ("cnn", "block"):
    program = load(f"{name}.lcp")
    for _ in range(2):
        result = program(np.load(f"{name}_in.npy"))
    assert type(result) is np.ndarray and result.flags.writeable and result.flags.owndata
    np.save(f"{name}_out.npy", result)
    print(program)
    print([i.name for i in program.inputs])
loaded = [name for name in ("torch", "lazycore", "jax") if name in sys.modules]
assert "torch" not in sys.modules and "lazycore" not in sys.modules, loaded
print(loaded)
"""


def test_equals_eager(backend: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    expected = {}
    for name, (make, inputs) in MODELS.items():
        model, x = make().eval(), inputs()
        lazycore.export(model, x, tmp_path / f"{name}.lcp", backend=backend)
        np.save(tmp_path / f"{name}_in.npy", x.numpy())
        with torch.no_grad():
            expected[name] = model(x)
    command = [sys.executable, "-c", RUN]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert "compiled anew" not in done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["Program(input: f32[2,3,8,8])", "['input']"]
    assert lines[2:4] == ["Program(ids: i64[2,6])", "['ids']"]
    assert lines[4] == ("['jax']" if backend == "xla" else "[]")
    for name, right in expected.items():
        got = torch.from_numpy(np.load(tmp_path / f"{name}_out.npy"))
        torch.testing.assert_close(got, right, rtol=1e-5, atol=1e-5)
