"""Latency of the models on OpenVINO beside eager PyTorch and torch.compile, and what compiling costs.

    python bench.py [--threads 1] [--rounds 20]

Every way runs once per round, one after the other, so that what else the machine does falls on all of them alike; the
numbers are medians. A launch of lazycore's is the whole of it: the input's copy to the device, the model, the copy
back.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

import lazycore

sys.path.insert(0, str(Path(__file__).parent / "tests"))

import models

WARM = 6
MODELS = {"resnet18": models.resnet18, "bert": models.bert}
Launch = Callable[[], torch.Tensor]


def on_device(name: str, selection: str) -> tuple[Launch, float]:
    """A launch on a backend, warm, and the seconds that it spent compiling, of both plans: without and with weights."""
    model, x = MODELS[name]()
    model.to("lazycore")

    def launch() -> torch.Tensor:
        with lazycore.use_backend(selection):
            return models.output(model, x.to("lazycore")).cpu()

    lazycore.reset_metrics()
    for _ in range(WARM):
        launch()
    return launch, lazycore.metrics()["compile_seconds"]


def on_cpu(name: str, compiled: bool) -> tuple[Launch, float]:
    """A launch on the CPU, warm, and the seconds of its first one."""
    model, x = MODELS[name]()
    call = torch.compile(model) if compiled else model
    start = time.perf_counter()
    models.output(call, x)
    seconds = time.perf_counter() - start
    for _ in range(WARM):
        models.output(call, x)
    return lambda: models.output(call, x), seconds


def timed(launch: Launch) -> float:
    """Milliseconds."""
    start = time.perf_counter()
    launch()
    return (time.perf_counter() - start) * 1e3


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    lazycore.config.placement = False
    selection = f"openvino?threads={options.threads}"
    for name in MODELS:
        ways = {
            "eager": on_cpu(name, False),
            "torch.compile": on_cpu(name, True),
            "openvino": on_device(name, f"{selection},reference"),
            "openvino, finite": on_device(name, f"{selection}&finite=1,reference"),
        }
        times: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(options.rounds):
            for way, (launch, _) in ways.items():
                times[way].append(timed(launch))
        for way, (_, seconds) in ways.items():
            print(f"{name:9} {way:17} {statistics.median(times[way]):8.1f} ms, compiled in {seconds:5.1f} s")


if __name__ == "__main__":
    main()
