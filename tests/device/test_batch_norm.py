"""The op forms of batch normalization that torch's compilers and newer dispatch use."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import lazycore

aten = torch.ops.aten
Form = Callable[..., tuple[torch.Tensor, ...]]

FORMS: dict[str, Form] = {
    "legit, training": lambda x, w, b, m, v: aten._native_batch_norm_legit(x, w, b, m, v, True, 0.3, 1e-5),
    "legit, evaluation": lambda x, w, b, m, v: aten._native_batch_norm_legit(x, w, b, m, v, False, 0.3, 1e-5),
    "with update": lambda x, w, b, m, v: aten._batch_norm_with_update(x, w, b, m, v, 0.3, 1e-5),
}


@pytest.mark.parametrize("name", FORMS)
def test_results_and_running_statistics_are_the_cpus(name: str) -> None:
    x, running = torch.randn(4, 3, 5), (torch.randn(3), torch.rand(3))
    here = [x, torch.randn(3), torch.randn(3), *(r.clone() for r in running)]
    there = [t.to("lazycore") for t in here]
    expected, got = FORMS[name](*here), FORMS[name](*there)
    torch.testing.assert_close([t.cpu() for t in got], list(expected))
    torch.testing.assert_close([t.cpu() for t in there[3:]], here[3:])
    assert lazycore.metrics()["fallbacks"] == {}
