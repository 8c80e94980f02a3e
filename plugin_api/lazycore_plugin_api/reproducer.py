"""A wrong result as one file: the segment, what it was given, what is right. Written by ``lazycore verify``.

The file is a zip archive of ``reproducer.json`` (format, target, tolerances), ``graph.json`` (the segment as
``to_json`` writes it) and one ``.npy`` per array: ``input-<position>``, ``constant-<position>``,
``expected-<position>``. Dtypes that NumPy lacks are stored as the unsigned integers of their bits. Nothing in it is
executed when it is read.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lazycore_plugin_api.backend import HostArray, Target
from lazycore_plugin_api.difference import Tolerance
from lazycore_plugin_api.errors import LazycoreError
from lazycore_plugin_api.ir import Segment, Value
from lazycore_plugin_api.serial import from_json, to_json
from lazycore_plugin_api.verifier import verify

__all__ = ["FORMAT", "Reproducer", "read", "write"]

FORMAT = 1


@dataclass(frozen=True)
class Reproducer:
    """``inputs``: one array per ``segment.arguments``; bound constants are in ``segment.constants``. ``expected`` and
    ``tolerances``: one per output."""

    target: Target
    segment: Segment
    inputs: Sequence[HostArray]
    expected: Sequence[HostArray]
    tolerances: Sequence[Tolerance]


def write(reproducer: Reproducer, path: Path) -> None:
    """Write the file, replacing what is there. Raises OSError."""
    segment = reproducer.segment
    arrays = {f"input-{p}": a for p, a in enumerate(reproducer.inputs)}
    arrays |= {f"constant-{p}": a for p, a in segment.constants.items()}
    arrays |= {f"expected-{p}": a for p, a in enumerate(reproducer.expected)}
    record = {
        "format": FORMAT,
        "target": asdict(reproducer.target),
        "constants": sorted(segment.constants),
        "tolerances": [asdict(t) for t in reproducer.tolerances],
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("reproducer.json", json.dumps(record, indent=1))
        archive.writestr("graph.json", to_json(segment))
        for name, array in arrays.items():
            archive.writestr(f"{name}.npy", _bytes(array))


def read(path: Path) -> Reproducer:
    """What ``write`` wrote. Raises LazycoreError, naming the file, for one that is no reproducer; OSError where it
    cannot be opened."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive)
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, LazycoreError) as error:
        raise LazycoreError(f"{path} is no reproducer of this version: {type(error).__name__}: {error}") from error


def _read(archive: zipfile.ZipFile) -> Reproducer:
    record = json.loads(archive.read("reproducer.json"))
    if record["format"] != FORMAT:
        raise LazycoreError(f"its format is {record['format']}; this version reads {FORMAT}")
    segment = from_json(archive.read("graph.json").decode())
    if not isinstance(segment, Segment):
        raise TypeError("it holds a graph, not a segment")
    constants = {p: _array(archive, f"constant-{p}", segment.inputs[p]) for p in record["constants"]}
    segment = replace(segment, constants=constants)
    verify(segment)
    inputs = [_array(archive, f"input-{p}", v) for p, v in enumerate(segment.arguments)]
    expected = [_array(archive, f"expected-{p}", v) for p, v in enumerate(segment.outputs)]
    tolerances = [Tolerance(**t) for t in record["tolerances"]]
    if len(tolerances) != len(expected):
        raise ValueError(f"{len(tolerances)} tolerances for {len(expected)} outputs")
    return Reproducer(_target(record["target"]), segment, inputs, expected, tolerances)


def _target(record: Mapping[str, Any]) -> Target:
    return Target(str(record["backend"]), str(record["device"]), dict(record["options"]))


def _native(dtype: np.dtype[Any]) -> bool:
    return dtype.isbuiltin == 1


def _bytes(array: HostArray) -> bytes:
    stream = io.BytesIO()
    plain = array if _native(array.dtype) else array.view(f"u{array.dtype.itemsize}")
    np.save(stream, plain, allow_pickle=False)
    return stream.getvalue()


def _array(archive: zipfile.ZipFile, name: str, value: Value) -> HostArray:
    array: HostArray = np.load(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False)
    wanted = value.spec.dtype.numpy
    array = array if _native(wanted) else array.view(wanted)
    if (tuple(array.shape), array.dtype) != (value.spec.shape, wanted):
        raise ValueError(f"{name} is {array.dtype}{list(array.shape)}; the graph says {value.spec}")
    return array
