"""Where expected values come from: never from the backend under test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from lazycore_plugin_api import DType, Executable, HostArray, LazycoreError, Node, Segment, Supported, TensorSpec
from lazycore_plugin_api.repro import execute

from lazycore.conformance.opening import open_backend
from lazycore.plugins.backend import LoadedBackend
from lazycore.plugins.discovery import installed

__all__ = ["Eager", "Oracle", "Reference", "oracle_for"]

_REFERENCE = "reference"
_DISTRIBUTION = "lazycore-reference"


class Oracle(Protocol):
    """Computes a segment of one node on host arrays."""

    def expected(self, segment: Segment, arrays: Sequence[HostArray]) -> list[HostArray] | None:
        """The right outputs, None where the op does not exist for these inputs."""


class Eager:
    """PyTorch on the CPU."""

    def expected(self, segment: Segment, arrays: Sequence[HostArray]) -> list[HostArray] | None:
        from lazycore.frontend.eager import run_eager

        known = {v.id: a for v, a in zip(segment.inputs, arrays, strict=True)}
        try:
            for node in segment.nodes:
                read = [known[i] for i in dict.fromkeys(v.id for v in node.inputs())]
                known.update({v.id: a for v, a in zip(node.outputs, run_eager(node, read), strict=True)})
        except (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError):
            return None  # PyTorch has no kernel for the dtype, or refuses the arguments: there is nothing to compare
        return [known[v.id] for v in segment.outputs]

    def specs(self, node: Node, arrays: Sequence[HostArray]) -> list[TensorSpec] | None:
        """What PyTorch yields, where the opset leaves it open."""
        inputs = tuple({v.id: v for v in node.inputs()}.values())
        results = self.expected(Segment(inputs, [node], node.outputs), arrays)
        return None if results is None else [TensorSpec(tuple(a.shape), DType.of(a.dtype)) for a in results]


class Reference:
    """The reference backend; PyTorch for what it does not take."""

    def __init__(self, backend: LoadedBackend) -> None:
        self._backend = backend
        self._eager = Eager()
        self.kind: type[Executable] | None = None
        """The class of its executables, once it has run any."""

    def expected(self, segment: Segment, arrays: Sequence[HostArray]) -> list[HostArray] | None:
        for node in segment.nodes:
            if not isinstance(self._backend.supports(node), Supported):
                return self._eager.expected(segment, arrays)
        if self.kind is None:
            (program,) = self._backend.compile([segment])
            self.kind = type(program) if isinstance(program, Executable) else None
        try:
            return execute(self._backend, segment, arrays)
        except LazycoreError:  # its own tests are about that; PyTorch knows what is right, too
            return self._eager.expected(segment, arrays)


def oracle_for(name: str) -> Oracle:
    """The oracle for the backend ``name``: the reference backend, which itself is judged by PyTorch. Raises
    LazycoreError where another distribution poses as the reference."""
    if name == _REFERENCE:
        return Eager()
    candidate = installed().get(_REFERENCE)
    if candidate is None:
        return Eager()
    if candidate.rivals or candidate.distribution != _DISTRIBUTION:
        raise LazycoreError(f"the oracle must be {_DISTRIBUTION}, and {candidate} has its name")
    return Reference(open_backend(_REFERENCE))
