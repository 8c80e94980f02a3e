"""One module of PyTorch's module database, run on CPU and on the device in training and evaluation."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch.nn.modules.lazy import LazyModuleMixin

import lazycore
from lazycore.conformance.database.compare import DEVICE, Differs, compare
from lazycore.conformance.database.exact import Exact, widened
from lazycore.conformance.database.internals import module_entries
from lazycore.conformance.database.moving import copied, moved, tensors
from lazycore.conformance.database.outcome import Outcome
from lazycore.conformance.database.tolerances import tolerance_of

__all__ = ["KIND", "modules", "run"]

KIND = "module"
SAMPLES = 100


def modules() -> dict[str, Any]:
    """All modules by name. Raises Moved."""
    return {info.module_cls.__name__: info for info in module_entries()}


def run(info: Any, name: str, limit: int = SAMPLES) -> Outcome:
    """Up to ``limit`` inputs of a module in each mode, evenly chosen. Raises nothing: failures are in the outcome."""
    found = Outcome(name, KIND)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for training in (True, False):
            inputs = info.module_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=True, training=training
            )
            chosen = [given for given in inputs if given.forward_input is not None]
            step = max(1.0, len(chosen) / limit)
            for position in range(min(limit, len(chosen))):
                _one(found, info.module_cls, chosen[int(position * step)], training)
    return found


def _one(found: Outcome, cls: Any, given: Any, training: bool) -> None:
    forward = (given.forward_input.args, given.forward_input.kwargs)

    def outputs(place: Any, device: str, dtype: torch.dtype = torch.float32) -> list[Any]:
        # In double precision too, parameters are drawn in single: they must be the same numbers.
        options = (copied if dtype is torch.float64 else place)(given.constructor_input.kwargs)
        return _outputs(_made(cls, options, given, training, device, dtype), place(forward))

    try:
        expected = outputs(copied, "cpu")
    except Exception:  # CPU refuses the input: another table compares errors
        return
    found.samples += 1
    lazycore.reset_metrics()
    exact = Exact(lambda: outputs(_copied_wide, "cpu", torch.float64))
    try:
        compare(expected, outputs(moved, DEVICE), "", tolerance=tolerance_of(found.op, KIND), exact=exact)
        found.forward += 1
    except (Exception, Differs) as error:
        found.fail("training" if training else "evaluation", error)
    found.fallbacks.update(lazycore.metrics()["fallbacks"])
    found.native += not lazycore.metrics()["fallbacks"]


def _copied_wide(tree: Any) -> Any:
    return widened(copied(tree))


def _made(cls: Any, options: Any, given: Any, training: bool, device: str, dtype: torch.dtype) -> Any:
    """The module; made on the CPU in single precision, so that its parameters are the same everywhere."""
    torch.manual_seed(0)
    module = cls(*given.constructor_input.args, **options).train(training)
    if isinstance(module, LazyModuleMixin) and dtype is torch.float64:
        torch.manual_seed(1)  # as where it meets its first input
        module.initialize_parameters(*copied(given.forward_input.args))  # type: ignore[misc]
    return module.to(device, dtype)


def _outputs(module: Any, arguments: tuple[Any, Any]) -> list[Any]:
    """The results, then the gradients of all parameters and inputs, where there are any."""
    torch.manual_seed(1)
    results = module(*arguments[0], **arguments[1])
    sources = [t for t in tensors(results) if t.requires_grad]
    if not sources:
        return [results]
    torch.stack([(t * t).sum() for t in sources]).sum().backward()  # type: ignore[no-untyped-call]
    return [results, [p.grad for p in (*module.parameters(), *(t for t in tensors(arguments) if t.is_leaf))]]
