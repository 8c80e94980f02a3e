"""An exception anywhere while recording leaves the trace as it was: later results are right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import lazycore
from lazycore.frontend import copies, record
from lazycore.frontend.local import local

Mistake = Callable[[torch.Tensor], Any]

MISTAKES: dict[str, Mistake] = {
    "shapes": lambda x: x + torch.ones(7, device="lazycore"),
    "matmul": lambda x: x @ torch.ones(7, 2, device="lazycore"),
    "dtype": lambda x: x.bitwise_and(x),
    "another device": lambda x: x + torch.ones(3),
    "the second of two operands": lambda x: torch.cat(
        [x, torch.ones(3).to("lazycore"), torch.ones(2, 2).to("lazycore")]
    ),
    "in place": lambda x: x.add_(torch.ones(2, 3, 3, device="lazycore")),
    "in place, cast": lambda x: torch.ones(3, dtype=torch.int64, device="lazycore").add_(x),
    "view": lambda x: x.view(5),
    "dimension": lambda x: x.sum(4),
    "index": lambda x: x[7],
    "no such dtype": lambda x: x.to(torch.float8_e5m2fnuz),
    "an argument": lambda x: torch.nn.functional.one_hot(x),
    "copy": lambda x: x.copy_(torch.ones(2, 2).to("lazycore")),
    "fill": lambda x: x.fill_(torch.ones(2, device="lazycore")),
    "data": lambda x: x.nonzero_static(size=-3),
    "scalar": lambda x: x.argsort().add_(1.5),
    "stack": lambda x: torch.stack([x, torch.ones(4, device="lazycore")]),
    "out": lambda x: torch.add(x, 1, out=torch.ones(3, dtype=torch.int64, device="lazycore")),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_leaves_the_trace_usable(name: str) -> None:
    base = torch.tensor([1.0, 2.0, 3.0])
    x = base.to("lazycore")
    y = x * 2.5 + 1
    with pytest.raises((RuntimeError, IndexError, TypeError, NotImplementedError)):
        MISTAKES[name](y)
    z = (y - x) * 0.75
    with pytest.raises((RuntimeError, IndexError, TypeError, NotImplementedError)):
        MISTAKES[name](z)
    expected = base * 2.5 + 1
    torch.testing.assert_close(y.cpu(), expected)
    torch.testing.assert_close(z.cpu(), (expected - base) * 0.75)
    torch.testing.assert_close(x.cpu(), base)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_on_fresh_inputs_takes_them_back(name: str) -> None:
    x = torch.tensor([1.0, 2.0, 3.0]).to("lazycore")
    lazycore.sync()
    trace = local.trace
    with pytest.raises((RuntimeError, IndexError, TypeError, NotImplementedError)):
        MISTAKES[name](x)
    if local.trace is trace:
        assert len(trace.inputs) == len(trace.input_refs) == trace.node.ninputs
        assert len(trace.scalars) == trace.node.nscalars
    assert (x + 1).tolist() == [2.0, 3.0, 4.0]


class Interrupted(BaseException):
    """Not an Exception, as KeyboardInterrupt is none."""


@pytest.mark.parametrize("place", ["infer", "_node", "current_source", "index_checks"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, Interrupted, MemoryError])
def test_an_interruption_while_a_call_is_recorded_first(
    place: str, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = torch.tensor([1.0, 2.0]).to("lazycore")
    y = x * 1.5

    def interrupt(*_: Any, **__: Any) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(record, place, interrupt)
        for call in (lambda: y.sin() + x.to("lazycore"), lambda: y.add_(2.5), lambda: y.exp_()):
            with pytest.raises(error):
                call()
    assert (y.sin_() * 0 + y.detach() * 0 + x * 1.5 + 2.5).tolist() == [4.0, 5.5]
    assert x.tolist() == [1.0, 2.0]


def test_an_interrupted_write_did_not_happen(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.tensor([1.0, 2.0]).to("lazycore") * 1.0
    version = x._version

    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(record, "infer", interrupt)
        with pytest.raises(KeyboardInterrupt):
            x.mul_(3.5)
    assert x.tolist() == [1.0, 2.0]
    assert x._version >= version
    assert x.mul_(3.5).tolist() == [3.5, 7.0]


def test_an_interruption_while_copying_to_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    y = torch.tensor([1.0, 2.0]).to("lazycore") + 1

    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(copies, "array_of", interrupt)
        with pytest.raises(KeyboardInterrupt):
            torch.ones(2).to("lazycore")
    assert (y + torch.ones(2).to("lazycore")).tolist() == [3.0, 4.0]


def test_an_exception_in_backward_leaves_gradients_and_trace_usable() -> None:
    class Failing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:  # noqa: ARG004
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:  # noqa: ARG004
            (grad * 3).sin()
            raise ValueError("in backward")

    x = torch.tensor([1.0, 2.0]).to("lazycore").requires_grad_()
    with pytest.raises(ValueError, match="in backward"):
        (Failing.apply(x * 3) + x).sum().backward()
    x.grad = None
    (x * x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 4.0]
