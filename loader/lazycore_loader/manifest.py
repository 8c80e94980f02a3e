"""The plan of an exported program as plain data: what the file's ``manifest.json`` says.

Values lie in slots: first the plan's inputs, then each step's outputs in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from lazycore_plugin_api import ArtifactMeta, DType, TensorSpec, meta_from_record, meta_to_record

__all__ = [
    "FORMAT", "Bound", "EagerStep", "FlagCheck", "Input", "InputCheck", "Manifest", "Range", "SegmentStep", "Step",
    "from_record", "to_record",
]  # fmt: skip

FORMAT = 1


@dataclass(frozen=True)
class Input:
    """An argument of the program, or one of its weights."""

    name: str
    spec: TensorSpec


@dataclass(frozen=True)
class Bound:
    """What fills a slot before the plan runs: the argument or the weight ``position``."""

    kind: str
    position: int


@dataclass(frozen=True)
class SegmentStep:
    """``graph`` and ``artifact`` name members of the file; ``scalars`` are passed as 0-d arrays, behind ``tensors``."""

    graph: str
    artifact: str | None
    meta: ArtifactMeta
    tensors: tuple[int, ...]
    scalars: tuple[int, ...]
    outputs: int
    release: tuple[int, ...]


@dataclass(frozen=True)
class EagerStep:
    """One node that PyTorch computes; ``where`` is its line in the model's source."""

    graph: str
    op: str
    where: str
    inputs: tuple[int, ...]
    outputs: int
    release: tuple[int, ...]


Step: TypeAlias = SegmentStep | EagerStep


@dataclass(frozen=True)
class Range:
    """Indices must lie in [low, high), or ``error`` (IndexError, RuntimeError, …) is raised with ``message``, in which
    ``{index}`` stands for the first that does not."""

    low: int
    high: int
    error: str
    message: str


@dataclass(frozen=True)
class InputCheck:
    """Elements of ``slot``, but those equal to ``ignore``, are looked at before the plan runs."""

    slot: int
    ignore: int | None
    range: Range


@dataclass(frozen=True)
class FlagCheck:
    """The smallest and the largest index that the plan saw are its outputs ``output`` and ``output + 1``."""

    output: int
    range: Range


@dataclass(frozen=True)
class Manifest:
    """``structure`` says how the plan's first outputs make up the program's result; those behind are flags."""

    writer: str
    inputs: tuple[Input, ...]
    weights: tuple[Input, ...]
    bound: tuple[Bound, ...]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    structure: Any
    input_checks: tuple[InputCheck, ...] = ()
    flag_checks: tuple[FlagCheck, ...] = ()


def to_record(manifest: Manifest) -> dict[str, Any]:
    """The manifest as JSON's types."""
    return {
        "format": FORMAT,
        "writer": manifest.writer,
        "inputs": [_input(i) for i in manifest.inputs],
        "weights": [_input(w) for w in manifest.weights],
        "bound": [[b.kind, b.position] for b in manifest.bound],
        "steps": [_step(s) for s in manifest.steps],
        "outputs": list(manifest.outputs),
        "structure": manifest.structure,
        "input_checks": [[c.slot, c.ignore, vars(c.range)] for c in manifest.input_checks],
        "flag_checks": [[c.output, vars(c.range)] for c in manifest.flag_checks],
    }


def from_record(record: Mapping[str, Any]) -> Manifest:
    """What ``to_record`` was given. Raises KeyError, TypeError or ValueError for another record."""
    if record["format"] != FORMAT:
        raise ValueError(f"its format is {record['format']!r}, and this version reads {FORMAT}")
    return Manifest(
        writer=str(record["writer"]),
        inputs=tuple(_read_input(i) for i in record["inputs"]),
        weights=tuple(_read_input(w) for w in record["weights"]),
        bound=tuple(Bound(str(kind), int(position)) for kind, position in record["bound"]),
        steps=tuple(_read_step(s) for s in record["steps"]),
        outputs=_numbers(record["outputs"]),
        structure=record["structure"],
        input_checks=tuple(InputCheck(int(s), i, Range(**r)) for s, i, r in record["input_checks"]),
        flag_checks=tuple(FlagCheck(int(o), Range(**r)) for o, r in record["flag_checks"]),
    )


def _input(given: Input) -> dict[str, Any]:
    return {"name": given.name, "shape": list(given.spec.static_shape), "dtype": given.spec.dtype.value}


def _read_input(record: Mapping[str, Any]) -> Input:
    return Input(str(record["name"]), TensorSpec(_numbers(record["shape"]), DType(record["dtype"])))


def _step(step: Step) -> dict[str, Any]:
    common = {"graph": step.graph, "outputs": step.outputs, "release": list(step.release)}
    if isinstance(step, EagerStep):
        return {"kind": "eager", **common, "op": step.op, "where": step.where, "inputs": list(step.inputs)}
    numbers = {"tensors": list(step.tensors), "scalars": list(step.scalars)}
    return {"kind": "segment", **common, **numbers, "artifact": step.artifact, "meta": meta_to_record(step.meta)}


def _read_step(record: Mapping[str, Any]) -> Step:
    graph, outputs, release = str(record["graph"]), int(record["outputs"]), _numbers(record["release"])
    if record["kind"] == "eager":
        inputs = _numbers(record["inputs"])
        return EagerStep(graph, str(record["op"]), str(record["where"]), inputs, outputs, release)
    if record["kind"] != "segment":
        raise ValueError(f"a step of the unknown kind {record['kind']!r}")
    tensors, scalars = _numbers(record["tensors"]), _numbers(record["scalars"])
    meta = meta_from_record(record["meta"])
    return SegmentStep(graph, record["artifact"], meta, tensors, scalars, outputs, release)


def _numbers(items: Any) -> tuple[int, ...]:
    return tuple(map(int, items))
