"""The devices that jax finds: their names, and what the plugin does where one is no CPU."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace

import jax
import pytest
from lazycore_plugin_api import BackendError, DType, Rejected, Supported, Target, TensorSpec, Value
from lazycore_xla import devices
from lazycore_xla.host import fingerprint
from lazycore_xla.session import JaxSession


def test_the_first_device_is_jax_own_default(xla) -> None:
    default = jax.local_devices()[0]
    assert xla.info.devices[0] == default.platform
    assert devices.device_of(default.platform) == default


def test_a_device_that_jax_lacks_is_named_with_those_it_has() -> None:
    with pytest.raises(BackendError, match="no device 'tpu:3'; it has cpu"):
        JaxSession("tpu:3")


@pytest.fixture
def accelerators(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """jax as it is with two accelerators beside the CPU."""
    client = SimpleNamespace(platform_version="acme 7", local_devices=lambda: chips)
    host = SimpleNamespace(platform_version="cpu", local_devices=lambda: [cpu])
    chips = [SimpleNamespace(platform="acme", device_kind="A1", client=client, id=i) for i in range(2)]
    cpu = SimpleNamespace(platform="cpu", device_kind="cpu", client=host)
    monkeypatch.setattr(devices, "backends", lambda: {"cpu": host, "acme": client})
    monkeypatch.setattr(devices, "get_default_device", lambda: chips[1])
    for cached in (devices._found, fingerprint):
        cached.cache_clear()
    yield
    for cached in (devices._found, fingerprint):
        cached.cache_clear()


@pytest.mark.usefixtures("accelerators")
def test_an_accelerator_comes_before_the_cpu(xla) -> None:
    assert xla.hook.lazycore_backend_info().devices == ("acme:1", "acme", "cpu")


def test_compiled_programs_of_other_platforms_are_others(request: pytest.FixtureRequest) -> None:
    before = fingerprint()
    request.getfixturevalue("accelerators")
    assert fingerprint() != before


def test_what_jax_has_for_some_platforms_is_rejected_on_others(xla, node) -> None:
    spec = TensorSpec((2, 2), DType.complex64)
    eig = node("aten._linalg_eigvals.default", Value(0, spec), to=1, spec=TensorSpec((2,), spec.dtype))
    assert xla.hook.lazycore_supports(node=eig, target=Target("xla", "gpu:1")) == Supported()
    decision = xla.hook.lazycore_supports(node=eig, target=Target("xla", "tpu"))
    assert isinstance(decision, Rejected)
    assert decision.code == "platform"
    assert "on cpu, gpu, not on tpu" in decision.reason


def test_options_of_the_cpu_are_not_given_to_others() -> None:
    others = devices.options_of(SimpleNamespace(platform="acme"))
    assert others == {"xla_allow_excess_precision": False}
    own = devices.options_of(jax.local_devices(backend="cpu")[0])
    assert own.items() > others.items()
    assert all(name.startswith("xla_cpu_") for name in own.keys() - others.keys())


MISSING = """
import lazycore_xla.plugin as plugin
plugin.lazycore_backend_info()
"""


def test_a_platform_that_does_not_exist_is_an_error_that_names_the_setting() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MISSING], env=os.environ | {"JAX_PLATFORMS": "cuda"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "BackendError: xla: jax finds no device (JAX_PLATFORMS='cuda')" in done.stderr


FORKED = """
import os, warnings
warnings.simplefilter("ignore")
from lazycore_plugin_api import BackendError
from lazycore_xla.plugin import lazycore_backend_info
from lazycore_xla.session import JaxSession

lazycore_backend_info()
child = os.fork()
if child == 0:
    try:
        JaxSession("cpu")
    except BackendError as error:
        os._exit(7 if "spawn" in str(error) else 1)
    os._exit(2)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_is_refused_before_a_session_was_opened() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
