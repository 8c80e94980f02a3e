"""Training programs as PyTorch modules.

Sizes: MLP 784-512-512-10, batch 64; GPT of 4 layers, width 128, 4 heads, 64 positions, batch 8, 1000 tokens; ResNet-20
on 32 images of 32 x 32; an LSTM cell of width 128 stepped 32 times by a Python loop, batch 32.
"""

from __future__ import annotations

from bench.programs.gpt import GPT
from bench.programs.lstm import LSTM, WRITTEN
from bench.programs.mlp import MLP, MLP_SGD, TINY
from bench.programs.program import Program
from bench.programs.resnet import RESNET

__all__ = ["OF_REWRITES", "PROGRAMS", "TINY", "Program"]

OF_REWRITES: dict[str, Program] = {WRITTEN.name: WRITTEN}
"""Beside the others: what shows a rewrite that they do not need."""

PROGRAMS: dict[str, Program] = {program.name: program for program in (MLP, MLP_SGD, GPT, RESNET, LSTM)}
