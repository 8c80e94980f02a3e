"""Fixtures of the tests that only XLA's backend has."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from lazycore_plugin_api import Argument, DType, HostArray, Node, Segment, Source, TensorSpec, Value
from lowering.backends import Backend, open_backend

Compose = Callable[[Sequence[Value]], tuple[list[Node], Sequence[Value]]]


@pytest.fixture(scope="session")
def xla() -> Backend:
    """The backend, opened."""
    return open_backend("xla")


@pytest.fixture
def segment() -> Callable[..., Segment]:
    """Build a segment from arrays and a function from its inputs to (nodes, outputs)."""

    def build(arrays: Sequence[HostArray], compose: Compose, scalars: Sequence[int] = (), **marks: object) -> Segment:
        specs = [TensorSpec(tuple(a.shape), DType.of(a.dtype)) for a in map(np.asarray, arrays)]
        inputs = tuple(Value(i, spec) for i, spec in enumerate(specs))
        nodes, outputs = compose(inputs)
        return Segment(inputs, nodes, tuple(outputs), scalars=frozenset(scalars), **marks)  # type: ignore[arg-type]

    return build


@pytest.fixture
def node() -> Callable[..., Node]:
    """Build a node with one output of the first operand's spec, unless another is given."""

    def build(op: str, *args: Argument, to: int, spec: TensorSpec | None = None, **kwargs: Argument) -> Node:
        chosen = spec or next(a.spec for a in args if isinstance(a, Value))
        return Node(op, args, kwargs, (Value(to, chosen),), Source("train.py", 12))

    return build
