"""TVM, imported with the settings that a library inside somebody else's process needs."""

from __future__ import annotations

import os
import shutil
import threading
from typing import Any

# With torch in the process, tvm_ffi would compile an extension for it when it is imported.
os.environ.setdefault("TVM_FFI_DISABLE_TORCH_C_DLPACK", "1")

import tvm
from tvm.support.cc import get_cc
from tvm.sym import detect_linear_equation
from tvm.tirx import compilation_pipeline
from tvm_ffi import load_module

from lazycore_tvm.threads import set_defaults

__all__ = ["COMPILE_LOCK", "compile_module", "detect_linear_equation", "linker", "load_library", "target", "tvm"]

set_defaults()

COMPILE_LOCK = threading.Lock()
"""TVM's compiler keeps state per process: two compiles at a time fail."""

# Shapes and layouts are the executable's own to check: it calls the functions with nothing but dense tensors.
_OPTIONS = {"tirx.disable_assert": True}


def target() -> Any:
    """The processor of this machine. No fast-math flag: each of them changes what programs compute."""
    processor = tvm.target.codegen.llvm_get_system_cpu()
    return tvm.target.Target({"kind": "llvm", "mcpu": processor, "num-cores": 1, "opt-level": 2})


def linker() -> str | None:
    """The system's C compiler, which makes shared libraries; None where there is none."""
    return shutil.which(get_cc() or "")


def load_library(path: str) -> Any:
    """A compiled program's module. It is unloaded with its last user, where TVM's own function keeps it for good."""
    return load_module(path, keep_module_alive=False)


def compile_module(module: Any) -> Any:
    """A Relax module without Relax operators, as an executable of TVM's virtual machine."""
    with tvm.transform.PassContext(opt_level=2, config=_OPTIONS):
        return tvm.compile(module, target(), relax_pipeline=_pipeline, tir_pipeline=_FLAT)


@tvm.transform.module_pass(opt_level=0)
def _pipeline(module: Any, _context: Any) -> Any:
    # What the default pipeline does after legalization and fusion, neither of which the emitted module needs.
    passes = tvm.relax.transform
    lower = (
        passes.ToNonDataflow, passes.RemovePurityChecking, passes.CallTIRRewrite, passes.StaticPlanBlockMemory,
        passes.LowerAllocTensor, passes.KillAfterLastUse, passes.LowerRuntimeBuiltin, passes.ComputePrimValue,
        passes.VMShapeLower, passes.AttachGlobalSymbol,
    )  # fmt: skip
    with target():
        return tvm.transform.Sequential([make() for make in lower])(module)


_FLAT = "lazycore_tvm"


def _flat() -> Any:
    """What loops over flat buffers need. TVM's simplifier is left out: it takes floats for real numbers."""
    passes = tvm.tirx.transform

    @tvm.transform.module_pass(opt_level=0)
    def lower(module: Any, _context: Any) -> Any:
        steps = passes.AnnotateEntryFunc(), passes.SplitHostDevice(), passes.MakePackedAPI()
        return tvm.transform.Sequential(steps)(module)

    return lower, compilation_pipeline.finalize_host_passes, compilation_pipeline.finalize_device_passes


compilation_pipeline.register_tir_pipeline(_FLAT, _flat)
