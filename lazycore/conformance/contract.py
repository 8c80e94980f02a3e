"""Level 0: what the contract asks of every backend, whatever it computes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from lazycore_plugin_api import (
    API_VERSION,
    Artifact,
    ArtifactMeta,
    Buffer,
    Compat,
    CompileFailure,
    Constants,
    DType,
    Executable,
    HostArray,
    LazycoreError,
    Node,
    Pattern,
    Profile,
    Rejected,
    Segment,
    Session,
    Supported,
    TensorSpec,
    Threads,
    Value,
    to_text,
)

from lazycore.conformance.case import Case, Failed, Outcome, Skipped, Status
from lazycore.conformance.context import Context
from lazycore.conformance.graph.cases import joined, samples_of
from lazycore.conformance.graph.check import check_values, compiled, run_segment
from lazycore.conformance.graph.sample import Sample
from lazycore.conformance.graph.table import rows_by_op
from lazycore.conformance.opening import open_backend
from lazycore.conformance.patience import TICK, Patience
from lazycore.conformance.vendor import own_cases
from lazycore.plugins.discovery import installed

__all__ = ["CHECKS", "cases", "claimed_samples", "run"]

_RUNS = 8
_SECONDS = 20.0


def cases() -> list[Case]:
    """One case per check."""
    return [Case(0, f"contract/{name}") for name in CHECKS]


def run(case: Case, context: Context) -> Outcome:
    """Run the check of that name."""
    outcome = Outcome()
    try:
        CHECKS[case.name](context)
    except Skipped as error:
        outcome.status, outcome.message = Status.skipped, str(error)
    except (Failed, LazycoreError) as error:
        outcome.fail(str(error))
    return outcome


def claimed_samples(context: Context, count: int) -> list[Sample]:
    """The first few float32 samples that the backend takes, or of its first dtype that has any. Raises Failed where it
    takes none."""
    order = sorted(context.backend.info.dtypes, key=lambda d: d is not DType.float32)
    found: list[Sample] = []
    for dtype in order:
        for op in rows_by_op():
            found += [s for s in samples_of(op, dtype, False) if isinstance(context.decision(s.node), Supported)][:1]
            if len(found) >= count:
                return found
        if found:
            return found
    raise Failed("it takes none of the opset's operators, in no dtype")


def _discovery(context: Context) -> None:
    candidate = installed().get(context.name)
    if candidate is None:
        raise Failed(f"no backend named {context.name!r} is installed")
    if candidate.rivals:
        raise Failed(f"{', '.join(candidate.rivals)} all claim the name {context.name!r}")
    if candidate.entry.dist is None:
        raise Failed(f"{candidate} belongs to no installed distribution")


def _loading(context: Context) -> None:
    _ = context.backend  # imports it, checks its info, its hooks' names, marks and signatures


def _version(context: Context) -> None:
    version = context.backend.info.api_version
    if version > API_VERSION:
        raise Failed(f"it is written for version {version} of the contract; this suite tests {API_VERSION}")


def _session(context: Context) -> None:
    session = context.backend.session
    if not isinstance(session, Session):
        raise Failed(f"lazycore_open returned a {type(session).__name__}")
    session.synchronize()
    stats = session.memory_stats()
    if not all(isinstance(k, str) and isinstance(v, int) for k, v in stats.items()):
        raise Failed(f"memory_stats returned {stats!r}, no mapping of names to bytes")


def _buffers(context: Context) -> None:
    session = context.backend.session
    for dtype in sorted(context.backend.info.dtypes, key=lambda d: d.value):
        for shape in ((), (0,), (2, 0, 3), (2, 3)):
            array = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype.numpy)
            for buffer in (session.upload(array.copy()), session.copy(session.upload(array.copy()))):
                _check_buffer(buffer, array, TensorSpec(shape, dtype))


def _check_buffer(buffer: object, array: HostArray, spec: TensorSpec) -> None:
    if not isinstance(buffer, Buffer):
        raise Failed(f"upload returned a {type(buffer).__name__} for {spec}, no Buffer")
    back = buffer.to_host()
    if buffer.spec != spec or back.shape != array.shape or back.dtype != array.dtype:
        raise Failed(f"an array of {spec} came back as {back.dtype}{list(back.shape)}, its buffer says {buffer.spec}")
    if back.tobytes() != array.tobytes():
        raise Failed(f"an array of {spec} came back with another content")
    if buffer.deleted:
        raise Failed(f"a buffer of {spec} that nobody donated says that it is deleted")


def _decisions(context: Context) -> None:
    for op in rows_by_op():
        for sample in samples_of(op, DType.float32, False)[:1]:
            before = to_text(sample.segment)
            first, second = context.decision(sample.node), context.decision(sample.node)
            if type(first) is not type(second):
                raise Failed(f"lazycore_supports answers differently when it is asked again about {op}")
            if isinstance(first, Rejected) and not (first.code and first.reason):
                raise Failed(f"lazycore_supports rejects {op} without a code or a reason")
            if to_text(sample.segment) != before:
                raise Failed(f"lazycore_supports changed the node of {op}")


def _unknown(context: Context) -> None:
    value, out = (Value(i, TensorSpec((2,), DType.float32)) for i in range(2))
    decision = context.decision(Node("nobody.has_this.default", (value, None, (1, 2)), {"flag": True}, (out,)))
    if not isinstance(decision, Rejected):
        raise Failed("lazycore_supports takes nobody.has_this.default, an operator that does not exist")


def _order(context: Context) -> None:
    samples = claimed_samples(context, 4)
    texts = [to_text(s.segment) for s in samples]
    results = context.backend.compile([s.segment for s in samples])
    if len(results) != len(samples):
        raise Failed(f"lazycore_compile returned {len(results)} results for {len(samples)} segments")
    for sample, text, executable in zip(samples, texts, results, strict=True):
        if isinstance(executable, CompileFailure):
            raise Failed(f"{sample.segment.name}: claimed, and not compiled: {executable.reason}")
        if to_text(sample.segment) != text:
            raise Failed(f"lazycore_compile changed the segment of {sample.segment.name}")
        _check_run(context, executable, sample)


def _check_run(context: Context, executable: Executable, sample: Sample) -> None:
    expected = context.oracle.expected(sample.segment, sample.arrays)
    outputs = run_segment(context.backend, executable, sample.segment, sample.arrays, context.foreign)
    if expected is not None:
        check_values(sample.segment, outputs, expected, context.profile.tolerances, sample.vague)


def _refusal(context: Context) -> None:
    value, out = (Value(i, TensorSpec((2,), DType.float32)) for i in range(2))
    node = Node("nobody.has_this.default", (value,), {}, (out,))
    results = context.backend.compile([Segment((value,), [node], (out,), name="unknown operator")])
    if not isinstance(results[0], CompileFailure):
        raise Failed("lazycore_compile made an executable of nobody.has_this.default, an operator that does not exist")


def _again(context: Context) -> None:
    sample = claimed_samples(context, 1)[0]
    executable = compiled(context.backend, sample.segment)
    other = replace(sample, arrays=tuple(np.array(np.roll(a, 1)) for a in sample.arrays))
    for each in (sample, other, sample):
        _check_run(context, executable, each)


def _apart(context: Context) -> None:
    sample = claimed_samples(context, 1)[0]
    segment, arrays, _ = joined([sample, sample])
    run_segment(context.backend, compiled(context.backend, segment), segment, arrays, context.foreign)


def _threads(context: Context) -> None:
    samples = claimed_samples(context, 3)
    programs = [compiled(context.backend, s.segment) for s in samples]
    concurrent = context.backend.info.capabilities.run_threads is Threads.concurrent
    turn = threading.Lock()

    def work(number: int) -> None:
        for _ in range(_RUNS):
            sample, program = samples[number % len(samples)], programs[number % len(samples)]
            given = [context.backend.session.upload(a.copy()) for a in sample.arrays]
            if concurrent:
                results = program.run(given)
            else:
                with turn:
                    results = program.run(given)
            expected = context.oracle.expected(sample.segment, sample.arrays)
            if expected is not None:
                outputs = [b.to_host() for b in results]
                check_values(sample.segment, outputs, expected, context.profile.tolerances, sample.vague)

    _in_threads(work, 4)


def _compile_threads(context: Context) -> None:
    if context.backend.info.capabilities.compile_threads is not Threads.concurrent:
        raise Skipped("it declares that one thread compiles at a time")
    samples = claimed_samples(context, 4)

    def compile_one(number: int) -> None:
        compiled(context.backend, samples[number % len(samples)].segment)

    _in_threads(compile_one, 4)


def _in_threads(work: Callable[[int], None], count: int) -> None:
    errors: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            work(number)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(n,), daemon=True) for n in range(count)]
    for thread in threads:
        thread.start()
    patience = Patience()
    for thread in threads:
        while thread.is_alive() and patience.spent() < _SECONDS:
            thread.join(TICK)
    if any(thread.is_alive() for thread in threads):
        raise Failed(f"{count} threads did not end in {_SECONDS:.0f} s")
    if errors:
        raise Failed(f"in one of {count} threads: {type(errors[0]).__name__}: {errors[0]}")


def _stored(context: Context, samples: Sequence[Sample]) -> list[tuple[Sample, bytes]]:
    found = []
    for sample in samples:
        payload = context.backend.serialize(compiled(context.backend, sample.segment), sample.segment)
        if payload is not None:
            found.append((sample, payload))
    if not found:
        raise Skipped("it does not serialize its executables")
    return found


def _meta(context: Context, version: str | None = None) -> ArtifactMeta:
    backend = context.backend
    info = backend.info
    return ArtifactMeta(info.name, version or info.version, info.api_version, backend.target, "key", info.fingerprint)


def _round_trip(context: Context) -> None:
    for sample, payload in _stored(context, claimed_samples(context, 4)):
        executable = context.backend.load(Artifact(_meta(context), payload))
        if executable is None:
            raise Failed("serialize gives bytes, and nothing loads them")
        _check_run(context, executable, sample)


def _broken_artifact(context: Context) -> None:
    ((sample, payload), *_) = _stored(context, claimed_samples(context, 1))
    for broken in (b"", payload[: len(payload) // 2], b"\0" * 64):
        try:
            executable = context.backend.load(Artifact(_meta(context), broken))
        except LazycoreError:
            continue
        assert executable is not None
        _check_run(context, executable, sample)  # it may be robust; it must not be wrong


def _other_version(context: Context) -> None:
    if context.backend.check_artifact(_meta(context, "0.0-another")) is Compat.optimal and _loads(context):
        raise Failed("lazycore_check_artifact calls an artifact of another version of the backend optimal")


def _loads(context: Context) -> bool:
    try:
        return bool(_stored(context, claimed_samples(context, 1)))
    except Skipped:
        return False


def _constants(context: Context) -> None:
    if context.backend.info.constants is Constants.passed:
        raise Skipped("it does not ask for constants")
    sample = next((s for s in claimed_samples(context, 12) if len(s.arrays) > 1), None)
    if sample is None:
        raise Skipped("no operator of two operands is among the first that it takes")
    last = len(sample.arrays) - 1
    segment = replace(sample.segment, constants={last: sample.arrays[last]})
    expected = context.oracle.expected(sample.segment, sample.arrays)
    executable = compiled(context.backend, segment)
    outputs = run_segment(context.backend, executable, segment, sample.arrays[:last], context.foreign)
    if expected is not None:
        check_values(segment, outputs, expected, context.profile.tolerances, sample.vague)


def _scalars(context: Context) -> None:
    value, number, out = Value(0, TensorSpec((3,), DType.float32)), Value(1, TensorSpec((), DType.float32)), 2
    node = Node("aten.mul.Scalar", (value, number), {}, (Value(out, value.spec),))
    if isinstance(context.decision(node), Rejected):
        raise Skipped("it does not take aten.mul.Scalar with a number that varies")
    segment = Segment((value, number), [node], node.outputs, name="a number that varies", scalars=frozenset({1}))
    executable = compiled(context.backend, segment)
    for factor in (2.0, -0.5, 3.0):
        arrays = [np.asarray([1, 2, 3], np.float32), np.asarray(factor, np.float32)]
        (output,) = run_segment(context.backend, executable, segment, arrays, context.foreign)
        if not np.array_equal(output, arrays[0] * arrays[1]):
            raise Failed(f"{output.tolist()} where [1, 2, 3] * {factor} is due: the number is baked into the program")


def _declared(context: Context) -> None:
    for pattern in context.backend.patterns():
        if not isinstance(pattern, Pattern):
            raise Failed(f"lazycore_patterns declares {pattern!r}")
    context.backend.preserve_ops()


def _profile(context: Context) -> None:
    profile = context.backend.conformance()
    if not isinstance(profile, Profile):
        raise Failed(f"lazycore_conformance returned a {type(profile).__name__}")
    unlisted = set(profile.dtypes) - set(context.backend.info.dtypes)
    if unlisted:
        raise Failed(f"the profile claims {', '.join(sorted(d.value for d in unlisted))}, BackendInfo.dtypes does not")
    for op, pair in profile.tolerances.items():
        if not (isinstance(op, str) and len(pair) == 2 and all(isinstance(x, int | float) and x >= 0 for x in pair)):
            raise Failed(f"the profile's tolerance of {op!r} is {pair!r}; it must be (rtol, atol)")
    for case, reason in profile.xfails.items():
        if not (isinstance(case, str) and isinstance(reason, str) and reason.strip()):
            raise Failed(f"the profile expects {case!r} to fail without a reason")
    own_cases(profile)


def _closing(context: Context) -> None:
    backend = open_backend(context.selection)
    session = backend.session
    session.upload(np.zeros(3, np.float32))
    session.close()


CHECKS: dict[str, Callable[[Context], None]] = {
    "discovery": _discovery,
    "loading": _loading,
    "version": _version,
    "session": _session,
    "buffers": _buffers,
    "decisions": _decisions,
    "unknown-operator": _unknown,
    "compile-in-order": _order,
    "compile-refuses": _refusal,
    "run-again": _again,
    "outputs-apart": _apart,
    "run-threads": _threads,
    "compile-threads": _compile_threads,
    "serialize": _round_trip,
    "broken-artifact": _broken_artifact,
    "other-version": _other_version,
    "constants": _constants,
    "scalars": _scalars,
    "declarations": _declared,
    "profile": _profile,
    "closing": _closing,
}
