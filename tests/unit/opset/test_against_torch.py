"""What the table says of a call's results against what torch's Meta kernels say."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from lazycore_plugin_api import TensorSpec
from lazycore_plugin_api.opset import OPSET, infer
from lazycore_plugin_api.opset.inference import fault_of

from .calls import spec_of
from .samples import FAMILIES


@pytest.mark.parametrize("name", FAMILIES)
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_results_are_those_of_meta_kernels(name: str, data: st.DataObject) -> None:
    call = data.draw(FAMILIES[name])
    assert call.op in OPSET
    try:
        results = call.results()
    except ZeroDivisionError:  # torch's own formula divides by the number of elements, where there are none
        reject()
    node = call.node(results)
    assert fault_of(node, static=True) is None
    for found, result in zip(infer(node), results, strict=True):
        assert found is None or result is not None or found == TensorSpec((0,), found.dtype)
        assert found is None or result is None or found == spec_of(result)
