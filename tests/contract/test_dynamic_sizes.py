"""Sizes that vary, as a vendor's plugin sees them: what it is asked, what it compiles, what its launches get."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
import torch
from lazycore_plugin_api import Dim, Segment, specialized, to_text
from vendorkit.vendor import Vendor

import lazycore
from lazycore.compiler.failures import BackendWarning
from lazycore.report.recompiles import RecompileWarning

INFO = """
@hookimpl
def lazycore_backend_info():
    return BackendInfo(NAME, "3.1", constants=POLICY, capabilities=Capabilities(dynamic_dims=True))

KERNELS["aten.view.default"] = np.reshape
TAKES |= {"aten.view.default"}
"""
VARYING = (
    INFO
    + """
class AnySize(Program):
    # What a vendor writes: sizes are read off the inputs, and the Dims of nodes are worked out by them.
    def run(self, inputs):
        places = symbol_places(self.segment)
        sizes = sizes_of(places, inputs)
        CALLS.append(("sizes", sizes))
        arrays = [x.to_host() if isinstance(x, Buffer) else x for x in inputs]
        return [HostBuffer(np.array(a)) for a in interpret(specialized(self.segment, sizes), arrays)]

@hookimpl
def lazycore_compile(segments, ctx):
    CALLS.append(("lazycore_compile", len(segments)))
    return [AnySize(s) if is_dynamic(s) else Program(s) for s in segments]
"""
)


def body(n: int, rows: int = 3) -> torch.Tensor:
    x = torch.arange(float(rows * n)).reshape(rows, n).to("lazycore")
    return (x.view(n * rows) * -x.view(n * rows)).relu().cpu()


def right(n: int, rows: int = 3) -> torch.Tensor:
    x = torch.arange(float(rows * n)).reshape(rows, n)
    return (x.view(n * rows) * -x.view(n * rows)).relu()


def shapes(acme: Vendor) -> list[str]:
    return [str(value.spec) for segment in acme.segments for value in segment.inputs]


def test_the_second_size_makes_a_program_for_all(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(VARYING)
    with lazycore.use_backend("acme"), warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (4, 5, 9, 4, 7):
            torch.testing.assert_close(body(n), right(n))
    assert shapes(acme) == ["f32[3,4]", "f32[3,s0]"]
    assert acme.calls("sizes") == [{"s0": 5}, {"s0": 9}, {"s0": 7}]
    counts = lazycore.metrics()
    assert (counts["compiles"], counts["shared"]) == (2, 2)


def test_arguments_vary_along(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(VARYING)
    with lazycore.use_backend("acme"):
        for n in (4, 5):
            body(n)
    static, general = acme.segments
    assert "aten.view.default(%0, [3*s0])" in to_text(general)
    assert isinstance(general, Segment)
    assert to_text(specialized(general, {"s0": 4})) == to_text(static)
    assert all(size.low == 2 for value in general.inputs for size in value.spec.shape if isinstance(size, Dim))


def test_sizes_zero_and_one_are_programs_of_their_own(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(VARYING)
    with lazycore.use_backend("acme"):
        for n in (4, 5, 1, 0, 2, 1, 0):
            torch.testing.assert_close(body(n), right(n))
    assert shapes(acme) == ["f32[3,4]", "f32[3,s0]", "f32[3,1]", "f32[3,0]"]


def test_two_sizes_that_vary_apart_after_varying_together(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(VARYING)
    with lazycore.use_backend("acme"):
        for n, rows in ((4, 4), (5, 5), (3, 7), (8, 2), (6, 9)):
            torch.testing.assert_close(body(n, rows), right(n, rows))
    assert shapes(acme) == ["f32[4,4]", "f32[s0,s0]", "f32[s1,s0]"]


def test_a_backend_that_does_not_say_so_sees_no_symbols(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(INFO.replace("dynamic_dims=True", ""))
    with lazycore.use_backend("acme"):
        for n in (4, 5, 6):
            body(n)
    assert shapes(acme) == ["f32[3,4]", "f32[3,5]", "f32[3,6]"]


REFUSES = (
    VARYING
    + """
@hookimpl
def lazycore_supports(node, target):
    if any(isinstance(a, tuple) and any(isinstance(s, Dim) for s in a) for a in node.args):
        return Rejected("shape", f"{node.op} with a size that varies")
    return Supported() if node.op in TAKES else Rejected("op", f"no {node.op}")
"""
)


def test_what_it_refuses_is_compiled_size_by_size_and_explained(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(REFUSES)
    with lazycore.use_backend("acme"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RecompileWarning)
        for n in (4, 5, 6):
            torch.testing.assert_close(body(n), right(n))
        assert "for its own sizes: aten.view.default: aten.view.default with a size that varies" in str(
            lazycore.explain()
        )
    assert shapes(acme) == ["f32[3,4]", "f32[3,5]", "f32[3,6]"]


FAILS = (
    VARYING
    + """
@hookimpl
def lazycore_compile(segments, ctx):
    return [CompileFailure("no room for symbols") if is_dynamic(s) else Program(s) for s in segments]
"""
)


def test_a_compile_that_fails_is_warned_of_once(vendor: Callable[..., Vendor]) -> None:
    acme = vendor(FAILS)
    with lazycore.use_backend("acme"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in (4, 5, 6, 7):
            torch.testing.assert_close(body(n), right(n))
    failed = [str(w.message) for w in caught if w.category is BackendWarning]
    assert len(failed) == 1
    assert "no room for symbols. That was for all sizes: it is compiled for each size on its own." in failed[0]
    assert len(acme.segments) == 4


LIES = (
    VARYING
    + """
class Liar(Program):
    def run(self, inputs):
        return [HostBuffer(np.zeros(3, np.float32)) for _ in self.segment.outputs]

@hookimpl
def lazycore_compile(segments, ctx):
    return [Liar(s) if is_dynamic(s) else Program(s) for s in segments]
"""
)


def test_outputs_of_other_sizes_break_the_contract(vendor: Callable[..., Vendor]) -> None:
    vendor(LIES)
    with lazycore.use_backend("acme"):
        body(4)
        with pytest.raises(RuntimeError, match=r"returned f32\[3\] as output 0 where f32\[15\] is due"):
            body(5)


def test_explanations_tell_the_sizes(vendor: Callable[..., Vendor]) -> None:
    vendor(VARYING)
    with lazycore.use_backend("acme"):
        for n in (4, 5, 6):
            body(n)
        assert "for all sizes, here s0=6" in str(lazycore.explain())
