"""Walk a plan: launch its segments, run the rest eagerly, let go of what nobody needs any more.

A cached run with one segment is this module's hot path: a list of buffers, one call, a list of values.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any, TypeAlias

import numpy as np
from lazycore_plugin_api import Buffer, HostArray, LazycoreError, Node

from lazycore.compiler.plan import EagerStep, Plan, SegmentStep
from lazycore.runtime.buffers import DeviceValue
from lazycore.runtime.checks import check_buffers, own_arrays
from lazycore.runtime.failures import run_failed

__all__ = ["RunEager", "run"]

RunEager: TypeAlias = Callable[[Node, Sequence[HostArray]], Sequence[HostArray]]

# A slot holds a DeviceValue, a 0-d host array (scalar input), or None once released; each step knows which.
Slots: TypeAlias = list[Any]


def _ignore(_op: str) -> None:
    """Count nothing."""


def run(
    plan: Plan,
    inputs: Sequence[DeviceValue | HostArray],
    *,
    run_eager: RunEager,
    exclusive: Container[int] = (),
    on_fallback: Callable[[str], None] = _ignore,
) -> list[DeviceValue]:
    """Run a plan; its outputs in order.

    ``inputs``: one value per plan input, 0-d host arrays at the scalar positions. ``exclusive``: which of
    ``plan.donated`` the caller holds alone, each as a value of its own; they are overwritten and the caller's
    DeviceValue is left without content. All others are copied first, and so is every one until the plan has run once.
    ``on_fallback(op)`` is called for each op that was run eagerly.
    The same value is returned twice, or an input is returned, where the graph says so.

    Raises OutOfMemory where a device is full, BackendError where a backend fails otherwise (the plugin's exception is
    its cause), PluginError where it breaks the contract, and what ``run_eager`` raises as it is, with a note that names
    the op and the user's line.
    """
    slots: Slots = list(inputs)
    for step in plan.steps:
        if type(step) is SegmentStep:
            _launch(step, slots, plan.proven, exclusive)
        elif type(step) is EagerStep:
            _run_eagerly(step, slots, run_eager)
            on_fallback(step.node.op)
        for slot in step.release:
            slots[slot] = None
    plan.proven = True
    outputs = [slots[slot] for slot in plan.outputs]
    for position in plan.numbers:
        outputs[position] = DeviceValue.from_host(np.array(outputs[position], copy=True))
    return outputs


def _launch(step: SegmentStep, slots: Slots, proven: bool, exclusive: Container[int]) -> None:
    session = step.session
    try:
        try:
            arguments: list[Any] = [slots[slot].buffers[session] for slot in step.tensors]
        except KeyError:
            arguments = [slots[slot].on(session) for slot in step.tensors]
        if step.scalars:
            arguments += [slots[slot] for slot in step.scalars]
        if step.donations:
            _give_away(step, slots, arguments, exclusive if proven else ())
        outputs = _call(step, arguments)
        if not proven:
            check_buffers(step, arguments, outputs)
        if step.shared:
            outputs = [session.copy(b) if p in step.shared else b for p, b in enumerate(outputs)]
    except LazycoreError:
        raise
    except Exception as error:
        raise run_failed(f"running {step.origin}", error) from error
    origin = step.origin
    slots += [
        DeviceValue(spec, {session: buffer}, None, origin) for spec, buffer in zip(step.specs, outputs, strict=True)
    ]


def _call(step: SegmentStep, arguments: list[Any]) -> Sequence[Buffer]:
    try:
        if step.turn is None:
            return step.run(arguments)
        with step.turn:
            return step.run(arguments)
    except Exception as error:
        raise run_failed(f"running {step.origin}", error) from error


def _give_away(step: SegmentStep, slots: Slots, arguments: list[Any], exclusive: Container[int]) -> None:
    for donation in step.donations:
        if donation.is_plan_input and donation.slot not in exclusive:
            arguments[donation.position] = step.session.copy(arguments[donation.position])
        else:
            slots[donation.slot].forget()


def _run_eagerly(step: EagerStep, slots: Slots, run_eager: RunEager) -> None:
    values = [slots[slot] for slot in step.inputs]
    arrays = [value.to_host() if type(value) is DeviceValue else value for value in values]
    try:
        outputs = run_eager(step.node, arrays)
    except Exception as error:
        # The program may expect torch's own exception here, as on CPU; so it keeps its class.
        error.add_note(f"while lazycore ran {step.origin} eagerly")
        raise
    owned = own_arrays(step, arrays, outputs)
    slots += [DeviceValue.from_host(array, step.origin) for array in owned]
