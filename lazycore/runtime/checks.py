"""Checks of what backends and eager ops return: a plugin's mistake must be named where it happens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from lazycore_plugin_api import Buffer, DType, HostArray, PluginError, TensorSpec

from lazycore.compiler.plan import EagerStep, SegmentStep

__all__ = ["check_buffers", "own_arrays"]


def check_buffers(step: SegmentStep, inputs: Sequence[object], outputs: Sequence[Buffer]) -> None:
    """Raise PluginError unless a launch returned one buffer per output, of the right spec, and none of them is an
    input or another output (declared aliases apart)."""
    if len(outputs) != len(step.specs):
        raise _broken(step, f"returned {len(outputs)} outputs where {len(step.specs)} are due")
    seen = {id(value) for value in inputs}
    for position, (buffer, spec) in enumerate(zip(outputs, step.specs, strict=True)):
        if not isinstance(buffer, Buffer):
            raise _broken(step, f"returned a {type(buffer).__name__} as output {position}, which is no Buffer")
        if buffer.spec != spec:
            raise _broken(step, f"returned {buffer.spec} as output {position} where {spec} is due")
        if id(buffer) in seen and position not in step.aliased:
            raise _broken(step, f"returned an input, or the same buffer twice, as output {position} undeclared")
        seen.add(id(buffer))


def own_arrays(step: EagerStep, inputs: Sequence[HostArray], outputs: Sequence[HostArray]) -> list[HostArray]:
    """An eager op's outputs, dense and none sharing memory with an input or another output.

    Raises PluginError where their number, shapes or dtypes are not the node's.
    """
    got = tuple(TensorSpec(tuple(array.shape), DType.of(array.dtype)) for array in outputs)
    if got != step.specs:
        expected, found = (", ".join(map(str, specs)) for specs in (step.specs, got))
        raise PluginError(f"{step.origin} was recorded as returning ({expected}), and returned ({found}) when run")
    owned: list[HostArray] = []
    for array in outputs:
        shared = any(np.may_share_memory(array, other) for other in (*inputs, *owned))
        owned.append(array.copy() if shared or not array.flags.c_contiguous else array)
    return owned


def _broken(step: SegmentStep, what: str) -> PluginError:
    return PluginError(f"the plugin {step.backend!r} broke the contract: {step.origin} {what}. Report it to its author")
