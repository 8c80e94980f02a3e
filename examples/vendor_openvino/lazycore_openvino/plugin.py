"""The hooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import openvino
from lazycore_plugin_api import (
    Artifact,
    BackendInfo,
    CompileContext,
    CompileFailure,
    Constants,
    Decision,
    DType,
    Executable,
    HostArray,
    Node,
    Option,
    Pattern,
    Rejected,
    Segment,
    Supported,
    Target,
    hookimpl,
)

from lazycore_openvino import __version__, patterns
from lazycore_openvino.constants import prepare
from lazycore_openvino.lowerings import objection
from lazycore_openvino.model import build
from lazycore_openvino.program import Program

OPTIONS = {
    "finite": Option(False, "values are neither NaN nor infinite: OpenVINO's own relu, pooling and softmax are used"),
    "threads": Option(0, "of OpenVINO; 0 for as many as it likes"),
}
DTYPES = frozenset({DType.float32, DType.bfloat16, DType.bool, DType.int64})
WHOLE = ("aten.linear.default", "aten.scaled_dot_product_attention.default")


@hookimpl
def lazycore_backend_info() -> BackendInfo:
    """Weights are owned: they arrive as constants, are folded, and OpenVINO packs them while it compiles. A stored
    program fits the OpenVINO that wrote it."""
    return BackendInfo(
        "openvino",
        __version__,
        dtypes=DTYPES,
        options=OPTIONS,
        constants=Constants.own,
        fingerprint=openvino.__version__,
    )


@hookimpl
def lazycore_supports(node: Node) -> Decision:
    """Composites are this plugin's own patterns, whose parts it takes one by one as well."""
    reason = objection(node)
    return Rejected("op", f"openvino: {reason}") if reason else Supported()


@hookimpl
def lazycore_patterns() -> Sequence[Pattern]:
    """Convolution with what follows it, and attention that a model wrote out."""
    return patterns.PATTERNS


@hookimpl
def lazycore_preserve_ops() -> Sequence[str]:
    """Taken whole: torch would decompose them."""
    return WHOLE


@hookimpl
def lazycore_prepare_constants(segment: Segment, constants: Mapping[int, HostArray]) -> Mapping[int, HostArray]:
    """float32, with batch normalization folded into the weights of its convolution."""
    return prepare(segment, constants)


@hookimpl
def lazycore_compile(segments: Sequence[Segment], ctx: CompileContext) -> Sequence[Executable | CompileFailure]:
    """Each segment is one OpenVINO model."""
    return [_compile(segment, ctx.target) for segment in segments]


def _compile(segment: Segment, target: Target) -> Executable | CompileFailure:
    try:
        return Program.compile(segment, build(segment, bool(target.options["finite"])), target)
    except (RuntimeError, ValueError, TypeError) as error:
        return CompileFailure(f"openvino: {error}", error)


@hookimpl
def lazycore_load(artifact: Artifact, ctx: CompileContext) -> Executable:
    """A compiled model that ``Program.serialize`` wrote."""
    return Program.load(artifact.payload, ctx.target)
