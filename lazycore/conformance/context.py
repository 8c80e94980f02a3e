"""What a case is run with: the backend under test, its profile, the oracle. One per worker process."""

from __future__ import annotations

import warnings
from functools import cached_property

from lazycore_plugin_api import Decision, Executable, Node, Profile, Rejected

from lazycore.conformance.case import Failed
from lazycore.conformance.graph.oracle import Oracle, oracle_for
from lazycore.conformance.opening import open_backend
from lazycore.plugins.backend import LoadedBackend
from lazycore.plugins.warning import PluginWarning

__all__ = ["Context"]


class Context:
    """Opened on first use, so that cases without a backend run. ``selection``: ``name[:device][?option=value]``."""

    def __init__(self, selection: str) -> None:
        self.selection = selection

    @property
    def name(self) -> str:
        """The backend's name."""
        return self.selection.partition(":")[0].partition("?")[0]

    @cached_property
    def backend(self) -> LoadedBackend:
        """The backend. Raises what ``open_backend`` raises."""
        return open_backend(self.selection)

    @cached_property
    def profile(self) -> Profile:
        """The vendor's word."""
        return self.backend.conformance()

    @cached_property
    def oracle(self) -> Oracle:
        """Where expected values come from."""
        return oracle_for(self.name)

    @property
    def foreign(self) -> tuple[type[Executable], ...]:
        """Executables of the oracle's, which the backend under test must not run."""
        reference = getattr(self.oracle, "kind", None)
        return (reference,) if reference is not None else ()

    def decision(self, node: Node) -> Decision:
        """Whether the backend takes the node. Raises Failed where its hook raises or returns something else."""
        if {v.spec.dtype for v in (*node.inputs(), *node.outputs)} - set(self.backend.info.dtypes):
            return Rejected("dtype", "a dtype that the backend does not list in BackendInfo.dtypes")
        with warnings.catch_warnings():
            warnings.simplefilter("error", PluginWarning)
            try:
                return self.backend.supports(node)
            except PluginWarning as error:
                raise Failed(str(error)) from error
