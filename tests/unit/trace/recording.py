"""Recording without a frontend: calls are tuples of (name, items), each result is one small float tensor."""

from __future__ import annotations

from typing import Any

from lazycore_plugin_api import DType, Source, TensorSpec

from lazycore.trace.call import Call
from lazycore.trace.keys import FLOAT, INT, LIFTED_FLOAT, LIFTED_INT, scalar_key
from lazycore.trace.layout import Layout, layout_of
from lazycore.trace.node import Node
from lazycore.trace.recorder import FULL, Recorder, Trace
from lazycore.trace.tree import Tree

SPEC = TensorSpec((2,), DType.float32)


def small() -> Layout:
    """The layout of every result here."""
    return layout_of((2,), (1,), DType.float32, "float32")


class Recording:
    """A trace of a tree, and how many nodes had to be made."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.made: list[Any] = []
        self.open()

    def open(self) -> None:
        """Begin the next trace."""
        self.trace = Trace(self.tree, self.tree.root("root"), Recorder())

    def op(self, name: str, *numbers: float, line: int = 1, items: tuple[Any, ...] = ()) -> Node | None:
        """Record one call; None where a barrier must come first."""
        trace = self.trace
        trace.scalars.extend(numbers)
        key = (name, *items, *map(scalar_key, numbers))
        node = trace.node.children.get(key)
        if node is None:
            node = trace.grow(key, lambda k: self._make(k, name, line))
        if node is FULL:
            return None
        trace.node = node
        return node

    def _make(self, key: Any, name: str, line: int) -> Node:
        self.made.append(key)
        source = Source("program.py", line)
        node = Node(self.trace.node, key, (), source)
        node.set_outs((small(),), ())
        node.names = tuple(f"argument{i}" for i in range(len(key) - 1))
        node.calls = (Call(f"test.{name}.default", (), {}, (SPEC,), (node.index,), source=source),)
        return node

    def run(self, *calls: tuple[Any, ...]) -> int:
        """A whole trace of calls ``(name, *numbers)``; how many of its nodes are new."""
        self.open()
        before = len(self.made)
        for name, *numbers in calls:
            assert self.op(name, *numbers) is not None
        return len(self.made) - before


def lifted(node: Node) -> int:
    """How many numbers of a path are run-time inputs."""
    return sum(item in (LIFTED_FLOAT, LIFTED_INT) for step in node.path() for item in step.key[1:])


def exact(node: Node) -> list[Any]:
    """The numbers that a path holds as constants."""
    items = [item for step in node.path() for item in step.key[1:]]
    return [item[1] for item in items if isinstance(item, tuple) and item[0] in (FLOAT, INT)]
