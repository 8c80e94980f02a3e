"""Run programs that ``lazycore.export`` wrote: NumPy arrays in, NumPy arrays out, without PyTorch.

program = lazycore_loader.load("model.lcp")
logits = program(images)
"""

from lazycore_loader.errors import InvalidInput, ProgramError
from lazycore_loader.manifest import Input
from lazycore_loader.program import Program, load

__version__ = "0.1.0"
__all__ = ["Input", "InvalidInput", "Program", "ProgramError", "load"]
