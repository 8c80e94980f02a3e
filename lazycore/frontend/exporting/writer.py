"""A captured module and its plan as a file: graphs, executables, weights, and the manifest that binds them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import PurePath

from lazycore_loader import manifest as file
from lazycore_loader.archive import write
from lazycore_plugin_api import (
    ArtifactMeta,
    DType,
    Executable,
    Graph,
    HostArray,
    Node,
    Segment,
    Source,
    TensorSpec,
    to_json,
)

from lazycore.artifacts.keys import segment_key
from lazycore.compiler.build import FlagCheck, InputBinding, InputCheck
from lazycore.compiler.plan import EagerStep, Plan, SegmentStep
from lazycore.compiler.ssa import distinct_inputs
from lazycore.frontend.exporting.capture import Captured
from lazycore.plugins.backend import LoadedBackend

__all__ = ["Made", "write_program"]

Made = Mapping[int, tuple[LoadedBackend, Executable]]
"""By the segment's id: who compiled it, and to what."""


def write_program(path: str | os.PathLike[str], captured: Captured, plan: Plan, structure: object, made: Made) -> None:
    """Write the file. Raises OSError where that fails, BackendError where an executable fails to serialize."""
    contents = _Contents(made)
    bound = tuple(map(contents.bound, captured.values))
    steps = tuple(contents.step(position, step) for position, step in enumerate(plan.steps))
    manifest = file.Manifest(
        writer=f"lazycore {version('lazycore')}",
        inputs=tuple(file.Input(name, spec) for name, spec in captured.inputs),
        weights=tuple(file.Input(name, _spec(array)) for name, array in contents.weights.items()),
        bound=bound,
        steps=steps,
        outputs=plan.outputs,
        structure=structure,
        input_checks=tuple(_input_checks(captured)),
        flag_checks=tuple(file.FlagCheck(check.output, _range(check)) for check in captured.built.flags),
    )
    write(path, manifest, contents.members, list(contents.weights.values()))


class _Contents:
    """Collects the file's members and weights."""

    def __init__(self, made: Made) -> None:
        self.made = made
        self.members: dict[str, bytes] = {}
        self.weights: dict[str, HostArray] = {}

    def bound(self, value: int | tuple[str, HostArray]) -> file.Bound:
        """What fills one of the plan's inputs."""
        if isinstance(value, int):
            return file.Bound("input", value)
        name, array = value
        self.weights[name] = array
        return file.Bound("weight", list(self.weights).index(name))

    def step(self, position: int, step: SegmentStep | EagerStep) -> file.Step:
        """One step, its graph and executable among the members."""
        graph = f"steps/{position}.json"
        if isinstance(step, EagerStep):
            node = _portable(step.node)
            inputs = distinct_inputs(node)
            self.members[graph] = to_json(Graph(inputs, [node], node.outputs)).encode()
            where = str(node.source or "an unknown line")
            return file.EagerStep(graph, node.op, where, step.inputs, len(step.specs), step.release)
        segment = replace(step.segment, nodes=list(map(_portable, step.segment.nodes)))
        self.members[graph] = to_json(segment).encode()
        meta, payload = self._artifact(step.segment)
        artifact = None if payload is None else f"steps/{position}.bin"
        if artifact is not None and payload is not None:
            self.members[artifact] = payload
        return file.SegmentStep(graph, artifact, meta, step.tensors, step.scalars, len(step.specs), step.release)

    def _artifact(self, segment: Segment) -> tuple[ArtifactMeta, bytes | None]:
        backend, executable = self.made[id(segment)]
        info, target = backend.info, backend.target
        key = segment_key(segment, info, target, build="")
        meta = ArtifactMeta(info.name, info.version, info.api_version, target, key, info.fingerprint)
        return meta, backend.serialize(executable, segment)


def _input_checks(captured: Captured) -> Iterator[file.InputCheck]:
    built = captured.built
    slots = {b.position: slot for slot, b in enumerate(built.bindings) if isinstance(b, InputBinding)}
    for check in built.input_checks:
        yield file.InputCheck(slots[check.position], check.check.ignore, _range(check))


def _range(entry: InputCheck | FlagCheck) -> file.Range:
    check = entry.check
    # Without directories: they are those of the machine that exported.
    where = re.sub(r"[^\s()]*/", "", entry.where)
    return file.Range(check.low, check.high, check.error.__name__, f"{check.message} ({where})")


def _spec(array: HostArray) -> TensorSpec:
    return TensorSpec(tuple(array.shape), DType.of(array.dtype))


def _portable(node: Node) -> Node:
    body = node.body and replace(node.body, nodes=list(map(_portable, node.body.nodes)))
    return replace(node, source=_nameless(node.source), body=body)


def _nameless(source: Source | None) -> Source | None:
    """The line without the directories of the machine that exported."""
    return source and Source(PurePath(source.file).name, source.line, _nameless(source.forward))
