"""The patterns that a plugin declares: asked for once, and sound."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lazycore_plugin_api import Pattern, PluginError
from lazycore_plugin_api.patterns import Any, Constant, Op, Optional, PatternNode

from lazycore.plugins.hook_calls import HookCalls

__all__ = ["DeclaredPatterns"]

HOOK = "lazycore_patterns"
_NAME = re.compile(r"\w+", re.ASCII)


class DeclaredPatterns:
    """``lazycore_patterns`` of one plugin."""

    def __init__(self, name: str, hooks: HookCalls) -> None:
        self._name = name
        self._hooks = hooks
        self._patterns: tuple[Pattern, ...] | None = None

    def get(self) -> Sequence[Pattern]:
        """The patterns; the plugin is asked once. Raises PluginError for one that is unsound, naming it, and for two
        of one name; BackendError where the hook raises."""
        if self._patterns is None:
            patterns = self._hooks.many(HOOK, Pattern) if self._hooks.implements(HOOK) else []
            for position, pattern in enumerate(patterns):
                self._check(pattern, [p.name for p in patterns[:position]])
            self._patterns = tuple(patterns)
        return self._patterns

    def _check(self, pattern: Pattern, earlier: Sequence[str]) -> None:
        if not isinstance(pattern.name, str) or not _NAME.fullmatch(pattern.name):
            raise self._unsound(f"{pattern.name!r}: a name consists of letters, digits and _")
        if pattern.name in earlier:
            raise self._unsound(f"{pattern.name}: two patterns have this name")
        known: set[str] = set()
        for position, root in enumerate(pattern.roots):
            parts = list(_parts(root))
            wrong = next((p for p in parts if not isinstance(p, Any | Constant | Op | Optional)), None)
            if wrong is not None:
                raise self._unsound(f"{pattern.name}: {wrong!r} is no part of a pattern")
            if not isinstance(root.pattern if isinstance(root, Optional) else root, Op):
                raise self._unsound(f"{pattern.name}: a root must be an Op, and {root!r} is none")
            names = {p.name for p in parts if not isinstance(p, Optional) and p.name is not None}
            if position and not names & known:
                raise self._unsound(f"{pattern.name}: root {position} shares no name with the roots before it")
            known |= names

    def _unsound(self, what: str) -> PluginError:
        return PluginError(f"backend {self._name!r}: {HOOK} declares {what}")


def _parts(node: PatternNode) -> Iterator[PatternNode]:
    yield node
    if isinstance(node, Optional):
        yield from _parts(node.pattern)
    elif isinstance(node, Op):
        for operand in node.operands:
            yield from _parts(operand)
