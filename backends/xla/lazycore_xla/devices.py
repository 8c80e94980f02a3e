"""The devices that jax finds, under the names that follow ``xla:``, and what differs between their platforms."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TypeAlias

import jax
from jax.extend.backend import backends, get_default_device
from lazycore_plugin_api import BackendError

__all__ = ["NO_FORKS", "device_of", "devices", "options_of", "platform_of"]

NO_FORKS = "xla: jax cannot be used in a forked child; start workers with the 'spawn' method"


Options: TypeAlias = Mapping[str, str | bool]

_EVERYWHERE: Options = {
    "xla_allow_excess_precision": False,  # bfloat16 and float16 round after every op, as in eager
}
_OPTIONS: Mapping[str, Options] = {
    "cpu": {
        "xla_cpu_enable_fast_min_max": False,  # NaN must survive max and min
        # Else a donated weight that the backward pass reads is copied before the optimizer writes it, as XLA's simple
        # analysis does not see that it is read for the last time before.
        "xla_cpu_copy_insertion_use_region_analysis": True,
    },
}


def options_of(device: jax.Device) -> dict[str, str | bool]:
    """XLA's options for compiling for the device."""
    return {**_EVERYWHERE, **_OPTIONS.get(device.platform, {})}


def platform_of(name: str) -> str:
    """The platform (``cpu``, ``gpu``, ``tpu``) of the device of this name."""
    return name.partition(":")[0]


def devices() -> Mapping[str, jax.Device]:
    """This process's devices by name, jax's default one first: a platform's first device has the platform's name, its
    second one is ``cpu:1``. ``JAX_PLATFORMS`` chooses, as everywhere in jax.

    Raises BackendError where jax finds none, and in a child that was forked off after jax had started.
    """
    found, process = _found()
    if process != os.getpid():
        raise BackendError(NO_FORKS)
    return found


def device_of(name: str) -> jax.Device:
    """The device of this name. Raises BackendError where jax has no such device."""
    offered = devices()
    if name not in offered:
        raise BackendError(f"xla: jax has no device {name!r}; it has {', '.join(offered)}")
    return offered[name]


@cache
def _found() -> tuple[dict[str, jax.Device], int]:
    try:
        first = get_default_device()
        named = dict(_named())
    # jax asserts where the one platform that it was told to use has no device.
    except (RuntimeError, AssertionError) as error:
        asked = os.environ.get("JAX_PLATFORMS", "")
        raise BackendError(f"xla: jax finds no device (JAX_PLATFORMS={asked!r}): {error or type(error)}") from error
    default = {name: device for name, device in named.items() if device == first}
    same = {name: device for name, device in named.items() if device.platform == first.platform}
    return {**default, **same, **named}, os.getpid()


def _named() -> Iterator[tuple[str, jax.Device]]:
    for client in backends().values():
        for position, device in enumerate(client.local_devices()):
            yield f"{device.platform}:{position}" if position else device.platform, device
