"""A loaded program: its signature, and calling it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from lazycore_plugin_api import Artifact, DType, Graph, HostArray, InvalidGraph, Segment, Target, from_json, verify

from lazycore_loader.archive import Archive
from lazycore_loader.backends import OpenBackend, open_backend
from lazycore_loader.checks import check_flags, check_inputs
from lazycore_loader.eager import eager_runner
from lazycore_loader.errors import InvalidInput, ProgramError
from lazycore_loader.manifest import EagerStep, Input, Manifest, SegmentStep, Step
from lazycore_loader.structure import build, positions
from lazycore_loader.values import Value

__all__ = ["Program", "load"]

Run = Callable[[list[Value | None]], Sequence[Value]]


@dataclass(frozen=True)
class _Ready:
    """One step that can be run, and the slots that nobody needs behind it."""

    run: Run
    release: tuple[int, ...]


class Program:
    """What ``load`` returns. Calling it takes one array for each of ``inputs``, by position or by name, and returns
    what the module did: arrays, in the same tuples, lists and dicts. It may be called from several threads."""

    def __init__(self, manifest: Manifest, weights: Sequence[HostArray], steps: Sequence[_Ready]) -> None:
        self._manifest = manifest
        self._weights = [Value(array) for array in weights]
        self._steps = steps

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The arguments: their names, shapes and dtypes."""
        return self._manifest.inputs

    def __repr__(self) -> str:
        return f"Program({', '.join(f'{i.name}: {i.spec}' for i in self.inputs)})"

    def __call__(self, *arrays: HostArray, **named: HostArray) -> Any:
        """The module's result for these arguments, in arrays of the caller's own.

        Raises TypeError for a wrong number of arguments, InvalidInput (a ValueError) for another shape or dtype, what
        PyTorch raises for an index out of range, BackendError where a backend fails.
        """
        arguments = self._arguments(arrays, named)
        slots: list[Value | None] = [
            Value(arguments[b.position]) if b.kind == "input" else self._weights[b.position]
            for b in self._manifest.bound
        ]
        check_inputs(self._manifest.input_checks, slots)
        for step in self._steps:
            slots += step.run(slots)
            for slot in step.release:
                slots[slot] = None
        results = [_content(slots[slot]) for slot in self._manifest.outputs]
        check_flags(self._manifest.flag_checks, results)
        return build(self._manifest.structure, [np.array(result, copy=True) for result in results])

    def _arguments(self, arrays: Sequence[HostArray], named: Mapping[str, HostArray]) -> list[HostArray]:
        names = [i.name for i in self.inputs]
        unknown = [name for name in named if name not in names[len(arrays) :]]
        if unknown or len(arrays) > len(names):
            what = f"the unexpected or repeated argument {unknown[0]!r}" if unknown else f"{len(arrays)} arguments"
            raise TypeError(f"got {what}; the program takes {', '.join(names) or 'no arguments'}")
        given = dict(zip(names, arrays, strict=False)) | dict(named)
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeError(f"missing {', '.join(missing)}; the program takes {', '.join(names)}")
        return [_checked(i, given[i.name]) for i in self.inputs]


def load(path: str | os.PathLike[str], backend: str | None = None) -> Program:
    """The program that ``lazycore.export`` wrote to ``path``, ready to be called.

    ``backend``: the name of another backend than the one it was exported for, which then compiles it here. What was
    stored for another version of the backend, or another machine, is compiled here too.

    Raises FileNotFoundError; ProgramError for a file that is damaged or of another format, and where the backend is
    not installed or cannot run the program.
    """
    with Archive(path) as archive:
        manifest = archive.manifest()
        weights = archive.weights(manifest.weights)
        opened: dict[Any, OpenBackend] = {}
        try:
            steps = [_ready(archive, step, backend, opened) for step in manifest.steps]
            _check(manifest)
        except (InvalidGraph, LookupError, ValueError, AttributeError) as error:
            raise ProgramError(f"{path} is damaged: {type(error).__name__}: {error}") from error
    return Program(manifest, weights, steps)


def _check(manifest: Manifest) -> None:
    """Raise LookupError or ValueError for a plan that reads what nothing writes."""
    for bound in manifest.bound:
        ({"input": manifest.inputs, "weight": manifest.weights}[bound.kind])[bound.position]
    count = len(manifest.bound)
    for step in manifest.steps:
        read = step.inputs if isinstance(step, EagerStep) else (*step.tensors, *step.scalars)
        if not all(0 <= slot < count for slot in read):
            raise ValueError("a step reads what comes later")
        count += step.outputs
        if not all(0 <= slot < count for slot in step.release):
            raise ValueError("a step releases what comes later")
    if not all(0 <= slot < count for slot in (*manifest.outputs, *(check.slot for check in manifest.input_checks))):
        raise ValueError("an output is written by no step")
    wanted = (*positions(manifest.structure), *(check.output + 1 for check in manifest.flag_checks))
    if not all(0 <= position < len(manifest.outputs) for position in wanted):
        raise ValueError("the result has more parts than the plan has outputs")


def _ready(archive: Archive, step: Step, backend: str | None, opened: dict[Any, OpenBackend]) -> _Ready:
    graph = from_json(archive.member(step.graph).decode())
    verify(graph)
    if isinstance(step, EagerStep):
        return _Ready(eager_runner(step, graph), step.release)
    segment = _segment(graph)
    target = step.meta.target if backend is None else Target(backend, "")
    key = (target.backend, target.device, tuple(sorted(target.options.items())))
    chosen = opened.get(key)
    if chosen is None:
        chosen = opened[key] = open_backend(target)
    stored = None if step.artifact is None else Artifact(step.meta, archive.member(step.artifact))
    executable = chosen.executable(stored, segment)
    return _Ready(_launcher(step, chosen, executable.run), step.release)


def _segment(graph: Graph) -> Segment:
    if not isinstance(graph, Segment):
        raise ProgramError("the file holds a graph where a segment is due")
    return graph


def _launcher(step: SegmentStep, backend: OpenBackend, run: Callable[..., Any]) -> Run:
    session = backend.session

    def launch(slots: list[Value | None]) -> Sequence[Value]:
        arguments: list[Any] = [_present(slots[slot]).on(session) for slot in step.tensors]
        arguments += [_present(slots[slot]).host() for slot in step.scalars]
        with backend.turn:
            return [Value(buffer, session) for buffer in run(arguments)]

    return launch


def _present(value: Value | None) -> Value:
    assert value is not None, "a slot was released before its last reader"
    return value


def _content(value: Value | None) -> HostArray:
    return _present(value).host()


def _checked(wanted: Input, given: Any) -> HostArray:
    array = np.asarray(given)
    spec = wanted.spec
    if array.shape != spec.shape or array.dtype != spec.dtype.numpy:
        try:
            got = f"{DType.of(array.dtype).value}{list(array.shape)}"
        except KeyError:
            got = f"{array.dtype}{list(array.shape)}"
        raise InvalidInput(f"{wanted.name} must be {spec.dtype.value}{list(spec.shape)}, and is {got}")
    return np.ascontiguousarray(array).reshape(array.shape)
