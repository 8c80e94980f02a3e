"""Frozen inputs on real programs: when they are bound, and that a launch never runs with a stale one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from lazycore_plugin_api import (
    CompileContext,
    DType,
    HostBuffer,
    HostSession,
    Node,
    Segment,
    Target,
    TensorSpec,
    Value,
)  # fmt: skip
from vendorkit.vendor import Vendor

import lazycore
from lazycore.frontend.freezing import PATIENCE
from lazycore.plugins import current

BIND = "\nPOLICY = Constants.bind"
OWN = """
POLICY = Constants.own

@hookimpl
def lazycore_prepare_constants(segment, constants, ctx):
    CALLS.append(("prepared", {p: a.tolist() for p, a in constants.items()}))
    return constants
"""


def inputs(*rows: float) -> torch.Tensor:
    return torch.tensor(rows).to("lazycore")


def launch(weight: torch.Tensor, i: int) -> list[float]:
    return (inputs(float(i), 2.0) * weight).cpu().tolist()


def bound(vendor: Vendor) -> list[bool]:
    """For each segment compiled, whether constants were bound in it."""
    return [bool(segment.constants) for segment in vendor.segments]


def test_a_weight_is_bound_after_some_equal_launches(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(BIND)
    with lazycore.use_backend("acme"):
        weight = inputs(10.0, 20.0)
        assert [launch(weight, i) for i in range(PATIENCE + 3)] == [[10.0 * i, 40.0] for i in range(PATIENCE + 3)]
    assert bound(acme) == [False, True]
    assert acme.calls("run") == [2] * PATIENCE + [1] * 3
    assert [a.tolist() for a in acme.segments[1].constants.values()] == [[10.0, 20.0]]


def test_a_backend_that_passes_them_never_compiles_twice(vendor: Callable[..., Vendor]) -> None:
    acme = vendor()
    with lazycore.use_backend("acme"):
        weight = inputs(10.0, 20.0)
        for i in range(8):
            launch(weight, i)
    assert bound(acme) == [False]


def test_a_weight_that_is_written_is_not_used_stale(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(OWN)
    with lazycore.use_backend("acme,reference"):
        weight = inputs(1.0, 1.0)
        for i in range(6):
            assert launch(weight, i) == [i, 2.0]
        weight.add_(1)
        lazycore.sync()
        for i in range(12):
            assert launch(weight, i) == [2.0 * i, 4.0]
    prepared = [list(call.values()) for call in acme.calls("prepared")]
    assert prepared == [[[1.0, 1.0]], [[2.0, 2.0]]]


def test_a_training_loop_is_never_bound(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(BIND)
    with lazycore.use_backend("acme,reference"):
        weight = inputs(1.0, 1.0)
        for _ in range(8):
            weight.mul_(2.0)
            lazycore.sync()
        assert weight.cpu().tolist() == [256.0, 256.0]
    assert not any(bound(acme))


def test_two_models_that_share_a_trace_get_their_own_weights(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(BIND)
    with lazycore.use_backend("acme"):
        one, two = inputs(1.0, 1.0), inputs(5.0, 5.0)
        for i in range(6):
            assert launch(one, i) == [i, 2.0]
        for i in range(6):
            assert launch(two, i) == [5.0 * i, 10.0]
            assert launch(one, i) == [i, 2.0]
    assert bound(acme).count(True) == 1


def test_binding_again_takes_twice_as_long(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(BIND)
    with lazycore.use_backend("acme"):
        for weight in (inputs(1.0, 1.0), inputs(2.0, 2.0)):
            for i in range(2 * PATIENCE + 1):
                launch(weight, i)
        assert bound(acme) == [False, True, True]
        third = inputs(3.0, 3.0)
        for i in range(2 * PATIENCE + 1):
            launch(third, i)
    assert bound(acme) == [False, True, True]


COUNTED = """
import weakref
PROGRAMS = weakref.WeakSet()

def remember(self, segment):
    self.segment = segment
    PROGRAMS.add(self)

Program.__init__ = remember
"""


def test_a_weight_that_is_gone_takes_its_plan_along(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(BIND + COUNTED)
    with lazycore.use_backend("acme"):
        weight = inputs(1.0, 1.0)
        for i in range(PATIENCE + 1):
            launch(weight, i)
        assert len(acme.module.PROGRAMS) == 2
        del weight
        assert len(acme.module.PROGRAMS) == 1


def test_equal_contents_are_prepared_once(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(OWN)
    with lazycore.use_backend("acme"):
        (backend,) = current()
        for _ in range(2):
            first = backend.compile([doubled({1: np.array([3.0, 4.0], np.float32)})])
            again = backend.compile([doubled({1: np.array([3.0, 4.0], np.float32)})])
            assert len(acme.calls("prepared")) % 2 == 1
            other = backend.compile([doubled({1: np.array([5.0, 4.0], np.float32)})])
            del first, again, other
            acme.module.SEGMENTS.clear()
    assert len(acme.calls("prepared")) == 4


def doubled(constants: dict[int, np.ndarray]) -> Segment:
    x, w, y = (Value(i, TensorSpec((2,), DType.float32)) for i in range(3))
    return Segment((x, w), [Node("aten.mul.Tensor", (x, w), {}, (y,))], (y,), constants=constants)


@pytest.mark.parametrize("name", ["reference", "xla"])
def test_the_backends_of_the_tree_compile_bound_constants(name: str) -> None:
    with lazycore.use_backend(name) as (backend,):
        (executable,) = backend.compile([doubled({1: np.array([3.0, 4.0], np.float32)})])
        session = backend.session
        (result,) = executable.run([session.upload(np.array([1.0, 2.0], np.float32))])
        np.testing.assert_array_equal(result.to_host(), [3.0, 8.0])


def test_reference_does_not_store_what_it_cannot_read_back() -> None:
    from lazycore_reference.plugin import lazycore_compile

    ctx = CompileContext(HostSession(), Target("reference", "cpu"))
    plain, constant = lazycore_compile([doubled({}), doubled({1: np.ones(2, np.float32)})], ctx)
    assert plain.serialize() is not None
    assert constant.serialize() is None
    assert constant.run([HostBuffer(np.ones(2, np.float32))])[0].to_host().tolist() == [1.0, 1.0]
