"""Importing lazycore: what it leaves alone, and what it puts off.

What is imported cannot be taken back, so the programs run in processes of their own: few, since each imports torch.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PUT_OFF = (
    "jax", "jaxlib", "tvm", "lazycore_reference", "lazycore_xla", "lazycore_tvm", "torch._inductor", "torch._dynamo",
    "lazycore.compiler.pipeline", "lazycore.frontend.launch", "lazycore.frontend.decompose",
    "lazycore.frontend.kernels", "lazycore.frontend.infer",
)  # fmt: skip

PROBES = {
    "pinned loader": """
        from torch.utils.data import DataLoader
        for workers in (0, 1):
            print([b.tolist() for b in DataLoader(torch.arange(4), batch_size=2, pin_memory=PIN, num_workers=workers)])
    """,
    "default device": "print(torch.get_default_device(), torch.ones(1).device, torch.tensor([1]).device)",
    "generator": "print(torch.Generator().device, torch.Generator(device='cpu').manual_seed(1).initial_seed())",
    "settings": "print(torch.get_default_dtype(), torch.is_grad_enabled(), torch.is_inference_mode_enabled())",
    "pointers": "x = torch.ones(3); print(x.data_ptr() % 64, x.untyped_storage().data_ptr() == x.data_ptr())",
    "data": "x = torch.ones(3); x.data = torch.zeros(2); print(x, x.data, x.is_pinned())",
    "data of another device": """
        x = torch.ones(3)
        try:
            x.data = torch.ones(3, device="meta")
        except RuntimeError as error:
            print(error)
    """,
    "deep copy": "import copy; m = torch.nn.Linear(2, 2); print(copy.deepcopy(m).weight is m.weight)",
    "save and load": "import io; f = io.BytesIO(); torch.save(torch.arange(3), f); f.seek(0); print(torch.load(f))",
    "storages": "s = torch.UntypedStorage(4); s.fill_(3).resize_(6); print(s.nbytes(), s.tolist()[:4], s.clone()[0])",
    "dlpack": "import numpy; x = torch.arange(3); y = numpy.from_dlpack(x); y += 1; print(x, torch.from_dlpack(y))",
    "hook that fails": """
        y = torch.ones(2, requires_grad=True) * 2
        y.register_hook(lambda g: 1 / 0)
        try:
            y.sum().backward()
        except ZeroDivisionError as error:
            print(repr(error))
    """,
    "printing": "print(torch.arange(2000), torch.tensor([1 + 2j]).conj(), torch.nn.Parameter(torch.ones(1)))",
    "conversions": "m = torch.nn.Linear(2, 2).half().float(); print(m.weight.dtype, m.to('meta').weight.device)",
    "training": """
        torch.manual_seed(0)
        nn = torch.nn
        model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.ReLU(), nn.Linear(8, 1))
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.randn(5, 4)).square().mean().backward()
            optimizer.step()
        print([p.flatten().tolist() for p in model.parameters()], torch.get_rng_state().sum().item())
    """,
}

HARNESS = """
import contextlib, io, json, textwrap
import torch
{imports}
results = {{}}
for name, text in json.loads({probes!r}).items():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(textwrap.dedent(text), {{"torch": torch, "PIN": {pin}}})
    results[name] = out.getvalue()
import sys
loaded = [m for m in ("jax", "lazycore_reference", "lazycore_xla", "lazycore.compiler") if m in sys.modules]
print(json.dumps([results, loaded]))
"""


def run(program: str) -> str:
    """The program's output; fails with its errors unless it ends well."""
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", program],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


Results = tuple[dict[str, str], list[str]]


@pytest.fixture(scope="module")
def with_it() -> Results:
    """What the probes print after lazycore was imported, and which backends and compilers that loaded."""
    return tuple(json.loads(run(HARNESS.format(imports="import lazycore", probes=json.dumps(PROBES), pin=True))))


@pytest.fixture(scope="module")
def without() -> Results:
    """The same without lazycore. Nothing is pinned: without an accelerator torch warns and pins nothing either."""
    return tuple(json.loads(run(HARNESS.format(imports="", probes=json.dumps(PROBES), pin=False))))


@pytest.mark.parametrize("name", PROBES)
def test_a_cpu_program_runs_as_without_it(name: str, with_it: Results, without: Results) -> None:
    assert without[0][name], "the probe shows nothing"
    assert with_it[0][name] == without[0][name]


def test_a_cpu_program_loads_no_backend(with_it: Results) -> None:
    assert with_it[1] == []


def test_what_is_imported_later() -> None:
    out = run(
        "import sys, torch\nbefore = set(sys.modules)\nimport lazycore\nnew = set(sys.modules) - before\n"
        f"print(sorted(m for m in {PUT_OFF!r} if m in new))"
    )
    assert out.strip() == "[]"


def test_an_untested_torch_is_refused_by_name() -> None:
    out = run(
        "import torch\ntorch.__version__ = '2.99.0'\ntry:\n    import lazycore\nexcept ImportError as e:\n    print(e)"
    )
    assert "2.99.0" in out
    assert "pip install" in out
