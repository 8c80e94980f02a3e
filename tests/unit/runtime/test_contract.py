"""A plugin's mistakes are named on a segment's first run; an error says who, what and where."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from lazycore_plugin_api import BackendError, Buffer, Executable, HostArray, HostBuffer, Node, PluginError, Segment
from plan_fakes.backends import FakeBackend, FakeBuffer
from plan_fakes.builder import Builder
from plan_fakes.interpreter import run_eager
from plan_fakes.runs import ONES, TWOS, plan_for, values

from lazycore.runtime.buffers import DeviceValue
from lazycore.runtime.executor import run


class Made(Executable):
    """An executable that does what a test says."""

    def __init__(self, action: object, aliases: dict[int, int]) -> None:
        self.action = action
        self.aliases = aliases

    def run(self, inputs: Sequence[Buffer | HostArray]) -> Sequence[Buffer]:
        return self.action(inputs)


class MadeBackend(FakeBackend):
    """A backend whose executables do what a test says."""

    def __init__(self, action: object, aliases: dict[int, int] | None = None, **options: object) -> None:
        super().__init__("made", **options)
        self.action = action
        self.aliases = aliases or {}

    def compile(self, segments: list[Segment]) -> list[Executable]:
        return [Made(self.action, self.aliases) for _ in segments]


def _run(action: object, aliases: dict[int, int] | None = None, **options: object) -> list[DeviceValue]:
    b = Builder()
    x = b.input()
    graph = b.graph(b.neg(x), b.relu(x))
    return run(plan_for(graph, MadeBackend(action, aliases, **options)), values(ONES), run_eager=run_eager)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda _: [HostBuffer(TWOS)], "returned 1 outputs where 2 are due"),
        (lambda _: [HostBuffer(TWOS), TWOS], "returned a ndarray as output 1, which is no Buffer"),
        (lambda _: [HostBuffer(TWOS), HostBuffer(np.ones(4))], r"returned f64\[4\] as output 1 where"),
        (lambda _: [HostBuffer(TWOS), HostBuffer(np.ones(3, np.float32))], r"returned f32\[3\] as output 1 where"),
        (lambda i: [HostBuffer(TWOS), i[0]], "returned an input, or the same buffer twice, as output 1"),
        (lambda _: [HostBuffer(TWOS)] * 2, "returned an input, or the same buffer twice, as output 1"),
    ],
)
def test_broken(action: object, message: str) -> None:
    with pytest.raises(PluginError, match=rf"plugin 'made' broke the contract: .*train\.py:1 {message}"):
        _run(action)


def test_a_declared_alias_is_copied() -> None:
    b = Builder()
    backend = MadeBackend(lambda i: [i[0]], {0: 0})
    (value,) = values(ONES.copy())
    (result,) = run(plan_for(b.graph(b.neg(b.input())), backend), [value], run_eager=run_eager)
    assert not np.shares_memory(result.to_host(), value.to_host())


def test_an_alias_of_a_donated_input_is_not() -> None:
    b = Builder()
    backend = MadeBackend(lambda i: [FakeBuffer(i[0].array, i[0].home)], {0: 0}, donation=True)
    plan = plan_for(b.graph(b.neg(b.input())), backend, donatable=frozenset({0}))
    run(plan, values(ONES.copy()), run_eager=run_eager)
    array = ONES.copy()
    (result,) = run(plan, values(array), run_eager=run_eager, exclusive={0})
    assert np.shares_memory(result.to_host(), array)


def test_an_eager_op_of_another_spec_is_named() -> None:
    b = Builder()
    plan = plan_for(b.graph(b.neg(b.input())))
    with pytest.raises(PluginError, match=r"aten\.neg\.default at train\.py:1 was recorded as returning \(f64\[3\]\)"):
        run(plan, values(ONES), run_eager=lambda _n, _a: [np.ones(4)])


@pytest.mark.parametrize("error", [ZeroDivisionError("boom"), KeyError("boom"), BackendError("boom")])
def test_a_failing_backend(error: Exception) -> None:
    def fail(_inputs: object) -> list[Buffer]:
        raise error

    b = Builder()
    plan = plan_for(b.graph(b.neg(b.input())), MadeBackend(fail))
    with pytest.raises(BackendError, match=r"made's segment0 \(aten\.neg\.default\) from train\.py:1") as caught:
        run(plan, values(ONES), run_eager=run_eager)
    assert caught.value.__cause__ is error


def test_an_eager_error_keeps_its_class_and_gets_a_note() -> None:
    def fail(_node: Node, _arrays: object) -> list[HostArray]:
        raise np.linalg.LinAlgError("singular")

    b = Builder()
    with pytest.raises(np.linalg.LinAlgError, match="singular") as caught:
        run(plan_for(b.graph(b.neg(b.input()))), values(ONES), run_eager=fail)
    assert caught.value.__notes__ == ["while lazycore ran aten.neg.default at train.py:1 eagerly"]
