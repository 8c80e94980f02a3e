"""Whole models: equal to the CPU, and at least nine in ten nodes on OpenVINO."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import models
import pytest
import torch

import lazycore

MODELS = {"resnet18": models.resnet18, "bert": models.bert, "bert written out": lambda: models.bert("eager")}
# Behind it the inputs are frozen, and the model runs with its weights bound.
LAUNCHES = 6
# bfloat16 has eight bits, and a deep network adds up what eager execution rounds at every op.
TOLERANCES = {torch.float32: (1e-4, 1e-4), torch.bfloat16: (0.1, 0.15)}


@pytest.mark.usefixtures("selection")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", MODELS)
def test_is_equal_to_the_cpu_and_runs_on_openvino(
    name: str, dtype: torch.dtype, placed: Callable[[], Counter[str]]
) -> None:
    model, x = MODELS[name]()
    model, x = model.to(dtype), x.to(dtype) if x.is_floating_point() else x
    with torch.no_grad():
        expected = models.output(model, x)
        model.to("lazycore")
        results = [models.output(model, x.to("lazycore")).cpu() for _ in range(LAUNCHES)]
    rtol, atol = TOLERANCES[dtype]
    for result in (results[0], results[-1]):
        torch.testing.assert_close(result, expected, rtol=rtol, atol=atol)
    ops = placed()
    assert ops["openvino"] >= 0.9 * ops.total(), ops
    assert not lazycore.metrics()["fallbacks"]
