"""Call one plugin's hooks in isolation: what it raises or returns wrongly becomes an error that names it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pluggy
from lazycore_plugin_api import BackendError, Node, PluginError, Segment

__all__ = ["HookCalls", "place"]

T = TypeVar("T")


def place(subject: Node | Segment | None) -> str:
    """Where in the user's program: `` for aten.add.Tensor at train.py:12``, or nothing where it is unknown."""
    if subject is None:
        return ""
    if isinstance(subject, Node):
        return f" for {subject.op}" + (f" at {subject.source}" if subject.source else "")
    first = next((node for node in subject.nodes if node.source), None)
    return f" for {subject.name}" + (f" ({first.op} … at {first.source})" if first else "")


class HookCalls:
    """The hooks of the one plugin in ``manager``, with their results checked."""

    def __init__(self, name: str, manager: pluggy.PluginManager) -> None:
        self._name = name
        self._hook = manager.hook

    def implements(self, hook: str) -> bool:
        """Whether the plugin has this hook."""
        return bool(getattr(self._hook, hook).get_hookimpls())

    def call(self, hook: str, subject: Node | Segment | None = None, **arguments: Any) -> Any:
        """The hook's result, unchecked. Raises BackendError, with the plugin's exception as its cause."""
        try:
            return getattr(self._hook, hook)(**arguments)
        except Exception as error:
            what = f"{hook} raised {type(error).__name__}{place(subject)}: {error}"
            raise BackendError(f"backend {self._name!r}: {what}") from error

    def one(self, hook: str, wanted: type[T], subject: Node | Segment | None = None, **arguments: Any) -> T:
        """The hook's result, which must be a ``wanted``. Raises PluginError if it is not, BackendError if it raises."""
        result = self.call(hook, subject, **arguments)
        if not isinstance(result, wanted):
            raise self.wrong(hook, result, wanted.__name__, subject)
        return result

    def many(self, hook: str, wanted: type[T], **arguments: Any) -> list[T]:
        """The hook's result, which must be a sequence of ``wanted``. Raises as ``one`` does."""
        result = self.call(hook, **arguments)
        if not isinstance(result, Sequence) or isinstance(result, str):
            raise self.wrong(hook, result, f"a sequence of {wanted.__name__}")
        for item in result:
            if not isinstance(item, wanted):
                raise self.wrong(hook, item, f"a sequence of {wanted.__name__}", among=True)
        return list(result)

    def optional(self, hook: str, default: T, ask: Callable[[], T]) -> T:
        """``ask()`` if the plugin has the hook, else ``default``."""
        return ask() if self.implements(hook) else default

    def wrong(
        self, hook: str, result: object, wanted: str, subject: Node | Segment | None = None, among: bool = False
    ) -> PluginError:
        """The error that says which plugin's hook returned what, and what it must return."""
        got = "None" if result is None else f"{result!r:.80} of type {type(result).__name__}"
        what = f"{hook} returned {'an item ' * among}{got}{place(subject)}; it must return {wanted}"
        return PluginError(f"backend {self._name!r}: {what}")
