"""The example that generates C, installed beside the device: against PyTorch on the CPU, on shapes of every kind."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lazycore_plugin_api import Artifact, ArtifactMeta, DType, Node, Segment, Target, TensorSpec, Value

import lazycore
from lazycore.compiler.failures import BackendWarning
from lazycore.frontend.local import leave_root, tree

EXAMPLE = Path(__file__).parents[2] / "examples" / "c_source_backend"
COMPILER = shlex.split(os.environ.get("CC", "cc"))[0]
NAN, INF = float("nan"), float("inf")

pytestmark = pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"there is no C compiler {COMPILER!r} here")


@pytest.fixture(scope="module", autouse=True)
def _installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The example on ``sys.path``, with its entry point as an installer would leave it."""
    site = tmp_path_factory.mktemp("site")
    info = site / "lazycore_csource-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lazycore-csource\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[lazycore.backends]\ncsource = lazycore_csource.plugin\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        patch.syspath_prepend(EXAMPLE)
        yield


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What the backend compiled while it was in use."""
    from lazycore_csource.program import Program

    made: list[Any] = []
    original = Program.of.__func__  # type: ignore[attr-defined]

    def spy(cls: Any, segment: Segment) -> Any:
        made.append(original(cls, segment))
        return made[-1]

    monkeypatch.setattr(Program, "of", classmethod(spy))
    with lazycore.use_backend("csource,reference"):
        lazycore.sync()
        tree.clear()
        leave_root()
        yield made
        lazycore.sync()


def compare(program: Callable[..., torch.Tensor], *operands: torch.Tensor) -> None:
    got = program(*(x.to("lazycore") for x in operands)).cpu()
    torch.testing.assert_close(got, program(*operands), equal_nan=True, rtol=1e-5, atol=1e-6)


OPS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "add.Tensor": lambda x, y: torch.add(x, y, alpha=3),
    "sub.Tensor": lambda x, y: torch.sub(x, y, alpha=-0.1),
    "mul.Tensor": torch.mul,
    "div.Tensor": torch.div,
    "maximum.default": torch.maximum,
    "minimum.default": torch.minimum,
    "neg.default": lambda x, _: -x,
    "reciprocal.default": lambda x, _: x.reciprocal(),
    "relu.default": lambda x, _: x.relu(),
    "sigmoid.default": lambda x, _: x.sigmoid(),
    "abs.default": lambda x, _: x.abs(),
    "sqrt.default": lambda x, _: x.sqrt(),
    "exp.default": lambda x, _: x.exp(),
    "expm1.default": lambda x, _: x.expm1(),
    "log.default": lambda x, _: x.log(),
    "log1p.default": lambda x, _: x.log1p(),
    "sin.default": lambda x, _: x.sin(),
    "cos.default": lambda x, _: x.cos(),
    "tanh.default": lambda x, _: x.tanh(),
    "erf.default": lambda x, _: x.erf(),
    "scalar_tensor.default": lambda x, _: x * 0.5,
}


def test_every_operator_of_the_table_is_tested() -> None:
    from lazycore_csource.operators import EXPRESSIONS

    assert {f"aten.{name}" for name in OPS} == EXPRESSIONS.keys()


@pytest.mark.parametrize("name", OPS)
def test_operators(name: str, programs: list[Any]) -> None:
    x = torch.tensor([0.3, -1.7, 2.5, 0.0, -0.0, NAN, INF, -INF, 1e-30, 3e38, 1.0, NAN])
    y = torch.tensor([2.0, -0.5, NAN, 0.0, 0.0, 1.0, INF, 2.0, 5.0, 3e38, -1.0, NAN])
    compare(OPS[name], x, y)
    (program,) = programs
    assert f"aten.{name}" in program.source


def test_a_chain_is_one_loop(programs: list[Any]) -> None:
    compare(lambda x, y: torch.tanh((x * 1.5 + y).relu() - x.exp()), torch.randn(4, 5), torch.randn(5))
    (program,) = programs
    assert program.source.count("for (") == 2, "one nest over two dimensions"
    assert "in[1][i1]" in program.source, "the row is broadcast, not copied"


sizes = st.integers(0, 3)


@st.composite
def broadcastable(draw: st.DrawFn) -> list[tuple[int, ...]]:
    shape = draw(st.lists(sizes, max_size=4))
    shapes = []
    for _ in range(3):
        kept = draw(st.integers(0, len(shape)))
        shapes.append(tuple(draw(st.sampled_from((1, n))) for n in shape[len(shape) - kept :]))
    return shapes


# Many shapes on one line are the point here.
@pytest.mark.filterwarnings("ignore:lazycore has compiled")
@settings(max_examples=25, deadline=None)
@given(broadcastable())
def test_any_shapes_that_broadcast(shapes: list[tuple[int, ...]]) -> None:
    torch.manual_seed(0)
    operands = [torch.randn(shape) for shape in shapes]
    with lazycore.use_backend("csource,reference"):
        compare(lambda x, y, z: (x + y).maximum(z * y) * x, *operands)


@pytest.mark.usefixtures("programs")
def test_outputs_of_several_shapes() -> None:
    def program(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        rows = x.exp()
        return [rows, rows * y, y.sin(), (y * 1.5).sin() + x[0, 0]]

    x, y = torch.randn(3, 1), torch.randn(4)
    lazy = program(x.to("lazycore"), y.to("lazycore"))
    lazycore.sync()
    for got, expected in zip(lazy, program(x, y), strict=True):
        torch.testing.assert_close(got.cpu(), expected)


def test_numbers_that_vary_compile_once(programs: list[Any]) -> None:
    x = torch.randn(5)
    device = x.to("lazycore")
    for factor in (1.5, 2.5, 3.5, 4.5, 5.5):
        torch.testing.assert_close(torch.add(device, device, alpha=factor).sin().cpu(), (x + factor * x).sin())
    assert len(programs) <= 2


def test_training_with_the_reference_backend_for_the_rest(programs: list[Any]) -> None:
    def train(device: str) -> torch.Tensor:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Sigmoid(), torch.nn.Linear(8, 2)).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.ones(5, 4).to(device)).square().sum().backward()
            optimizer.step()
        return model[0].weight.detach().cpu()

    torch.testing.assert_close(train("lazycore"), train("cpu"), rtol=1e-5, atol=1e-6)
    assert programs


def test_stored_source_runs_again(programs: list[Any]) -> None:
    from lazycore_csource.plugin import lazycore_load

    x = torch.randn(2, 3)
    compare(lambda x: (x * x).sin(), x)
    meta = ArtifactMeta("csource", "0.1.0", (1, 0), Target("csource", "cpu"), "key")
    again = lazycore_load(Artifact(meta, programs[-1].serialize()))
    (result,) = again.run([x.numpy()])
    torch.testing.assert_close(torch.from_numpy(result.to_host()), (x * x).sin())


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    ("compiler", "message"), [("false", "false failed with code 1"), ("no-such-cc", "cannot run the C compiler")]
)
def test_a_compiler_that_fails_is_named(compiler: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", compiler)
    # A shape of its own, as sources that were compiled before are not compiled again.
    x = torch.randn(2, 1, 3 + len(compiler))
    with pytest.warns(BackendWarning, match=message):
        compare(lambda x: x.exp() * x, x)


def test_comments_cannot_end_early() -> None:
    from lazycore_csource.source import generate
    from lazycore_plugin_api import Source

    x, y = (Value(i, TensorSpec((2,), DType.float32)) for i in range(2))
    node = Node("aten.neg.default", (x,), {}, (y,), Source("a*/b\\.py", 1))
    text = generate(Segment((x,), [node], (y,)))
    assert "a* /b" in text
    command = [*shlex.split(os.environ.get("CC", "cc")), "-Wall", "-Werror", "-fsyntax-only", "-x", "c", "-"]
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_it_imports_the_contract_alone() -> None:
    code = "import sys; sys.modules.update(torch=None, lazycore=None); import lazycore_csource.plugin"
    path = os.pathsep.join([str(EXAMPLE), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
