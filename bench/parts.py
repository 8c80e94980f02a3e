"""The parts of the benchmark, in the order in which they are measured and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["PARTS", "Part"]


@dataclass(frozen=True)
class Part:
    """A module ``bench.<name>`` with the command line of ``bench.part``. ``tolerance``: how many times a ratio of the
    results checked in another run may show before that is a regression; ``about``: what the page says of it."""

    title: str
    about: str
    tolerance: float = 1.3


PARTS: Mapping[str, Part] = {
    "trace": Part(
        "Recording",
        "Microseconds a call in chains of 201 calls on 4 x 4 tensors, on one thread. On lazycore a trace is recorded "
        "that was seen before; what it takes to run it is not in it. *bare redispatch* is a view by a Python kernel "
        "that does nothing but hand the call on to torch; *eager's forward* is eager's call of the chain with "
        "gradient. The backward pass is by forward call.",
    ),
    "steps": Part(
        "Training steps",
        "Milliseconds a step, forward, backward and optimizer, of a program that reads the loss after each. Where that "
        "is worth a launch of its own, lazycore computes the loss ahead of the rest, so that the next step is recorded "
        "while the rest runs; *all of it* waits for the rest as well, after each step. *every 10* reads every tenth "
        "loss only. *record* is what recording a step costs on lazycore, beside eager's whole step.",
    ),
    "launch": Part(
        "Launching",
        "Milliseconds from the end of a trace that was seen before until the call of its executable returns, beside "
        "the bare call of that executable with the same arrays.",
    ),
    "rewrites": Part(
        "What rewrites gain",
        "Milliseconds a step as it is, and with one thing less: *slice gradients added up*, each padded to the whole, "
        "instead of one concatenation; *duplicates computed* each time; *idle casts made*; *XLA's own convolutions* "
        "instead of calls of ATen's. PyTorch's own LSTM cell is recorded whole, so that its gradients are one piece "
        "anyway; the one that is written out takes its gates from one product as slices.",
    ),
    "start": Part(
        "First steps and memory",
        "*cold*: with empty caches; *warm*: another process has run the program before. *imports*: until a network of "
        "a few neurons is trained, before that. Memory is the most held in twenty steps, above what the imports hold.",
        tolerance=1.5,
    ),
    "ops": Part(
        "Single operators",
        "Microseconds of one operator by itself, recorded, launched and waited for each time: what lazycore is not "
        "made for, and where a backend's kernels show.",
        tolerance=1.5,
    ),
}
