"""The text of a graph read back: what a person wrote or changed by hand becomes a graph again.

``docs/ir.md`` has the grammar. The text is the whole graph but for the contents of bound constants and the bounds of
symbolic sizes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TypeVar

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.errors import InvalidGraph
from lazycore_plugin_api.ir import Argument, Graph, Node, Segment, Source, Value
from lazycore_plugin_api.specs import Dim, TensorSpec

__all__ = ["from_text"]

T = TypeVar("T")

_DTYPES = {dtype.short: dtype for dtype in DType}
_NAMED: dict[str, Argument] = {"None": None, "True": True, "False": False, **_DTYPES}
_SIZE = re.compile(r"-?\w+(?:[*+-]\w+)*")
_SYMBOL = re.compile(r"%(\d+)")
_WORD = re.compile(r"[A-Za-z_][\w.-]*")
_NUMBER = re.compile(r"-?(?:inf|nan|\d+(?:\.\d*)?(?:e[+-]?\d+)?)")
_COMPLEX = re.compile(r"\([^()%\[\]'\"]*j\)|-?[\d.e+-]*(?:inf|nan|\d)j")
# The escapes that repr writes.
_ESCAPE = r"\\(?:[\\'\"abfnrtv]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
_STRING = re.compile(rf"""'(?:[^'\\]|{_ESCAPE})*'|"(?:[^"\\]|{_ESCAPE})*\"""")
_SOURCE = re.compile(r"(.+?):(\d+)(?: \(backward of (.+)\))?")
_MARKS = ("scalar", "donatable", "constant")


def from_text(text: str) -> Graph:
    """The graph whose text this is; a ``Segment`` unless its name is ``graph``. A constant becomes an ordinary input, a
    symbolic size one without bounds. Raises InvalidGraph, with line and column, where the text does not follow the
    grammar. Whether the graph is valid beyond that, ``verify`` says."""
    reader = _Lines(text.split("\n"))
    graph = reader.block()
    if reader.peek():
        raise reader.take().wrong("nothing behind the closing brace")
    return graph


class _Lines:
    """The text line by line: blocks of nodes, which nest where a composite has a body."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.line = 0

    def peek(self) -> str:
        """The next line that is not empty, or an empty one at the end."""
        while self.line < len(self.lines) and not self.lines[self.line].strip():
            self.line += 1
        return self.lines[self.line].strip() if self.line < len(self.lines) else ""

    def take(self) -> _Line:
        if not self.peek():
            raise InvalidGraph(f"text of a graph: it ends in line {len(self.lines)}, before its closing brace")
        self.line += 1
        return _Line(self.lines[self.line - 1], self.line)

    def block(self, nested: bool = False) -> Graph:
        """``name(inputs) { nodes return outputs }``."""
        values: dict[int, Value] = {}
        head = self.take()
        name = head.word("a name")
        inputs, marks = head.inputs(values)
        nodes: list[Node] = []
        while not re.match(r"return( |$)", self.peek()):
            nodes.append(self.node(values))
        tail = self.take()
        tail.expect("return")
        outputs = tuple(tail.separated(lambda: tail.value(values))) if not tail.ended() else ()
        tail.end()
        close = self.take()
        close.expect("}")
        close.end()
        if nested or name == "graph":
            return Graph(inputs, nodes, outputs)
        scalars, donatable = (frozenset(p for p, m in enumerate(marks) if mark in m) for mark in _MARKS[:2])
        return Segment(inputs, nodes, outputs, name=name, scalars=scalars, donatable=donatable)

    def node(self, values: dict[int, Value]) -> Node:
        """One line, and the body that may follow it."""
        line = self.take()
        outputs = line.separated(line.declaration)
        line.expect("=")
        op = line.word("an operator")
        args, kwargs = line.arguments(values)
        source = line.source()
        body = self.block(nested=True) if self.peek().startswith("body(") else None
        values.update((value.id, value) for value in outputs)
        return Node(op, args, kwargs, tuple(outputs), source, body)


class _Line:
    """A position in one line."""

    def __init__(self, text: str, number: int) -> None:
        self.text = text
        self.number = number
        self.at = 0
        self.skip()

    def wrong(self, wanted: str) -> InvalidGraph:
        rest = self.text[self.at : self.at + 30] or "the line's end"
        where = f"line {self.number}, column {self.at + 1}"
        return InvalidGraph(f"text of a graph, {where}: {wanted} is expected and not {rest!r}")

    def skip(self) -> None:
        while self.text.startswith(" ", self.at):
            self.at += 1

    def ended(self) -> bool:
        return self.at == len(self.text)

    def end(self) -> None:
        if not self.ended():
            raise self.wrong("the line's end")

    def accept(self, token: str) -> bool:
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        self.skip()
        return True

    def expect(self, token: str) -> None:
        if not self.accept(token):
            raise self.wrong(repr(token))

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
            self.skip()
        return found

    def word(self, wanted: str) -> str:
        found = self.match(_WORD)
        if not found:
            raise self.wrong(wanted)
        return found.group()

    def separated(self, read: Callable[[], T]) -> list[T]:
        items = [read()]
        while self.accept(","):
            items.append(read())
        return items

    def declaration(self) -> Value:
        """``%3: f32[4,n]``."""
        found = self.match(_SYMBOL)
        if not found:
            raise self.wrong("a value such as %0")
        self.expect(":")
        dtype = _DTYPES.get(self.word("a dtype"))
        if dtype is None:
            raise self.wrong(f"one of the dtypes {', '.join(_DTYPES)} before this,")
        self.expect("[")
        shape = () if self.accept("]") else tuple(self.separated(self.size))
        if shape:
            self.expect("]")
        return Value(int(found.group(1)), TensorSpec(shape, dtype))

    def size(self) -> int | Dim:
        found = self.match(_SIZE)
        if not found:
            raise self.wrong("a size")
        try:
            return int(found.group()) if found.group().isdecimal() else Dim(found.group())
        except ValueError:
            self.at = found.start()
            raise self.wrong("a size") from None

    def inputs(self, values: dict[int, Value]) -> tuple[tuple[Value, ...], list[list[str]]]:
        """``(%0: f32[4], %1: f32[] scalar) {``: the values and their marks."""
        marks: list[list[str]] = []

        def read() -> Value:
            value = self.declaration()
            marks.append([mark for mark in _MARKS if self.accept(mark)])
            return value

        self.expect("(")
        inputs = () if self.accept(")") else tuple(self.separated(read))
        if inputs:
            self.expect(")")
        self.expect("{")
        self.end()
        values.update((value.id, value) for value in inputs)
        return inputs, marks

    def arguments(self, values: dict[int, Value]) -> tuple[tuple[Argument, ...], dict[str, Argument]]:
        """``(%0, 1, alpha=2)``."""
        args: list[Argument] = []
        kwargs: dict[str, Argument] = {}

        def read() -> None:
            keyword = re.compile(r"([A-Za-z_]\w*)=").match(self.text, self.at)
            if keyword:
                self.at = keyword.end()
                kwargs[keyword.group(1)] = self.argument(values)
            elif kwargs:
                raise self.wrong("a keyword argument")
            else:
                args.append(self.argument(values))

        self.expect("(")
        if not self.accept(")"):
            self.separated(read)
            self.expect(")")
        return tuple(args), kwargs

    def argument(self, values: dict[int, Value]) -> Argument:
        if self.text.startswith("%", self.at):
            return self.value(values)
        if self.accept("["):
            items = () if self.accept("]") else tuple(self.separated(lambda: self.argument(values)))
            if items:
                self.expect("]")
            return items
        size = self.varying(values)
        return self.literal() if size is None else size

    def value(self, values: dict[int, Value]) -> Value:
        found = self.match(_SYMBOL)
        value = values.get(int(found.group(1))) if found else None
        if value is None:
            self.at = found.start() if found else self.at
            raise self.wrong("a value that is written before")
        return value

    def varying(self, values: dict[int, Value]) -> Dim | None:
        """A symbolic size: a sum of products whose symbols are in the shape of a value that is written before."""
        found = _SIZE.match(self.text, self.at)
        if not found or found.group() in _NAMED:
            return None
        try:
            size = Dim(found.group())
        except ValueError:
            return None
        sizes = (size for value in values.values() for size in value.spec.shape)
        known = {symbol for size in sizes if isinstance(size, Dim) for symbol in size.symbols}
        if not size.symbols <= known:
            return None
        self.match(_SIZE)
        return size

    def literal(self) -> Argument:
        start = self.at
        for pattern, read in _LITERALS:
            found = self.match(pattern)
            if found:
                try:
                    return read(found.group())
                except (KeyError, SyntaxError, ValueError):
                    break
        self.at = start
        raise self.wrong("a value, a literal or a list")

    def source(self) -> Source | None:
        if self.ended():
            return None
        if not self.text.startswith("#", self.at):
            raise self.wrong("'#'")
        # One space and no more: the file's name may begin with others.
        rest = self.text[self.at + 1 :].removeprefix(" ")
        source = _source(rest)
        if source is None:
            self.at = len(self.text) - len(rest)
            raise self.wrong("a line such as train.py:12")
        self.at = len(self.text)
        return source


def _number(text: str) -> int | float:
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)


# Tried in order: a complex number begins as a real one does, and `inf` and `nan` are words.
_LITERALS: tuple[tuple[re.Pattern[str], Callable[[str], Argument]], ...] = (
    (_STRING, ast.literal_eval), (_COMPLEX, complex), (_NUMBER, _number), (_WORD, _NAMED.__getitem__),
)  # fmt: skip


def _source(text: str) -> Source | None:
    found = _SOURCE.fullmatch(text)
    if not found:
        return None
    forward = _source(found.group(3)) if found.group(3) else None
    return Source(found.group(1), int(found.group(2)), forward)
