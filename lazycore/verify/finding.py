"""What was found to be wrong, for people and as a reproducer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lazycore_plugin_api import Node, Segment, Target, node_text
from lazycore_plugin_api.reproducer import Reproducer

from lazycore.compiler.failures import describe
from lazycore.verify.trial import Trial

__all__ = ["Finding"]


@dataclass(frozen=True)
class Finding:
    """``segment``: the one that was wrong in the program. ``trial``: the smallest part of it that is.
    ``alone``: whether the fault is there when the segment is compiled once more by itself."""

    target: Target
    segment: Segment
    trial: Trial
    alone: bool

    @property
    def reproducer(self) -> Reproducer:
        """The fault as a file's content."""
        trial = self.trial
        return Reproducer(self.target, trial.segment, trial.inputs, trial.expected, trial.tolerances)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        nodes = self.trial.segment.nodes
        yield f"{describe(self.target.backend, self.segment)} differs from eager PyTorch."
        if not self.alone:
            yield (
                "Compiled once more by itself it is right: the fault depends on donated inputs or on what ran before. "
                "This is the whole segment:"
            )
        elif len(nodes) == 1:
            yield f"The op that is wrong, alone and with the right inputs, of {len(self.segment.nodes)}:"
        else:
            yield f"No op of them is wrong alone. These {len(nodes)} together are, of {len(self.segment.nodes)}:"
        for node in nodes:
            yield from _node_lines(node)
        for difference in self.trial.differences:
            value = self.trial.segment.outputs[difference.output]
            yield f"  {value}: {value.spec}: {difference}"


def _node_lines(node: Node) -> Iterator[str]:
    yield f"  {node_text(node)}"
    operands = ", ".join(f"{value}: {value.spec}" for value in dict.fromkeys(node.inputs()))
    yield f"    from {operands or 'no operands'}"
    for inner in node.body.nodes if node.body is not None else ():
        yield f"    made of {node_text(inner)}"
