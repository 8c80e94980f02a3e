"""The table's signatures against torch's own schemas, and the notation they are written in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from lazycore_plugin_api import DType, TensorSpec, Value
from lazycore_plugin_api.opset import FAMILIES, OPSET, OpRow, Parameter
from lazycore_plugin_api.opset.kinds import kind_of
from lazycore_plugin_api.opset.schema import parse

from .calls import DROPPED, overload

ATEN = [row for row in OPSET.values() if row.name.startswith("aten.")]

KINDS = {"number": "Scalar"}
LIST = {"Tensor": "Tensor[]", "Optional[Tensor]": "Tensor?[]", "int": "int[]", "float": "float[]", "bool": "bool[]"}

# Core operators that no graph of the IR holds, and why.
NEVER = {
    "aten._local_scalar_dense.default": "observes a value",
    "aten.sym_numel.default": "is no tensor", "aten.sym_size.int": "is no tensor",
    "aten.sym_storage_offset.default": "is no tensor", "aten.sym_stride.int": "is no tensor",
    "aten._native_batch_norm_legit.default": "writes its operands", "aten.atan2.out": "writes its operands",
    "aten.as_strided.default": "is a view that slices, transposes and takes stand for",
    "aten.split_with_sizes.default": "is views that slices stand for",
    "aten.empty.memory_format": "has no content until it is written",
    "aten.empty_strided.default": "has no content until it is written",
    "aten.native_dropout.default": "draws", "aten.rand.default": "draws", "aten.randn.default": "draws",
    "aten.randperm.default": "draws",
    "aten.avg_pool1d.default": "is recorded as avg_pool2d", "aten.resize_.default": "writes its operand",
    "aten.adaptive_avg_pool1d.default": "is recorded as _adaptive_avg_pool2d",
    "aten.sym_is_contiguous.default": "is no tensor",
    "aten.nonzero.default": "has an output whose shape depends on values",
    "aten.upsample_bilinear2d.vec": "is recorded as upsample_bilinear2d.default",
    "aten.upsample_nearest2d.vec": "is recorded as upsample_nearest2d.default",
    "aten.var.dim": "is recorded as var.correction",
}  # fmt: skip


def torch_parameters(name: str) -> list[tuple[str, str, bool, bool, Any]]:
    """Name, kind, keyword, required and default of what the IR keeps of torch's arguments."""
    found = []
    for a in overload(name)._schema.arguments:
        if a.name not in DROPPED:
            default = a.default_value if a.has_default_value() else None
            default = DType.int64 if default == 4 and "ScalarType" in str(a.real_type) else default
            default = tuple(default) if isinstance(default, list) else default
            found.append((a.name, notation(str(a.real_type)), a.kwarg_only, not a.has_default_value(), default))
    return found


def notation(kind: str) -> str:
    """``Optional[List[int]]`` as ``int[]?``."""
    if kind.startswith("Optional["):
        return notation(kind[len("Optional[") : -1]) + "?"
    if kind.startswith("List["):
        return LIST[kind[len("List[") : -1]]
    return KINDS.get(kind, kind)


def own_parameter(parameter: Parameter) -> tuple[str, str, bool, bool, Any]:
    kind = parameter.kind.text
    size = kind.partition("[")[2].partition("]")[0]
    default = parameter.default
    if size:  # torch spells the number that stands for a list out
        kind = kind.replace(size, "", 1)
        default = (default,) * int(size) if isinstance(default, int) else default
    return parameter.name, kind, parameter.keyword, parameter.required, default


@pytest.mark.parametrize("row", ATEN, ids=lambda row: row.name)
def test_a_signature_is_torchs(row: OpRow) -> None:
    assert row.schema is not None
    mine = [own_parameter(p) for p in row.schema.parameters]
    theirs = torch_parameters(row.name)
    assert mine == theirs
    assert [type(p[4]) for p in mine] == [type(p[4]) for p in theirs]
    returns = overload(row.name)._schema.returns
    assert row.schema.results == len(returns)
    assert all(str(r.type) == "Tensor" for r in returns)


@pytest.mark.parametrize("row", OPSET.values(), ids=lambda row: row.name)
def test_a_row_is_whole(row: OpRow) -> None:
    assert row.schema is not None
    assert row.dtype is not None
    assert row.shape is not None
    names = {p.name for p in row.schema.parameters}
    assert {*row.operands, *row.lift} <= names
    assert {part for i in row.index for part in (i.argument, i.of)} <= names


def test_no_overload_has_two_rows() -> None:
    assert len(OPSET) == sum(map(len, FAMILIES.values()))


def registered() -> Iterator[Any]:
    """Every overload of ATen."""
    for name in torch._C._dispatch_get_all_op_names():
        namespace, _, rest = name.partition("::")
        base, _, variant = rest.partition(".")
        if namespace == "aten":
            yield getattr(getattr(torch.ops.aten, base), variant or "default", None)


def test_core_operators_have_rows() -> None:
    core = {str(op) for op in registered() if op is not None and torch.Tag.core in op.tags}
    assert len(core) > 160
    assert core - set(OPSET) == set(NEVER)


@pytest.mark.parametrize(
    ("kind", "takes", "refuses"),
    [
        ("Tensor", [Value(0, TensorSpec((2,), DType.int8))], [None, 1.0, ()]),
        ("Tensor?", [None, Value(0, TensorSpec((2,), DType.int8))], [0, "x"]),
        ("Tensor[]", [(), (Value(0, TensorSpec((), DType.bool)),)], [None, (None,),
        (1,), Value(0, TensorSpec((), DType.bool))]),
        ("Tensor?[]", [(None, Value(0, TensorSpec((), DType.bool)))], [None, (1,)]),
        ("Scalar", [1, True, 1.5, 2j, Value(0, TensorSpec((), DType.bool))],
        [None, "1", Value(0, TensorSpec((1,), DType.bool))]),
        ("Scalar?", [None, 1], ["1"]),
        ("Index[]", [(1, Value(0, TensorSpec((), DType.int64)))], [(1.5,), (Value(0, TensorSpec((1,), DType.int64)),)]),
        ("int", [3, -1], [1.0, None, (1,)]),
        ("float", [1, 1.5], [1j, None]),
        ("bool", [True], [1.0, None]),
        ("str", ["none"], [0, None]),
        ("ScalarType?", [DType.int8, None], [4, "int8"]),
        ("int[2]", [(1, 2), 3], [None, 1.0, (1.0,)]),
        ("int[]?", [(1, 2), None], [3]),
        ("bool[3]", [(True, False, True)], [("x",)]),
    ],
)  # fmt: skip
def test_kinds(kind: str, takes: list[Any], refuses: list[Any]) -> None:
    for argument in takes:
        assert kind_of(kind).takes(argument), argument
    for argument in refuses:
        assert not kind_of(kind).takes(argument), argument


@pytest.mark.parametrize("kind", ["Tensor[", "Tuple", "", "int?]"])
def test_what_is_no_kind(kind: str) -> None:
    with pytest.raises(ValueError, match="is no kind of argument"):
        kind_of(kind)


def test_reading_a_signature() -> None:
    schema = parse('x(Tensor self, int[1] dim=[], *, float p=2., str mode="a", bool b=True) -> (Tensor, Tensor)')
    assert [p.default for p in schema.parameters] == [None, (), 2.0, "a", True]
    assert [p.required for p in schema.parameters] == [True, False, False, False, False]
    assert [name for name, _ in schema.positional] == ["self", "dim"]
    assert list(schema.keywords) == ["p", "mode", "b"]
    assert schema.results == 2
    assert parse("x() -> Tensor[]").results is None
    assert parse("x(*, int a) -> Tensor").positional == ()


@pytest.mark.parametrize(
    "text", ["", "x(Tensor self)", "x -> Tensor", "x(Tensor) -> Tensor", "x(Tensor self=) -> Tensor"]
)
def test_what_is_no_signature(text: str) -> None:
    with pytest.raises(ValueError, match="is no "):
        parse(text)
