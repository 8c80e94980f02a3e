"""The file: a zip archive of a manifest, graphs as JSON, backends' executables, and weights as safetensors.

Members' bytes are guarded by zip's own checksums. Reading runs nothing: JSON, safetensors and whatever the backends'
``lazycore_load`` does with its own bytes.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from lazycore_plugin_api import DType, HostArray, TensorSpec
from safetensors.numpy import save

from lazycore_loader.errors import ProgramError
from lazycore_loader.manifest import Input, Manifest, from_record, to_record

__all__ = ["Archive", "write"]

MANIFEST, WEIGHTS = "manifest.json", "weights.safetensors"
# A fixed time: equal programs make equal files.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_FOREIGN = frozenset(dtype for dtype in DType if dtype.is_complex)
"""What not every version of safetensors has: stored as bytes, in one dimension more."""


def write(
    path: str | os.PathLike[str], manifest: Manifest, members: Mapping[str, bytes], weights: Sequence[HostArray]
) -> None:
    """Write the file whole, in the place of one that was there. ``weights``: the manifest's, in its order."""
    target = Path(path)
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(part, "w") as archive:
            _put(archive, MANIFEST, json.dumps(to_record(manifest), indent=1, allow_nan=False).encode(), pressed=True)
            for member, content in members.items():
                _put(archive, member, content, pressed=member.endswith(".json"))
            arrays = {w.name: _storable(a) for w, a in zip(manifest.weights, weights, strict=True)}
            _put(archive, WEIGHTS, save(arrays), pressed=False)
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _put(archive: zipfile.ZipFile, member: str, content: bytes, pressed: bool) -> None:
    info = zipfile.ZipInfo(member, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED if pressed else zipfile.ZIP_STORED
    archive.writestr(info, content)


class Archive:
    """A file that is open for reading. Every method raises ProgramError for a damaged or foreign file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        with self._readable():
            self._zip = zipfile.ZipFile(self.path)

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def manifest(self) -> Manifest:
        """What the file says of itself."""
        with self._readable():
            return from_record(json.loads(self._zip.read(MANIFEST)))

    def member(self, name: str) -> bytes:
        """One member's content."""
        with self._readable():
            return self._zip.read(name)

    def weights(self, wanted: Sequence[Input]) -> list[HostArray]:
        """The weights in this order, checked against their specs."""
        with self._readable():
            found: dict[str, Any] = dict(safetensors.deserialize(self._zip.read(WEIGHTS)))  # type: ignore[no-untyped-call]
            return [_array(found[w.name], w.spec) for w in wanted]

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise
        except Exception as error:
            # zipfile, json and safetensors have a dozen classes for it, and all mean the same.
            what = f"{type(error).__name__}: {error}"
            raise ProgramError(f"{self.path} is no readable exported program, or it is damaged: {what}") from error


def _storable(array: HostArray) -> HostArray:
    array = np.ascontiguousarray(array).reshape(array.shape)
    if DType.of(array.dtype) not in _FOREIGN:
        return array
    return array.reshape(-1).view(np.uint8).reshape(*array.shape, array.itemsize)


def _array(entry: Mapping[str, Any], spec: TensorSpec) -> HostArray:
    foreign = spec.dtype in _FOREIGN
    shape = (*spec.static_shape, spec.dtype.itemsize) if foreign else spec.static_shape
    if tuple(entry["shape"]) != shape or len(entry["data"]) != spec.nbytes:
        raise ValueError(f"a weight has shape {entry['shape']} where {spec} is due")
    return np.frombuffer(entry["data"], spec.dtype.numpy).reshape(spec.static_shape)
