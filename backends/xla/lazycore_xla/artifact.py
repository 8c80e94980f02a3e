"""Compiled programs as bytes and back: XLA's own serialized executable behind a header in JSON.

The layout is ``MAGIC``, the header's length as 8 bytes, the header, the executable. jax's own
``serialize_executable`` pickles what surrounds the executable; here that is rebuilt from the header, so that reading
a file runs nothing but XLA's loader.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from zlib import crc32

import jax
from jax import stages
from jax._src import core
from jax._src.interpreters import pxla
from jax._src.layout import Layout
from jax._src.lib import lapack, xla_client
from jax.sharding import SingleDeviceSharding
from lazycore_plugin_api import BackendError, DType, TensorSpec

from lazycore_xla.aten.library import FORWARD, why_not
from lazycore_xla.configuration import own_configuration
from lazycore_xla.host import fingerprint
from lazycore_xla.numbers import Packing

__all__ = ["Header", "load", "pack", "save", "unpack"]

MAGIC = b"lazycore-xla executable 2\n"
_LENGTH = 8
_LAPACK = b"lapack_"
"""What the names of the functions that XLA calls in LAPACK begin with."""


@dataclass(frozen=True)
class Header:
    """What surrounds the executable. ``arguments`` and ``outputs``: shape and dtype's name; ``kept``: positions of the
    arguments that the program reads; ``donated``: of those whose memory it takes; ``buffers`` and ``numbers``: how the
    segment's arguments are packed into the program's;
    ``checksum``: CRC-32 of the executable, as XLA's loader ends the process over bytes that it does not like."""

    host: str
    name: str
    arguments: list[tuple[list[int], str]]
    kept: list[int]
    donated: list[int]
    outputs: list[tuple[list[int], str]]
    buffers: list[int]
    numbers: list[tuple[str, list[int]]]
    checksum: int


def save(compiled: stages.Compiled, outputs: Sequence[TensorSpec], packing: Packing) -> bytes | None:
    """The program as bytes; None for one with parts that the header has no place for."""
    inner = compiled._executable._unloaded_executable  # type: ignore[attr-defined]
    if not _is_plain(compiled, inner):
        return None
    infos = jax.tree_util.tree_leaves(compiled.args_info)
    program = inner.xla_executable.serialize()
    header = Header(
        host=fingerprint(),
        name=inner.name,
        arguments=[(list(info.shape), DType.of(info.dtype).value) for info in infos],
        kept=sorted(inner.kept_var_idx),
        donated=[position for position, info in enumerate(infos) if info.donated],
        outputs=[(list(spec.static_shape), spec.dtype.value) for spec in outputs],
        buffers=list(packing.buffers),
        numbers=[(dtype.value, list(positions)) for dtype, positions in packing.numbers],
        checksum=crc32(program),
    )
    return pack(header, program)


def load(payload: bytes, device: jax.Device) -> tuple[stages.Compiled, list[TensorSpec], Packing]:
    """What ``save`` was given. Raises BackendError for bytes that are damaged, or of another version or machine."""
    header, program = unpack(payload)
    if header.host != fingerprint():
        raise BackendError(
            f"xla: the stored program is for {header.host} and this is {fingerprint()}; it must be compiled anew"
        )
    try:
        if _LAPACK in program:
            # jax looks LAPACK's functions up when it lowers a program that calls them; without, the call is one of 0.
            lapack._lapack.initialize()
        _have_handlers(program)
        with own_configuration():
            compiled = _rebuild(header, program, device)
    except Exception as error:
        raise BackendError(f"xla: the stored program does not load: {type(error).__name__}: {error}") from error
    packing = Packing(tuple(header.buffers), tuple((DType(name), tuple(places)) for name, places in header.numbers))
    return compiled, [TensorSpec(tuple(shape), DType(name)) for shape, name in header.outputs], packing


def _have_handlers(program: bytes) -> None:
    """Have the functions that the program calls in ATen registered with XLA, which would not find them."""
    # The name of the other one begins with it.
    if FORWARD.encode() in program and (reason := why_not()):
        raise BackendError(f"its convolutions are ATen's, which cannot be had here: {reason}")


def pack(header: Header, program: bytes) -> bytes:
    """Header and executable in one."""
    text = json.dumps(asdict(header), separators=(",", ":")).encode()
    return b"".join((MAGIC, len(text).to_bytes(_LENGTH, "little"), text, program))


def unpack(payload: bytes) -> tuple[Header, bytes]:
    """The two parts. Raises BackendError for bytes that ``pack`` did not write."""
    begin = len(MAGIC) + _LENGTH
    end = begin + int.from_bytes(payload[len(MAGIC) : begin], "little")
    try:
        if not payload.startswith(MAGIC) or end > len(payload):
            raise ValueError("the beginning is not that of a stored program")
        header, program = Header(**json.loads(payload[begin:end])), payload[end:]
        if crc32(program) != header.checksum:
            raise ValueError("the program is damaged")
        return header, program
    except (TypeError, ValueError) as error:
        raise BackendError(f"xla: not a stored program of this version: {error}") from error


def _is_plain(compiled: stages.Compiled, inner: Any) -> bool:
    """Whether nothing surrounds the executable but what the header says: one device, dense rows, no effects."""
    beside = (inner.unordered_effects, inner.ordered_effects, inner.keepalive, inner.host_callbacks, inner.mut)
    shardings = (*inner.input_shardings, *inner.output_shardings)
    layouts = zip(
        (*inner.xla_in_layouts, *inner.xla_out_layouts), (*inner.input_avals, *inner.output_avals), strict=True
    )
    return (
        not any(beside)
        and not compiled._params.const_args
        and all(isinstance(sharding, SingleDeviceSharding) for sharding in shardings)
        and all(layout == _dense(len(aval.shape)) for layout, aval in layouts)
    )


def _dense(rank: int) -> Layout:
    return Layout(tuple(range(rank)), (), 0)


def _rebuild(header: Header, program: bytes, device: jax.Device) -> stages.Compiled:
    devices = xla_client.DeviceList((device,))
    arguments = [_aval(entry) for entry in header.arguments]
    kept = [arguments[position] for position in header.kept]
    outputs = [_aval(entry) for entry in header.outputs]
    sharding = SingleDeviceSharding(device, memory_kind=device.default_memory().kind)
    inner = pxla.UnloadedMeshExecutable(
        xla_executable=device.client.deserialize_executable(program, executable_devices=devices),
        device_list=devices,
        backend=device.client,
        input_avals=kept,
        input_shardings=[sharding] * len(kept),
        output_avals=outputs,
        output_shardings=[sharding] * len(outputs),
        committed=False,
        name=header.name,
        unordered_effects=[],
        ordered_effects=[],
        keepalive=[],
        host_callbacks=[],
        kept_var_idx=set(header.kept),
        mut=None,
        xla_in_layouts=[_dense(len(aval.shape)) for aval in kept],
        dispatch_in_layouts=[None] * len(kept),
        xla_out_layouts=[_dense(len(aval.shape)) for aval in outputs],
        all_args_info=None,
        pgle_profiler=None,
    )
    infos = tuple(stages.ArgInfo(aval, position in header.donated) for position, aval in enumerate(arguments))
    tree = jax.tree_util.tree_structure(tuple(outputs))
    return stages.Compiled(inner.load(), [], (infos, {}), tree, no_kwargs=True)


def _aval(entry: tuple[list[int], str]) -> core.ShapedArray:
    shape, name = entry
    return core.ShapedArray(tuple(shape), DType(name).numpy)
