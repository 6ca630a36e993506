"""A YAML document as it stands in its text: scalars, lists and maps, each with its line, from 1."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

# The core schema of YAML 1.2: what a plain scalar is. Anything else is the text that it looks like, so
# 2024-01-15T10:30:00Z, yes and 10:30 are texts.
_NULL: Final = frozenset(("", "~", "null", "Null", "NULL"))
_BOOL: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FRACTION: Final = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_STARTS: Final = frozenset("0123456789+-.~ntfNTF")


class ScalarNode:
    """One value. plain: without quotes, so that it may be a number, true, false or null. style: how it is
    written: "" plain, a quote, | or >, * for an alias. start, end: characters of the text, from 0.
    """

    __slots__ = ("end", "line", "plain", "start", "style", "text")

    def __init__(self, text: str, plain: bool, style: str, line: int, start: int, end: int) -> None:
        self.text, self.plain, self.style = text, plain, style
        self.line, self.start, self.end = line, start, end

    @property
    def kind(self) -> str:
        """`text`, `null`, `bool`, `int` or `float`."""
        text = self.text
        if not self.plain or (text and text[0] not in _STARTS):
            return "text"
        if text in _NULL:
            return "null"
        if text in _BOOL:
            return "bool"
        if _INTEGER.fullmatch(text):
            return "int"
        return "float" if _FRACTION.fullmatch(text) else "text"


class ListNode:
    """A list."""

    __slots__ = ("items", "line")

    def __init__(self, line: int) -> None:
        self.items: list[Node] = []
        self.line = line


class MapNode:
    """A map, with its pairs in the order of the text. flow: written between braces."""

    __slots__ = ("flow", "line", "pairs")

    def __init__(self, line: int, flow: bool) -> None:
        self.pairs: list[tuple[ScalarNode, Node]] = []
        self.flow = flow
        self.line = line

    def get(self, key: str) -> Node | None:
        """The value of the first pair with this key."""
        return next((value for name, value in self.pairs if name.text == key), None)


Node: TypeAlias = ScalarNode | ListNode | MapNode


def is_null(node: Node | None) -> bool:
    """Whether there is no value, or none is meant."""
    return node is None or (isinstance(node, ScalarNode) and node.kind == "null")


def plain_value(node: Node) -> object:
    """The value as JSON has it. Raises ValueError for a number that JSON has not."""
    if isinstance(node, ListNode):
        return [plain_value(item) for item in node.items]
    if isinstance(node, MapNode):
        return {key.text: plain_value(value) for key, value in node.pairs}
    kind, text = node.kind, node.text
    if kind == "int":
        if len(text) > 20 or abs(number := int(text, 0 if text[:2] in ("0o", "0x") else 10)) > 2**53:
            raise ValueError("a number that is too large")
        return number
    if kind == "float":
        if not (abs(fraction := float(text.replace(".inf", "inf").replace(".nan", "nan"))) <= 2**53):
            raise ValueError("a number that JSON has not")
        return fraction
    return None if kind == "null" else _BOOL[text] if kind == "bool" else text
