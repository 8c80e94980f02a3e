"""A backend that cannot compile what it claimed: a warning, and another one runs it; in strict mode an error."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
import torch
from lazycore_plugin_api import BackendError, UnknownBackend

import lazycore
from lazycore.compiler.failures import BackendWarning

from .conftest import Control


@pytest.fixture
def strict() -> Iterator[None]:
    lazycore.config.strict = True
    yield
    lazycore.config.strict = False


def refuse() -> None:
    raise MemoryError("out of registers")


def result() -> list[float]:
    return list((torch.tensor([1.0, 2.0]).to("lazycore") * 2.5 + 1.5).tolist())


def test_the_next_backend_runs_it(vendor: str, control: Control) -> None:
    control.on_compile = refuse
    with lazycore.use_backend(f"{vendor},reference"):
        with pytest.warns(BackendWarning) as caught:
            assert result() == [4.0, 6.5]
        (warning,) = [w for w in caught if w.category is BackendWarning]
        text = str(warning.message)
        assert vendor in text
        assert "aten.mul.Tensor" in text
        assert "out of registers" in text
        assert "reference" in text
        assert warning.filename.endswith("test_failing_compiles.py")
        assert not lazycore.metrics()["fallbacks"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert result() == [4.0, 6.5], "compiled once, warned once"


def test_without_another_backend_it_runs_eagerly(vendor: str, control: Control) -> None:
    control.on_compile = refuse
    with lazycore.use_backend(vendor):
        with pytest.warns(BackendWarning, match="eager PyTorch"):
            assert result() == [4.0, 6.5]
        assert set(lazycore.metrics()["fallbacks"]) >= {"aten.mul.Tensor", "aten.add.Tensor"}


@pytest.mark.usefixtures("strict")
def test_strict_mode_raises(vendor: str, control: Control) -> None:
    control.on_compile = refuse
    with lazycore.use_backend(f"{vendor},reference"):
        x = torch.tensor([1.0, 2.0]).to("lazycore")
        y = x * 2.5
        with pytest.raises(BackendError, match="out of registers") as caught:
            lazycore.sync()
        assert "test_failing_compiles.py" in str(caught.value)
        hook_error = caught.value.__cause__
        assert hook_error is not None
        assert isinstance(hook_error.__cause__, MemoryError), "the plugin's own exception"
        with pytest.raises(BackendError):
            y.tolist()
        control.on_compile = None
        assert (x * 2.5).tolist() == [2.5, 5.0]


@pytest.mark.usefixtures("strict")
def test_strict_mode_raises_for_ops_that_nobody_takes(vendor: str, control: Control) -> None:
    control.refused = frozenset(("aten.sin.default",))
    with lazycore.use_backend(vendor):
        with pytest.raises(BackendError, match=r"aten\.sin\.default"):
            torch.ones(2).to("lazycore").sin().tolist()
        assert result() == [4.0, 6.5]


def test_an_op_that_it_refuses_goes_to_the_next_backend(vendor: str, control: Control) -> None:
    control.refused = frozenset(("aten.sin.default",))
    with lazycore.use_backend(f"{vendor},reference"):
        got = (torch.ones(2).to("lazycore") + 1.5).sin().exp()
        torch.testing.assert_close(got.cpu(), (torch.ones(2) + 1.5).sin().exp())
        assert control.runs == 2
        assert not lazycore.metrics()["fallbacks"]


def test_a_failed_compile_loses_no_parameter(vendor: str, control: Control) -> None:
    with lazycore.use_backend(vendor):
        weight = torch.ones(2).to("lazycore")
        lazycore.sync()
        control.on_compile = refuse
        weight.mul_(2.5)
        with pytest.warns(BackendWarning):
            assert weight.tolist() == [2.5, 2.5]


def test_an_interrupted_compile(vendor: str, control: Control) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with lazycore.use_backend(vendor):
        weight = torch.ones(2).to("lazycore")
        lazycore.sync()
        control.on_compile = interrupt
        weight.mul_(2.5)
        with pytest.raises(KeyboardInterrupt):
            lazycore.sync()
        control.on_compile = None
        assert weight.tolist() == [1.0, 1.0]
        assert weight.mul_(2.5).tolist() == [2.5, 2.5]


def test_a_backend_that_is_not_installed() -> None:
    with pytest.raises(UnknownBackend, match=r"no backend named 'nobody' is installed; installed: .*reference"):
        lazycore.use_backend("nobody")
    assert result() == [4.0, 6.5], "the selection is as it was"


def test_two_backends_share_a_tensor(vendor: str, control: Control) -> None:
    x = torch.tensor([1.0, 2.0]).to("lazycore")
    for _ in range(3):
        with lazycore.use_backend(vendor):
            x.mul_(2)
            lazycore.sync()
        with lazycore.use_backend("reference"):
            x.add_(1)
            lazycore.sync()
    assert x.tolist() == [15.0, 23.0]
    assert control.runs == 3
