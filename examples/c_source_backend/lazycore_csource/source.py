"""From a segment to C: one fused loop nest for all outputs of a shape.

Every operator is elementwise, so that an element of an output is an expression of the inputs' elements at the same
place, broadcasting applied: along a dimension that an input does not have, or has with size 1, its stride is 0.
Intermediate values live in registers and are never stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lazycore_plugin_api import Argument, Node, Segment, Value

from lazycore_csource.operators import EXPRESSIONS, literal

__all__ = ["FUNCTION", "generate"]

FUNCTION = "run_segment"
Shape = tuple[int, ...]


def generate(segment: Segment) -> str:
    """A translation unit with ``void run_segment(const float *const *in, float *const *out)``."""
    lines = ["#include <math.h>", "#include <stddef.h>", ""]
    lines += [f"/* {line} */" for line in str(segment).replace("*/", "* /").splitlines()]
    lines += [f"void {FUNCTION}(const float *const *in, float *const *out) {{"]
    shapes = dict.fromkeys(value.spec.static_shape for value in segment.outputs)
    for shape in shapes:
        lines += [f"  {line}" for line in _loop(segment, shape)]
    return "\n".join([*lines, "}", ""])


def _loop(segment: Segment, shape: Shape) -> Iterator[str]:
    """The nest that writes all outputs of this shape."""
    outputs = [p for p, value in enumerate(segment.outputs) if value.spec.static_shape == shape]
    nodes = _needed(segment, [segment.outputs[p] for p in outputs])
    read = {value.id for node in nodes for value in node.inputs()} | {segment.outputs[p].id for p in outputs}
    for dim, size in enumerate(shape):
        yield "  " * dim + f"for (size_t i{dim} = 0; i{dim} < {size}; ++i{dim}) {{"
    pad = "  " * len(shape)
    yield pad + "{"
    for position, value in enumerate(segment.inputs):
        if value.id in read:
            place = _place(value.spec.static_shape, shape)
            yield f"{pad}  const float v{value.id} = in[{position}][{place}];"
    for node in nodes:
        yield f"{pad}  const float v{node.outputs[0].id} = {_expression(node)};"
    for position in outputs:
        yield f"{pad}  out[{position}][{_place(shape, shape)}] = v{segment.outputs[position].id};"
    yield pad + "}"
    for dim in reversed(range(len(shape))):
        yield "  " * dim + "}"


def _needed(segment: Segment, outputs: Sequence[Value]) -> list[Node]:
    """The nodes behind some outputs, in order."""
    wanted = {value.id for value in outputs}
    nodes = []
    for node in reversed(segment.nodes):
        if node.outputs[0].id in wanted:
            nodes.append(node)
            wanted |= {value.id for value in node.inputs()}
    return nodes[::-1]


def _expression(node: Node) -> str:
    # The result's dtype, an argument of factories, is float32 for all that is claimed.
    names = {name: _operand(a) for name, a in node.kwargs.items() if name != "dtype"}
    return EXPRESSIONS[node.op](*map(_operand, node.args), **names)


def _operand(argument: Argument) -> str:
    if isinstance(argument, Value):
        return f"v{argument.id}"
    assert isinstance(argument, (int, float))
    return literal(argument)


def _place(shape: Shape, loop: Shape) -> str:
    """The offset of the element that an array of ``shape`` has at the loop's indices."""
    terms = []
    stride = 1
    for back in range(1, len(shape) + 1):
        if shape[-back] != 1:
            dim = len(loop) - back
            terms.append(f"i{dim}" if stride == 1 else f"i{dim} * {stride}")
        stride *= shape[-back]
    return " + ".join(reversed(terms)) or "0"
