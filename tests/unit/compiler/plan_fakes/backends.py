"""A backend made of the interpreter. Its donation is merciless: whatever was donated is overwritten at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from lazycore_plugin_api import (
    BackendInfo,
    Buffer,
    Capabilities,
    CompileFailure,
    Constants,
    Decision,
    DType,
    Estimate,
    Executable,
    HostArray,
    Node,
    Pattern,
    Rejected,
    Segment,
    Session,
    Supported,
    Target,
    TensorSpec,
)

from plan_fakes.interpreter import OPS, interpret

GARBAGE = 77


class FakeBuffer(Buffer):
    """Memory that a session shares with whatever array it was made from."""

    def __init__(self, array: HostArray, home: Session) -> None:
        self.array = array
        self.home = home
        self.spec = TensorSpec(tuple(array.shape), DType.of(array.dtype))
        self.gone = False

    def to_host(self) -> HostArray:
        assert not self.gone, "a donated buffer was read"
        return self.array

    @property
    def deleted(self) -> bool:
        return self.gone


class FakeSession(Session):
    """Uploads without copying."""

    def __init__(self) -> None:
        self.uploads = 0

    def upload(self, array: HostArray) -> Buffer:
        self.uploads += 1
        return FakeBuffer(array, self)


class FakeExecutable(Executable):
    """Interprets its segment, then overwrites donated inputs."""

    def __init__(self, segment: Segment, session: Session) -> None:
        self.segment = segment
        self.session = session

    def run(self, inputs: Sequence[Buffer | HostArray]) -> Sequence[Buffer]:
        arrays = [self._array(position, value) for position, value in enumerate(inputs)]
        assert len(arrays) == len(self.segment.arguments)
        arrays += [self.segment.constants[p] for p in range(len(arrays), len(self.segment.inputs))]
        results = [np.array(result, copy=True) for result in interpret(self.segment, arrays)]
        for position in self.segment.donatable:
            arrays[position][...] = GARBAGE
            inputs[position].gone = True
        return [FakeBuffer(result, self.session) for result in results]

    def _array(self, position: int, value: Buffer | HostArray) -> HostArray:
        if position in self.segment.scalars:
            assert isinstance(value, np.ndarray)
            assert value.shape == ()
            return value
        assert isinstance(value, FakeBuffer)
        assert value.home is self.session, "a buffer of another session"
        return value.to_host()


class FakeBackend:
    """Takes the ops named and all composites but the ``refused``, in segments of at least ``smallest`` nodes; cannot
    compile those with one of ``broken``."""

    def __init__(
        self,
        name: str,
        ops: Iterable[str] = tuple(OPS),
        *,
        broken: Iterable[str] = (),
        dtypes: Iterable[DType] = tuple(DType),
        donation: bool = False,
        asynchronous: bool = False,
        smallest: int = 1,
        patterns: Sequence[Pattern] = (),
        refused: Iterable[str] = (),
        constants: Constants = Constants.passed,
    ) -> None:
        self.name = name
        self.ops = frozenset(ops)
        self.broken = frozenset(broken)
        capabilities = Capabilities(donation=donation, asynchronous=asynchronous)
        self.info = BackendInfo(name, "1", dtypes=frozenset(dtypes), capabilities=capabilities, constants=constants)
        self.target = Target(name, "cpu")
        self.session = FakeSession()
        self.smallest = smallest
        self.declared = tuple(patterns)
        self.refused = frozenset(refused)
        self.estimates: list[Estimate] = []
        self.asked: list[Node] = []
        self.compiled: list[Segment] = []
        self.stored: dict[str, Executable] = {}

    def supports(self, node: Node) -> Decision:
        self.asked.append(node)
        taken = node.op in self.ops or (node.body is not None and node.op not in self.refused)
        return Supported() if taken else Rejected("op", f"{node.op} is not known to {self.name}")

    def patterns(self) -> Sequence[Pattern]:
        return self.declared

    def accept_segment(self, segment: Segment, estimate: Estimate) -> bool:
        self.estimates.append(estimate)
        return len(segment.nodes) >= self.smallest

    def restore(self, segments: list[Segment]) -> list[Executable | None]:
        return [self.stored.get(segment.name) for segment in segments]

    def compile(self, segments: list[Segment]) -> list[Executable | CompileFailure]:
        return [self._compile(segment) for segment in segments]

    def _compile(self, segment: Segment) -> Executable | CompileFailure:
        bad = [node.op for node in segment.nodes if node.op in self.broken]
        if bad:
            return CompileFailure(f"{bad[0]} does not compile", ValueError("codegen"))
        self.compiled.append(segment)
        return FakeExecutable(segment, self.session)
