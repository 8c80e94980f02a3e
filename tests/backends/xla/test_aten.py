"""Convolutions that ATen computes inside of XLA's programs: right values, and only where it can be had and may be."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from lazycore_plugin_api import BackendError, CompileContext, Executable, OpenContext, Segment
from lowering.arrays import to_tensor
from lowering.backends import Backend
from lowering.case import Case
from lowering.cases.convolution import Geometry, backward, forward
from lowering.segments import SegmentBuilder
from torch.utils._python_dispatch import TorchDispatchMode

pytest.importorskip("jax")

from lazycore_xla.aten.library import FORWARD, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=f"ATen cannot be called here: {why_not()}")

# Large enough to be worth a call, with batches that do and do not divide among threads.
TABLE = {
    "plain": Geometry((3, 16, 20, 20), (24, 16, 3, 3), [1, 1], [1, 1], [1, 1]),
    "uneven": Geometry((5, 8, 17, 23), (32, 8, 3, 5), [2, 1], [1, 0], [1, 1]),
    "dilated": Geometry((2, 8, 24, 24), (32, 8, 3, 3), [1, 1], [2, 0], [2, 3]),
    "groups": Geometry((4, 16, 24, 24), (64, 4, 3, 3), [1, 1], [0, 0], [1, 1], groups=4),
    "depthwise": Geometry((7, 64, 40, 40), (64, 1, 3, 3), [1, 1], [1, 1], [1, 1], groups=64),
    "transposed": Geometry((2, 16, 15, 15), (16, 24, 3, 3), [2, 2], [1, 1], [1, 1], True, (1, 1)),
    "transposed in groups": Geometry((3, 16, 15, 15), (16, 12, 3, 3), [2, 2], [1, 0], [2, 1], True, (1, 0), 2),
    "in one dimension": Geometry((6, 16, 900), (32, 16, 5), [2], [2], [1]),
    "in three dimensions": Geometry((2, 8, 9, 10, 11), (16, 8, 3, 3, 3), [1, 1, 1], [1, 0, 1], [1, 1, 1]),
}
ONE = TABLE["plain"]


def _segment(cases: Sequence[Case]) -> tuple[Segment, list[Any]]:
    builder = SegmentBuilder()
    for case in cases:
        builder.add(case, lift=False)
    return builder.segment(), builder.arrays


def _compiled(xla: Backend, segment: Segment, choice: str = "aten", portable: bool = False) -> Executable:
    target = replace(xla.target, options={**xla.target.options, "convolutions": choice})
    context = CompileContext(xla.session, target, portable=portable)
    (result,) = xla.hook.lazycore_compile(segments=[segment], ctx=context)
    assert isinstance(result, Executable), result
    return result


def _calls(executable: Any) -> int:
    """How many calls of ATen the compiled program has."""
    text = executable._compiled.as_text()
    return text.count(f'custom_call_target="{FORWARD}')


def _check(xla: Backend, executable: Executable, segment: Segment, arrays: list[Any], case: Case) -> None:
    results = executable.run(xla.bind(segment, arrays))
    for result, right in zip(results, case.expected(), strict=True):
        if right is not None:
            # Sums of thousands of products, in another order.
            torch.testing.assert_close(to_tensor(result.to_host()), right, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("geometry", TABLE.values(), ids=TABLE.keys())
def test_the_convolution(xla: Backend, geometry: Geometry) -> None:
    case = forward(geometry)
    segment, arrays = _segment([case])
    executable = _compiled(xla, segment)
    assert _calls(executable) == 1
    _check(xla, executable, segment, arrays, case)


@pytest.mark.parametrize("geometry", TABLE.values(), ids=TABLE.keys())
def test_its_gradients(xla: Backend, geometry: Geometry) -> None:
    case = backward(geometry, [True, True, True])
    segment, arrays = _segment([case])
    executable = _compiled(xla, segment)
    assert _calls(executable) == 1
    _check(xla, executable, segment, arrays, case)


@pytest.mark.parametrize(
    ("mask", "calls"),
    [((True, False, False), 1), ((False, True, False), 1), ((False, True, True), 1), ((False, False, True), 0)],
)
def test_only_the_gradients_that_are_wanted(xla: Backend, mask: tuple[bool, ...], calls: int) -> None:
    case = backward(ONE, list(mask))
    segment, arrays = _segment([case])
    executable = _compiled(xla, segment)
    assert _calls(executable) == calls
    results = executable.run(xla.bind(segment, arrays))
    rights = [right for right, wanted in zip(case.expected(), mask, strict=True) if wanted]
    got = [to_tensor(r.to_host()) for r, wanted in zip(results, mask, strict=True) if wanted]
    torch.testing.assert_close(got, rights, rtol=1e-4, atol=1e-3)


def test_what_is_not_worth_a_call_is_xlas(xla: Backend) -> None:
    small = Geometry((2, 3, 8, 8), (4, 3, 3, 3), [1, 1], [0, 0], [1, 1])
    single = replace(ONE, x=(1, *ONE.x[1:]))
    for case in (forward(small), forward(single), backward(single, [True] * 3), forward(ONE, torch.float64)):
        segment, arrays = _segment([case])
        executable = _compiled(xla, segment)
        assert _calls(executable) == 0
        _check(xla, executable, segment, arrays, case)


def test_halves_are_computed_in_float32(xla: Backend) -> None:
    case = forward(ONE, torch.bfloat16)
    segment, arrays = _segment([case])
    executable = _compiled(xla, segment)
    assert _calls(executable) == 1
    (result,) = executable.run(xla.bind(segment, arrays))
    torch.testing.assert_close(to_tensor(result.to_host()), case.expected()[0], rtol=2.0**-7, atol=1e-2)


def test_the_option_decides(xla: Backend) -> None:
    segment, arrays = _segment([forward(ONE)])
    assert [_calls(_compiled(xla, segment, choice)) for choice in ("auto", "aten", "xla")] == [1, 1, 0]
    bad = replace(xla.target, options={**xla.target.options, "convolutions": "best"})
    with pytest.raises(BackendError, match="convolutions=best is none of auto, aten, xla"):
        xla.hook.lazycore_open(ctx=OpenContext(bad))
    del arrays


def test_many_at_once_do_not_wait_for_each_other(xla: Backend) -> None:
    """Independent convolutions in one program, of several threads: more than XLA has threads for."""
    case = forward(ONE)
    segment, arrays = _segment([case] * 6)
    executable = _compiled(xla, segment)
    right, failures = case.expected()[0], []

    def launch() -> None:
        for _ in range(10):
            for result in executable.run(xla.bind(segment, arrays)):
                if not torch.allclose(to_tensor(result.to_host()), right, rtol=1e-4, atol=1e-3):
                    failures.append(result)

    threads = [threading.Thread(target=launch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert not failures


def test_the_programs_own_threads_are_left_alone(xla: Backend) -> None:
    case = forward(ONE)
    segment, arrays = _segment([case])
    before = torch.get_num_threads()
    _check(xla, _compiled(xla, segment), segment, arrays, case)
    assert torch.get_num_threads() == before


def test_what_watches_torchs_calls_sees_none(xla: Backend) -> None:
    seen: list[Any] = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(function)
            return function(*args, **(kwargs or {}))

    segment, arrays = _segment([forward(ONE)])
    executable = _compiled(xla, segment)
    buffers = xla.bind(segment, arrays)
    with Watch():
        (result,) = executable.run(buffers)
        result.wait()
    assert not seen


LOAD = """
import sys
from pathlib import Path
if "torch" in sys.argv[2:]:
    import torch
import numpy as np
from lazycore_xla.executable import load_executable
from lazycore_xla.session import JaxSession

session = JaxSession("cpu")
arrays = np.load(sys.argv[1] + ".npz")
executable = load_executable(Path(sys.argv[1]).read_bytes(), session)
(result,) = executable.run([session.upload(arrays[name]) for name in sorted(arrays)])
np.save(sys.argv[1] + ".out.npy", result.to_host())
assert ("torch" in sys.modules) == ("torch" in sys.argv[2:])
"""


def _run(path: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LOAD, str(path), *arguments]
    environment = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=environment)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """Where a program and its arguments are to be."""
    return tmp_path / "program"


def _store(xla: Backend, path: Path, portable: bool) -> Case:
    import numpy as np

    case = forward(ONE)
    segment, arrays = _segment([case])
    payload = _compiled(xla, segment, "auto", portable).serialize()
    assert payload is not None
    assert (FORWARD.encode() in payload) is not portable
    path.write_bytes(payload)
    np.savez(f"{path}.npz", **{f"a{i}": a for i, a in enumerate(arrays)})
    return case


def test_another_process_runs_it(xla: Backend, stored: Path) -> None:
    import numpy as np

    case = _store(xla, stored, portable=False)
    done = _run(stored, "torch")
    assert done.returncode == 0, done.stderr
    result = torch.from_numpy(np.load(f"{stored}.out.npy"))
    torch.testing.assert_close(result, case.expected()[0], rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(
    ("arguments", "variables", "reason"),
    [
        ((), {}, "PyTorch is not imported in this process"),
        (("torch",), {"CC": "/nowhere/cc"}, "there is no C compiler"),
        (("torch",), {"CC": "/bin/false"}, "CalledProcessError"),
    ],
)
def test_it_is_refused_where_aten_cannot_be_had(
    xla: Backend, stored: Path, arguments: tuple[str, ...], variables: dict[str, str], reason: str
) -> None:
    _store(xla, stored, portable=False)
    done = _run(stored, *arguments, **variables)
    assert done.returncode != 0
    assert f"its convolutions are ATen's, which cannot be had here: {reason}" in done.stderr


def test_what_is_portable_needs_no_pytorch(xla: Backend, stored: Path) -> None:
    import numpy as np

    case = _store(xla, stored, portable=True)
    done = _run(stored)
    assert done.returncode == 0, done.stderr
    result = torch.from_numpy(np.load(f"{stored}.out.npy"))
    torch.testing.assert_close(result, case.expected()[0], rtol=1e-4, atol=1e-3)


WITHOUT = """
import sys
import torch
import lazycore

lazycore.use_backend(sys.argv[1])
torch.manual_seed(0)
layer, x = torch.nn.Conv2d(16, 24, 3), torch.randn(3, 16, 20, 20)
right = layer(x)
torch.testing.assert_close(layer.to("lazycore")(x.to("lazycore")).cpu(), right, rtol=1e-4, atol=1e-4)
print("right")
"""


@pytest.mark.parametrize(("backend", "told"), [("xla", "right"), ("xla?convolutions=aten", "there is no C compiler")])
def test_without_a_compiler_they_are_xlas_unless_atens_are_asked_for(backend: str, told: str) -> None:
    environment = {**os.environ, "CC": "/nowhere/cc", "LAZYCORE_CACHE": "0", "LAZYCORE_STRICT": "1"}
    command = [sys.executable, "-c", WITHOUT, backend]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=environment)
    assert told in done.stdout + done.stderr


TOGETHER = """
import threading
import torch
from lazycore_xla.aten import library

gate, answers, compiled, compile = threading.Barrier(8), [], [], library._compiled

def noted(compiler):
    compiled.append(compiler)
    return compile(compiler)

def ask():
    gate.wait()
    answers.append(library.why_not())

library._compiled = noted

threads = [threading.Thread(target=ask) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(answers == [None] * 8, len(compiled))
"""


def test_threads_that_need_them_at_once_have_them_compiled_once() -> None:
    command = [sys.executable, "-c", TOGETHER]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.stdout.strip() == "True 1", done.stdout + done.stderr
