"""Wrong backends are found out: the op, the line, the numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from lazycore_plugin_api import HostArray, Node
from lazycore_plugin_api.repro import differences, execute
from lazycore_plugin_api.reproducer import read, write

import lazycore
from lazycore.frontend.eager import run_eager
from lazycore.verify.finding import Finding
from lazycore.verify.watch import Stop, Verifier

from .conftest import WRONG_OP

F = torch.nn.functional
HERE = Path(__file__).name


def step() -> float:
    """A training step with everything in one segment: dropout's random bits, a loss, gradients, an optimizer."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Tanh(), torch.nn.Linear(8, 3))
    net = net.to("lazycore")
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    target = torch.tensor([0, 1, 2, 0, 1]).to("lazycore")
    for _ in range(3):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(torch.randn(5, 4).to("lazycore")), target)
        loss.backward()
        optimizer.step()
    return loss.item()


def found(verifier: Verifier, backend: str, program: Callable[[], object]) -> Finding:
    """The finding at which the program was stopped."""
    with lazycore.use_backend(backend), pytest.raises(Stop) as stopped:
        program()
    assert stopped.value.code == 1
    assert verifier.finding is not None
    return verifier.finding


@pytest.mark.parametrize("backend", ["reference", "xla"])
def test_a_right_backend_passes(backend: str, verifier: Verifier) -> None:
    with lazycore.use_backend(backend):
        step()
        lazycore.sync()
    assert verifier.finding is None
    assert verifier.launches >= 3


def test_one_wrong_op_in_a_training_step(verifier: Verifier, faulty: Callable[[str], str]) -> None:
    """The gradient of tanh, off by a factor: deep in the segment, and everything behind it is wrong too."""
    extra = 'OP = "aten.tanh_backward.default"\nFUNCTION = lambda grad, out: grad * (1 - out)\n' + WRONG_OP
    finding = found(verifier, faulty(extra), step)
    (node,) = finding.trial.segment.nodes
    assert node.op == "aten.tanh_backward.default"
    assert node.source is not None
    assert node.source.file == __file__
    assert len(finding.segment.nodes) > 20
    (difference,) = finding.trial.differences
    inputs = dict(zip((v.id for v in finding.trial.segment.inputs), finding.trial.inputs, strict=True))
    grad, out = (inputs[v.id] for v in node.inputs())
    off = abs(grad * (1 - out) - grad * (1 - out * out))
    assert difference.greatest == pytest.approx(float(off.max()), rel=1e-5)
    assert off[difference.place] == off.max()
    text = str(finding)
    assert f"aten.tanh_backward.default(%{node.args[0].id}, %{node.args[1].id})" in text
    assert HERE in text
    assert "f32[5,8]" in text
    assert str(finding.target.backend) in text


FUSED = """
def wrong(segment, results):
    ops = [node.op for node in segment.nodes]
    if "aten.exp.default" in ops and "aten.neg.default" in ops:
        for node in segment.nodes:
            if node.op == "aten.neg.default" and node.outputs[0] in segment.outputs:
                results[segment.outputs.index(node.outputs[0])] += 1
    return results
"""


def test_an_op_that_is_wrong_beside_another_only(verifier: Verifier, faulty: Callable[[str], str]) -> None:
    def program() -> None:
        x = torch.linspace(-1, 1, 7).to("lazycore")
        y = torch.sin(x) * 2.5
        z = -torch.cos(torch.exp(y) + x)
        print(torch.tanh(y).cpu(), z.cpu())

    finding = found(verifier, faulty(FUSED), program)
    assert sorted(node.op for node in finding.trial.segment.nodes) == ["aten.exp.default", "aten.neg.default"]
    assert "These 2 together are" in str(finding)
    assert finding.trial.differences[0].greatest == pytest.approx(1.0)


def test_a_backend_that_drops_nan(verifier: Verifier, faulty: Callable[[str], str]) -> None:
    extra = 'OP = "aten.relu.default"\nFUNCTION = lambda x: np.fmax(x, np.float32(0))\n' + WRONG_OP
    backend = faulty(extra)

    def program(x: list[float]) -> list[float]:
        return list((F.relu(torch.tensor(x).to("lazycore") * 1.5) + 1).tolist())

    with lazycore.use_backend(backend):
        assert program([1.0, -1.0, float("inf")]) == [2.5, 1.0, float("inf")]
    finding = found(verifier, backend, lambda: program([1.0, -1.0, float("nan")]))
    (node,) = finding.trial.segment.nodes
    assert node.op == "aten.relu.default"
    (difference,) = finding.trial.differences
    assert (difference.wrong, difference.place, difference.got, difference.expected) == (1, (2,), "0.0", "nan")


def test_integers_may_not_differ_at_all(verifier: Verifier, faulty: Callable[[str], str]) -> None:
    extra = 'OP = "aten.mul.Tensor"\nFUNCTION = lambda x, y: (x.astype("f4") * y).astype(x.dtype)\n' + WRONG_OP

    def program() -> None:
        x = torch.tensor([3, 2**24 + 1, 2**62 + 1]).to("lazycore")
        (x * 1 * x.new_tensor(1)).cpu()

    finding = found(verifier, faulty(extra), program)
    assert finding.trial.differences[0].wrong == 2


def test_rounding_that_a_segment_magnifies_is_no_fault(verifier: Verifier, faulty: Callable[[str], str]) -> None:
    """Sine off by its last place, and then a cancellation that magnifies that place a thousandfold."""
    extra = 'OP = "aten.sin.default"\nFUNCTION = lambda x: np.nextafter(np.sin(x), np.float32(9))\n' + WRONG_OP
    x = torch.linspace(0.5, 1, 100)
    with lazycore.use_backend(faulty(extra)):
        y = torch.sin(x.to("lazycore"))
        ((y * 1000 - torch.sin(x.to("lazycore") + 1e-3) * 1000) * 1000).cpu()
    assert verifier.finding is None
    assert verifier.launches == 1


def test_a_fault_of_the_first_compile_only_is_reported_whole(verifier: Verifier, faulty: Callable[[str], str]) -> None:
    extra = """
SEEN = []
def wrong(segment, results):
    SEEN.append(segment)
    return [r + 1 for r in results] if segment is SEEN[0] else results
"""
    finding = found(verifier, faulty(extra), lambda: (torch.ones(3).to("lazycore").sin() * 1.5).cpu())
    assert not finding.alone
    assert len(finding.trial.segment.nodes) == len(finding.segment.nodes)
    assert "depends on donated inputs or on what ran before" in str(finding)


def test_the_program_is_stopped_even_where_it_catches_everything(
    verifier: Verifier, faulty: Callable[[str], str]
) -> None:
    extra = "\ndef wrong(segment, results): return [r + 1 for r in results]"
    with lazycore.use_backend(faulty(extra)):
        try:
            (torch.ones(3).to("lazycore").sin() * 1.5).cpu()
        except Exception:
            pytest.fail("an except clause of the program held it")
        except Stop:
            pass
        launches = verifier.launches
        torch.ones(3).to("lazycore").cos().cpu()
        assert verifier.launches == launches, "nothing is compared once the first difference is known"


def test_what_eager_execution_cannot_compute_is_said_and_the_program_goes_on(
    verifier: Verifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacks_sin(node: Node, inputs: Sequence[HostArray]) -> Sequence[HostArray]:
        if node.op == "aten.sin.default":
            raise NotImplementedError("no kernel for the CPU")
        return run_eager(node, inputs)

    monkeypatch.setattr(verifier, "run_eager", lacks_sin)
    with lazycore.use_backend("reference"):
        x = torch.ones(3).to("lazycore")
        for _ in range(2):
            torch.testing.assert_close((x.sin() * 1.5).cpu(), torch.ones(3).sin() * 1.5)
        x.cos().cpu()
    ((segment, reason),) = verifier.unknown.items()
    assert "aten.sin.default" in segment
    assert HERE in segment
    assert reason == "NotImplementedError: no kernel for the CPU"
    assert verifier.launches == 1
    assert verifier.finding is None


COMPOSITE = """
from lazycore_plugin_api.patterns import Any, Op

@hookimpl
def lazycore_patterns():
    return [Pattern("sin_mul", Op("aten.mul.Tensor", (Op("aten.sin.default", (Any("x"),)), Any("y"))))]

@hookimpl
def lazycore_supports(node, target):
    return Supported() if node.body is not None else sound.lazycore_supports(node, target)

class Composites(Executable):
    def __init__(self, segment):
        self.segment = segment

    def run(self, inputs):
        known = {v.id: b.to_host() if isinstance(b, Buffer) else b for v, b in zip(self.segment.inputs, inputs)}
        for node in self.segment.nodes:
            given = [known[v.id] for v in node.inputs()]
            part = node.body or Graph(tuple(dict.fromkeys(node.inputs())), [node], node.outputs)
            inner = Segment(part.inputs, part.nodes, part.outputs)
            given = given if node.body else [known[v.id] for v in part.inputs]
            for v, b in zip(node.outputs, ReferenceExecutable(inner).run([HostBuffer(a) for a in given])):
                known[v.id] = b.to_host() * (2 if node.body else 1)
        return [HostBuffer(known[v.id].copy()) for v in self.segment.outputs]

@hookimpl
def lazycore_compile(segments, ctx):
    return [Composites(s) for s in segments]
"""


def test_a_wrong_composite(verifier: Verifier, faulty: Callable[[str], str]) -> None:
    backend = faulty(COMPOSITE)

    def program() -> None:
        x = torch.linspace(-1, 1, 7).to("lazycore")
        (torch.sin(torch.cos(x)) * x + 1).cpu()

    finding = found(verifier, backend, program)
    (node,) = finding.trial.segment.nodes
    assert node.op == f"{backend}.sin_mul.composite"
    assert "made of" in str(finding)
    assert "aten.sin.default" in str(finding)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64, torch.complex64, torch.bool, torch.float8_e5m2])
def test_a_reproducer_keeps_every_dtype(
    dtype: torch.dtype, verifier: Verifier, faulty: Callable[[str], str], tmp_path: Path
) -> None:
    backend = faulty("\ndef wrong(segment, results): return [np.zeros_like(r) for r in results]")
    x = torch.tensor([[1.0, 0.0], [1.0, 2.0]]).to(dtype).to("lazycore")
    finding = found(verifier, backend, lambda: x.t().contiguous().cpu())
    write(finding.reproducer, tmp_path / "r.zip")
    again = read(tmp_path / "r.zip")
    assert str(again.segment) == str(finding.trial.segment)
    assert [a.dtype for a in again.inputs] == [a.dtype for a in finding.trial.inputs]
    assert [a.tobytes() for a in again.expected] == [a.tobytes() for a in finding.trial.expected]
    with lazycore.use_backend(f"{backend},reference") as (bad, good):
        assert differences(again, execute(bad, again.segment, again.inputs))
        assert not differences(again, execute(good, again.segment, again.inputs))
