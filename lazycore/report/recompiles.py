"""Warnings for programs that are compiled again and again."""

from __future__ import annotations

import warnings
from collections import deque

from lazycore.trace.divergence import Divergence, Kind
from lazycore.trace.tree import TOO_MANY

__all__ = ["RecompileWarning", "warn_of"]


class RecompileWarning(UserWarning):
    """Calls at one line led to several programs, each compiled; the text says what differs between them."""


_ADVICE = {
    Kind.shape: "Each size is a program of its own: pad to a few sizes, or drop the last, smaller batch.",
    Kind.dtype: "Bring it to one dtype before.",
    Kind.operand: "Which tensor it is belongs to the program: let the call take the same ones each time.",
    Kind.number: "A shape, a dtype or a formula depends on the number: let it take few values, or make it a tensor.",
    Kind.op: "The branches that Python takes belong to the program: take few, or decide with torch.where.",
}


def warn_of(recurring: deque[Divergence], compiled: bool) -> None:
    """Warn once of each place, at the user's line, and forget it. Where nothing was ``compiled``, as an executable for
    all sizes was there, there is nothing to warn of."""
    if not compiled:
        recurring.clear()
    while recurring:
        divergence = recurring.popleft()
        file, line = (divergence.source.file, divergence.source.line) if divergence.source else ("<unknown>", 0)
        warnings.warn_explicit(_text(divergence), RecompileWarning, file, line)


def _text(divergence: Divergence) -> str:
    operand = f"its operand {divergence.operand}" if divergence.operand else "the operator"
    return (
        f"lazycore has compiled {TOO_MANY} programs that differ in {divergence.op} at this line, where {operand} is "
        f"{divergence.difference}. {_ADVICE[divergence.kind]} lazycore.explain() lists all such places."
    )
