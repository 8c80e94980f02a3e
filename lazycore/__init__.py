"""lazycore: a PyTorch device that records lazily and compiles with the codegen you bring.

Importing it makes ``torch.device("lazycore")`` usable wherever torch takes a device.
"""

from __future__ import annotations

import gc as _gc
from typing import Any as _Any

import torch as _torch

from lazycore.frontend.versions import check_torch as _check_torch

_check_torch(_torch.__version__)
# What an import allocates stays; collecting in the middle of it would only walk torch's whole heap, at a tenth of a
# second a time.
_collecting = _gc.isenabled()
_gc.disable()

from lazycore.config import config  # noqa: E402
from lazycore.frontend.install import install as _install  # noqa: E402
from lazycore.plugins.selection import use_backend  # noqa: E402
from lazycore.report.metrics import metrics, reset_metrics  # noqa: E402

__version__ = "0.1.0"
__all__ = ["config", "explain", "export", "metrics", "reset_metrics", "sync", "use_backend"]

_install()
if _collecting:
    _gc.enable()


def explain() -> _Any:
    """What has run where so far, and why: an ``Explanation``, whose ``str()``, ``to_json()`` and ``to_html()`` show it.

    Steps carry times where ``lazycore.config.explain`` was set before the program ran.
    """
    from lazycore.frontend.local import tree
    from lazycore.report.explain import explain as everything

    return everything(tree.divergences)


def export(
    module: _torch.nn.Module, args: _Any, path: _Any, *, kwargs: _Any = None, backend: str | None = None
) -> None:
    """Write the module, compiled for arguments like ``args`` (a tensor or a tuple), into one file that
    ``lazycore_loader.load`` runs without PyTorch: NumPy arrays in, NumPy arrays out.

    ``backend``: a selection as of ``use_backend``, for this call. Raises TypeError for what is no module or a result
    that has no place in a file, LazycoreError where the call looks at values, draws random numbers or changes the
    module's state.
    """
    from lazycore.frontend.exporting.export import export as write

    write(module, args, path, kwargs=kwargs, backend=backend)


def sync() -> None:
    """Run everything recorded so far and wait for it. Raises what any of it raised."""
    from lazycore.frontend.sync import wait_all

    wait_all()
