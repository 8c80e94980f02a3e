"""Compiling and running segments: ownership, threads, what would end the process, failures."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from textwrap import dedent

import numpy as np
import pytest
from lazycore_plugin_api import (
    BackendError,
    CompileContext,
    CompileFailure,
    DType,
    HostArray,
    Rejected,
    Segment,
    from_text,
)
from lowering.backends import Backend
from lowering.compare import check_ownership


def _segment(text: str) -> Segment:
    graph = from_text(dedent(text))
    assert isinstance(graph, Segment)
    return graph


def _run(tvm: Backend, text: str, *arrays: HostArray) -> list[HostArray]:
    segment = _segment(text)
    executable = tvm.compile(segment)
    return [b.to_host() for b in executable.run(tvm.bind(segment, list(arrays)))]


SHARING = """
    segment(%0: f32[4]) {
      %1: f32[2,2] = aten.view.default(%0, [2, 2])
      %2: f32[4] = aten.neg.default(%0)
      %3: f32[2,2] = aten.view.default(%2, [2, 2])
      %4: f32[4] = aten.clone.default(%2)
      return %0, %1, %2, %3, %4, %2
    }
"""


def test_no_output_shares_memory(tvm: Backend) -> None:
    array = np.arange(4, dtype=np.float32)
    results = _run(tvm, SHARING, array)
    check_ownership(results, [array], "sharing")
    for result, sign in zip(results, (1, 1, -1, -1, -1, -1), strict=True):
        assert result.reshape(-1).tolist() == (sign * array).tolist()


def test_runs_do_not_share_outputs(tvm: Backend) -> None:
    segment = _segment("segment() {\n  %0: f32[3] = aten.full.default([3], 2.0, dtype=f32)\n  return %0\n}")
    executable = tvm.compile(segment)
    first, second = (executable.run([])[0].to_host() for _ in range(2))
    check_ownership([first, second], [], "constant")


def test_dividing_by_zero_and_overflow_end_nothing(tvm: Backend) -> None:
    text = """
        segment(%0: i32[3], %1: i32[3]) {
          %2: i32[3] = aten.floor_divide.default(%0, %1)
          %3: i32[3] = aten.remainder.Tensor(%0, %1)
          return %2, %3
        }
    """
    lowest = np.iinfo(np.int32).min
    quotient, rest = _run(tvm, text, np.array([7, lowest, -7], np.int32), np.array([0, -1, 2], np.int32))
    assert quotient[1:].tolist() == [lowest, -4]
    assert rest[1:].tolist() == [0, 1]


def test_reading_out_of_range_ends_nothing(tvm: Backend) -> None:
    text = """
        segment(%0: f32[3], %1: i64[3]) {
          %2: f32[3] = aten.gather.default(%0, 0, %1, sparse_grad=False)
          return %2
        }
    """
    (result,) = _run(tvm, text, np.arange(3, dtype=np.float32), np.array([2, 2**40, -(2**40)]))
    assert result[0] == 2


def test_writing_out_of_range_is_an_error(tvm: Backend) -> None:
    text = """
        segment(%0: f32[3], %1: i64[1], %2: f32[1]) {
          %3: f32[3] = aten.scatter_add.default(%0, 0, %1, %2)  # train.py:12
          return %3
        }
    """
    arrays = np.zeros(3, np.float32), np.array([5]), np.ones(1, np.float32)
    with pytest.raises(BackendError, match=r"aten\.scatter_add\.default \(train\.py:12\)"):
        _run(tvm, text, *arrays)


def test_whole_numbers_wrap_around_before_they_are_compared(tvm: Backend) -> None:
    text = """
        segment(%0: i64[2]) {
          %1: i64[2] = aten.add.Scalar(%0, 1, 1)
          %2: b1[2] = aten.gt.Tensor(%1, %0)
          return %2
        }
    """
    (result,) = _run(tvm, text, np.array([2**63 - 1, 5]))
    assert result.tolist() == [False, True]


def test_rounding_survives_fusion(tvm: Backend) -> None:
    text = """
        segment(%0: f32[1]) {
          %1: bf16[1] = aten._to_copy.default(%0, dtype=bf16)
          %2: f32[1] = aten._to_copy.default(%1, dtype=f32)
          %3: f32[1] = aten.sub.Tensor(%0, %2, alpha=1)
          return %3
        }
    """
    (result,) = _run(tvm, text, np.array([1.001], np.float32))
    assert result[0] == np.float32(1.001) - 1


def test_long_sums_are_as_good_as_pairwise_ones(tvm: Backend) -> None:
    text = """
        segment(%0: f32[4000000]) {
          %1: f32[] = aten.sum.default(%0, dtype=None)
          return %1
        }
    """
    (result,) = _run(tvm, text, np.full(4_000_000, 0.1, np.float32))
    assert float(result) == pytest.approx(400_000, rel=1e-6)


def test_strided_and_unaligned_arrays(tvm: Backend) -> None:
    text = "segment(%0: f32[3,2]) {\n  %1: f32[3,2] = aten.exp.default(%0)\n  return %1\n}"
    whole = np.linspace(0, 1, 13, dtype=np.float32)
    for array in (whole[1:7].reshape(2, 3).T, whole[1:7].reshape(3, 2), whole[::2][:6].reshape(3, 2)):
        np.testing.assert_allclose(_run(tvm, text, array)[0], np.exp(array), rtol=1e-6)


def test_several_threads_run_one_program(tvm: Backend) -> None:
    segment = _segment("segment(%0: f32[64]) {\n  %1: f32[64] = aten.exp.default(%0)\n  return %1\n}")
    executable = tvm.compile(segment)

    def work(number: int) -> None:
        array = np.full(64, number / 8, np.float32)
        for _ in range(50):
            (result,) = executable.run(tvm.bind(segment, [array]))
            np.testing.assert_allclose(result.to_host(), np.exp(array), rtol=1e-6)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(8)))


def test_several_threads_compile(tvm: Backend) -> None:
    def work(size: int) -> None:
        text = f"segment(%0: f32[{size}]) {{\n  %1: f32[{size}] = aten.neg.default(%0)\n  return %1\n}}"
        assert _run(tvm, text, np.ones(size, np.float32))[0].tolist() == [-1.0] * size

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(1, 9)))


REJECTED = [
    ("aten.unheard_of.default(%0)", "f32[4]", "op"),
    ("aten.exp.default(%0)", "c64[4]", "dtype"),
    ("aten.mean.default(%0, dtype=None)", "f32[0]", "shape"),
]


@pytest.mark.parametrize(("call", "spec", "code"), REJECTED)
def test_what_is_left_to_others_has_a_reason(tvm: Backend, call: str, spec: str, code: str) -> None:
    result = "f32[]" if "mean" in call else spec
    segment = _segment(f"segment(%0: {spec}) {{\n  %1: {result} = {call}\n  return %1\n}}")
    decision = tvm.supports(segment.nodes[0])
    assert isinstance(decision, Rejected)
    assert decision.code == code
    assert segment.nodes[0].op in decision.reason


def test_a_segment_that_cannot_be_compiled_fails_alone(tvm: Backend) -> None:
    good = _segment("segment(%0: f32[2]) {\n  %1: f32[2] = aten.neg.default(%0)\n  return %1\n}")
    bad = _segment("segment(%0: f32[2]) {\n  %1: f32[2] = aten.unheard_of.default(%0)  # train.py:3\n  return %1\n}")
    context = CompileContext(tvm.session, tvm.target)
    failure, executable = tvm.hook.lazycore_compile(segments=[bad, good], ctx=context)
    assert isinstance(failure, CompileFailure)
    assert "aten.unheard_of.default (train.py:3)" in failure.reason
    assert executable.run(tvm.bind(good, [np.ones(2, np.float32)]))[0].to_host().tolist() == [-1, -1]


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
def test_every_dtype_and_shape_comes_back_as_it_went(tvm: Backend, shape: tuple[int, ...]) -> None:
    for dtype in sorted(tvm.info.dtypes, key=str):
        array = (np.arange(int(np.prod(shape))) % 3).reshape(shape).astype(dtype.numpy)
        for buffer in (tvm.session.upload(array), tvm.session.copy(tvm.session.upload(array))):
            back = buffer.to_host()
            assert (back.shape, back.dtype, back.tobytes()) == (shape, dtype.numpy, array.tobytes())


def test_a_copy_is_a_buffer_of_its_own(tvm: Backend) -> None:
    first = tvm.session.upload(np.ones(1024, DType.float32.numpy))
    assert not np.shares_memory(first.to_host(), tvm.session.copy(first).to_host())


CHAINS = [("aten.clamp.default(%{x}, 0.1, 5.0)", "f32"), ("aten.gelu.default(%{x}, approximate='tanh')", "bf16")]


@pytest.mark.parametrize(("call", "dtype"), CHAINS)
def test_a_long_chain_compiles_in_no_time(tvm: Backend, call: str, dtype: str) -> None:
    """A value that is written out wherever it is used takes a factor for each op."""
    lines = [f"%{k}: {dtype}[64] = {call.format(x=k - 1)}" for k in range(1, 61)]
    segment = _segment("\n".join([f"segment(%0: {dtype}[64]) {{", *lines, "return %60", "}"]))
    start = time.process_time()
    tvm.compile(segment)
    assert time.process_time() - start < 10


WITHOUT_TORCH = """
    import sys

    class Blocker:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in ("torch", "lazycore", "jax"):
                raise ImportError(f"{name} is not to be had")

    sys.meta_path.insert(0, Blocker())
    import numpy as np
    from lazycore_plugin_api import CompileContext, OpenContext, Target, from_text
    from lazycore_tvm import plugin

    assert "tvm" not in sys.modules, "listing backends must not import TVM"
    segment = from_text('''
    segment(%0: f32[2,3], %1: f32[3,2], %2: f32[] scalar) {
      %3: f32[2,2] = aten.mm.default(%0, %1)
      %4: f32[2,2] = aten.add.Scalar(%3, %2, 1)
      %5: f32[2,2] = aten.relu.default(%4)
      return %5
    }
    ''')
    target = Target("tvm", "cpu")
    session = plugin.lazycore_open(OpenContext(target))
    (executable,) = plugin.lazycore_compile([segment], CompileContext(session, target))
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3) - 3, np.arange(6, dtype=np.float32).reshape(3, 2)
    inputs = [session.upload(a), session.upload(b), np.asarray(0.5, np.float32)]
    (result,) = executable.run(inputs)
    np.testing.assert_allclose(result.to_host(), np.maximum(a @ b + 0.5, 0), rtol=1e-6)
    print("ran")
"""


def test_it_needs_no_torch() -> None:
    command = [sys.executable, "-c", dedent(WITHOUT_TORCH)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "ran", done.stderr
