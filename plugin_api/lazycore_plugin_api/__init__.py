"""lazycore-plugin-api: everything a codegen backend for lazycore is written against. Needs no torch."""

from lazycore_plugin_api.artifacts import meta_from_record, meta_to_record
from lazycore_plugin_api.backend import (
    API_VERSION,
    Artifact,
    ArtifactMeta,
    BackendInfo,
    Buffer,
    Capabilities,
    Compat,
    CompileContext,
    CompileFailure,
    Constants,
    Decision,
    Estimate,
    Executable,
    HostArray,
    HostBuffer,
    HostSession,
    OpenContext,
    Option,
    Rejected,
    Session,
    Supported,
    Target,
    Threads,
)
from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.dynamic import is_dynamic, sizes_of, specialized, symbol_places, with_sizes
from lazycore_plugin_api.errors import (
    BackendError,
    InvalidGraph,
    LazycoreError,
    OutOfMemory,
    PluginError,
    UnknownBackend,
)
from lazycore_plugin_api.hooks import ENTRY_POINT_GROUP, PROJECT, REQUIRED, hookimpl
from lazycore_plugin_api.ir import COMPOSITE, Argument, Graph, Node, Segment, Source, Value, argument_values
from lazycore_plugin_api.opset import infer
from lazycore_plugin_api.patterns import Match, Pattern
from lazycore_plugin_api.profile import CheckCase, GraphCase, OwnCase, Profile
from lazycore_plugin_api.serial import from_json, to_json
from lazycore_plugin_api.specs import Dim, Shape, TensorSpec
from lazycore_plugin_api.text import node_text, to_text
from lazycore_plugin_api.text_reader import from_text
from lazycore_plugin_api.verifier import verify

__version__ = "0.1.0"

__all__ = [
    "API_VERSION", "COMPOSITE", "ENTRY_POINT_GROUP", "PROJECT", "REQUIRED",
    "Argument", "Artifact", "ArtifactMeta", "BackendError", "BackendInfo", "Buffer", "Capabilities", "CheckCase",
    "Compat", "CompileContext", "CompileFailure", "Constants", "DType", "Decision", "Dim", "Estimate", "Executable",
    "Graph", "GraphCase", "HostArray", "HostBuffer", "HostSession", "InvalidGraph", "LazycoreError", "Match", "Node",
    "OpenContext", "Option", "OutOfMemory", "OwnCase", "Pattern", "PluginError", "Profile", "Rejected", "Segment",
    "Session", "Shape", "Source", "Supported", "Target", "TensorSpec", "Threads", "UnknownBackend", "Value",
    "argument_values", "from_json", "from_text", "hookimpl", "infer", "is_dynamic", "meta_from_record",
    "meta_to_record", "node_text", "sizes_of", "specialized", "symbol_places", "to_json", "to_text", "verify",
    "with_sizes",
]  # fmt: skip
