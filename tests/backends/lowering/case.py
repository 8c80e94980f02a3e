"""One sample of one op: what it is called with and how closely its results must agree with PyTorch's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch


@dataclass(frozen=True)
class Tolerance:
    """Relative and absolute error allowed to floats of 32 and 64 bits. ``signed_zero``: -0.0 and 0.0 differ."""

    rtol: float = 0.0
    atol: float = 0.0
    signed_zero: bool = False


EXACT = Tolerance(signed_zero=True)
ELEMENTWISE = Tolerance(rtol=2e-6, atol=1e-6)
ACCUMULATED = Tolerance(rtol=1e-5, atol=1e-5)

Reference = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Case:
    """``op`` applied to CPU tensors and literals, arguments as the schema names them.

    ``reference`` computes the expected result of an op that torch does not have. ``shape_only`` lists the outputs
    whose content is unspecified.
    """

    op: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    tolerance: Tolerance = ELEMENTWISE
    reference: Reference | None = None
    shape_only: tuple[int, ...] = ()

    def expected(self) -> tuple[torch.Tensor | None, ...]:
        """PyTorch's results on CPU; None where an output was not asked for."""
        with torch.no_grad():
            results = (self.reference or overload(self.op))(*self.args, **self.kwargs)
        return tuple(results) if isinstance(results, (tuple, list)) else (results,)


def overload(op: str) -> Any:
    """The torch overload called ``namespace.name.overload``. Raises AttributeError for an unknown one."""
    namespace, name, variant = op.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), name), variant)


def case(
    op: str, *args: Any, tolerance: Tolerance = ELEMENTWISE, shape_only: tuple[int, ...] = (), **kwargs: Any
) -> Case:
    """A row of a table: ``case("aten.add.Tensor", x, y, alpha=2)``."""
    return Case(op, args, kwargs, tolerance, shape_only=shape_only)


def each(op: str, *samples: tuple[Any, ...], tolerance: Tolerance = ELEMENTWISE, **kwargs: Any) -> list[Case]:
    """One case per tuple of positional arguments."""
    return [Case(op, sample, kwargs, tolerance) for sample in samples]


def names(text: str) -> list[str]:
    """The words of a row of op names."""
    return text.split()
