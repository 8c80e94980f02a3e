"""Bound constants in the form that a plugin wants them: prepared once per content, kept as long as a plan uses them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from weakref import WeakValueDictionary

import numpy as np
from lazycore_plugin_api import BackendInfo, CompileContext, Constants, HostArray, Segment, to_json

from lazycore.artifacts.keys import digest
from lazycore.plugins.hook_calls import HookCalls

__all__ = ["ConstantStore", "Prepared"]

HOOK = "lazycore_prepare_constants"


class Prepared(dict[int, HostArray]):
    """Prepared constants by input position. A class of its own, as a plain dict cannot be referenced weakly."""


class ConstantStore:
    """``lazycore_prepare_constants`` of one backend.

    The key of what it prepared is the segment and its constants' contents: a weight that is written has another
    content, and what was prepared of the old one goes with the last plan that holds it.
    """

    def __init__(self, info: BackendInfo, hooks: HookCalls, context: Callable[[], CompileContext]) -> None:
        self._owns = info.constants is Constants.own
        self._hooks = hooks
        self._context = context
        self._prepared: WeakValueDictionary[Hashable, Prepared] = WeakValueDictionary()

    def of(self, segment: Segment) -> Mapping[int, HostArray]:
        """The segment's constants as its compile gets them. Raises PluginError for a wrong result, BackendError
        where the hook raises."""
        if not segment.constants or not self._owns:
            return segment.constants
        key = _key(segment)
        prepared = self._prepared.get(key)
        if prepared is None:
            prepared = self._prepared[key] = Prepared(self.prepare(segment, segment.constants))
        return prepared

    def prepare(self, segment: Segment, constants: Mapping[int, HostArray]) -> Mapping[int, HostArray]:
        """What the plugin makes of the constants, asked anew; the same positions as in ``constants``."""
        if not self._hooks.implements(HOOK):
            return constants
        arguments = {"segment": segment, "constants": constants, "ctx": self._context()}
        prepared: Mapping[int, HostArray] = self._hooks.call(HOOK, segment, **arguments)
        if not isinstance(prepared, Mapping) or prepared.keys() != constants.keys():
            raise self._hooks.wrong(HOOK, prepared, f"a mapping with the positions {sorted(constants)}", segment)
        for array in prepared.values():
            if not isinstance(array, np.ndarray):
                raise self._hooks.wrong(HOOK, array, "NumPy arrays", segment, among=True)
        return prepared


def _key(segment: Segment) -> Hashable:
    contents = ((p, array.shape, str(array.dtype), digest(array)) for p, array in sorted(segment.constants.items()))
    return to_json(segment), tuple(contents)
