"""One sample on the backend under test: taken, compiled, run there, its results right and its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from lazycore_plugin_api import (
    Buffer,
    CompileFailure,
    DType,
    Executable,
    HostArray,
    Segment,
    TensorSpec,
    node_text,
)
from lazycore_plugin_api.difference import Tolerance, compare

from lazycore.conformance.case import Failed
from lazycore.conformance.guard import watched
from lazycore.conformance.tolerances import keeps_zeros, tolerance_for
from lazycore.plugins.backend import LoadedBackend

__all__ = ["check_outputs", "check_values", "compiled", "run_guarded", "run_segment"]

_SHOWN = 400


def compiled(backend: LoadedBackend, segment: Segment) -> Executable:
    """The segment's executable. Raises Failed where the backend claims it and does not compile it."""
    (result,) = backend.compile([segment])
    if isinstance(result, CompileFailure):
        cause = f" ({result.error})" if result.error else ""
        raise Failed(f"{segment.name}: claimed, and not compiled: {result.reason}{cause}"[:_SHOWN])
    return result


def run_segment(
    backend: LoadedBackend,
    executable: Executable,
    segment: Segment,
    arrays: Sequence[HostArray],
    others: Sequence[type[Executable]] = (),
) -> list[HostArray]:
    """Run on copies of ``arrays``; the outputs on the host. Raises Failed for results of a wrong kind, number, shape or
    dtype, for an input written or returned, for work done elsewhere, and for what the executable raises."""
    given = [
        a.copy() if p in segment.scalars else backend.session.upload(np.array(a, copy=True, order="C"))
        for p, a in enumerate(arrays)
    ]
    results = run_guarded(executable, segment, given, others)
    outputs = check_outputs(segment, results)
    _check_inputs(segment, given, arrays)
    _check_ownership(segment, given, results, outputs)
    return outputs


def run_guarded(
    executable: Executable,
    segment: Segment,
    given: Sequence[Buffer | HostArray],
    others: Sequence[type[Executable]] = (),
) -> list[Buffer]:
    """One run; what it returned, after waiting. Raises Failed where it raises, or where another computes for it."""
    foreign = [kind for kind in others if kind is not type(executable)]
    try:
        with watched(foreign) as borrowed:
            results = list(executable.run(given))
            for buffer in results:
                buffer.wait()
    except Exception as error:
        raise Failed(f"{segment.name}: run raised {type(error).__name__}: {error}"[:_SHOWN]) from error
    if borrowed.names:
        raise Failed(f"{segment.name}: claimed, and ran elsewhere: {', '.join(dict.fromkeys(borrowed.names))}"[:_SHOWN])
    return results


def check_outputs(segment: Segment, results: Sequence[Buffer]) -> list[HostArray]:
    """The results on the host. Raises Failed where they are not what the segment says."""
    if len(results) != len(segment.outputs):
        raise Failed(f"{segment.name}: {len(results)} results where {len(segment.outputs)} are due")
    arrays = []
    for position, (buffer, value) in enumerate(zip(results, segment.outputs, strict=True)):
        if not isinstance(buffer, Buffer):
            raise Failed(f"{segment.name}: output {position} is a {type(buffer).__name__}, no Buffer")
        array = buffer.to_host()
        found = TensorSpec(tuple(array.shape), DType.of(array.dtype))
        if found != value.spec or buffer.spec != value.spec:
            raise Failed(
                f"{segment.name}: output {position} is {found}, its buffer says {buffer.spec}, due is {value.spec}"
            )
        arrays.append(array)
    return arrays


def _check_inputs(segment: Segment, given: Sequence[Buffer | HostArray], arrays: Sequence[HostArray]) -> None:
    for position, (item, original) in enumerate(zip(given, arrays, strict=True)):
        now = item.to_host() if isinstance(item, Buffer) else item
        if now.tobytes() != original.tobytes():
            raise Failed(
                f"{segment.name}: input {position} was written: {_show(now)} where {_show(original)} was given"
            )


def _check_ownership(
    segment: Segment, given: Sequence[Buffer | HostArray], results: Sequence[Buffer], outputs: Sequence[HostArray]
) -> None:
    for i, (buffer, array) in enumerate(zip(results, outputs, strict=True)):
        for j, item in enumerate(given):
            if item is buffer or np.shares_memory(array, item.to_host() if isinstance(item, Buffer) else item):
                raise Failed(f"{segment.name}: output {i} is, or shares memory with, input {j}, and declares no alias")
        for j in range(i):
            if results[j] is buffer or np.shares_memory(array, outputs[j]):
                raise Failed(f"{segment.name}: outputs {j} and {i} share memory")


def check_values(
    segment: Segment,
    got: Sequence[HostArray],
    expected: Sequence[HostArray],
    loosened: Mapping[str, tuple[float, float]],
    vague: Sequence[int] = (),
    fixed: Tolerance | None = None,
) -> dict[str, tuple[float, float]]:
    """The tolerances used, by ``op dtype``. Raises Failed for the first output that is wrong. Zeros' signs count where
    the op computes nothing. ``fixed``: the tolerance of all outputs."""
    producers = segment.producers()
    used: dict[str, tuple[float, float]] = {}
    for position, (value, mine, right) in enumerate(zip(segment.outputs, got, expected, strict=True)):
        node = producers[value.id]
        of_complex = any(v.spec.dtype.is_complex for v in node.inputs())
        tolerance = fixed or tolerance_for(node.op, value.spec.dtype, loosened, of_complex)
        used[f"{node.op} {value.spec.dtype.value}"] = (tolerance.rtol, tolerance.atol)
        if position in vague:
            continue
        text = _difference(position, mine, right, tolerance, keeps_zeros(node.op))
        if text:
            raise Failed(f"{node_text(node)}: {text} (rtol {tolerance.rtol:g}, atol {tolerance.atol:g})")
    return used


def _difference(position: int, got: HostArray, right: HostArray, tolerance: Tolerance, signs: bool) -> str:
    difference = compare(position, got, right, tolerance)
    if difference is not None:
        return str(difference)
    if signs and right.dtype.kind == "f" and bool(((np.signbit(got) != np.signbit(right)) & (right == 0)).any()):
        return "a zero has the wrong sign"
    return ""


def _show(array: HostArray) -> str:
    return np.array2string(array.reshape(-1)[:6], threshold=6)
