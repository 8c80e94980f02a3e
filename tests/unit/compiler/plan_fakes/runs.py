"""Plans and values in one call."""

from __future__ import annotations

import numpy as np
from lazycore_plugin_api import Graph, HostArray

from lazycore.compiler.pipeline import compile_graph
from lazycore.compiler.plan import Plan
from lazycore.runtime.buffers import DeviceValue
from plan_fakes.backends import FakeBackend
from plan_fakes.builder import never

ONES, TWOS = np.ones(3), np.full(3, 2.0)


def plan_for(
    graph: Graph,
    *backends: FakeBackend,
    scalars: frozenset[int] = frozenset(),
    donatable: frozenset[int] = frozenset(),
) -> Plan:
    """The graph's plan for these backends, nothing decomposed."""
    return compile_graph(graph, scalars=scalars, donatable=donatable, backends=backends, decompose=never)


def values(*arrays: HostArray) -> list[DeviceValue]:
    """Each array as a value that owns it."""
    return [DeviceValue.from_host(array) for array in arrays]
