"""Bytes of YAML to a tree with places. Bounded, without surprise, and never an exception.

Of YAML what JSON also has. Tags are refused and so are merge keys; aliases are counted, and what they grow to
is bounded. The scanner is libyaml's where it is there, which is ten times faster, else that of PyYAML.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from mcl.core.patterns import late
from mcl.core.text import cut

# ---- A YAML document as it stands in its text: scalars, lists and maps, each with its line and column, from
# 1. start and end of a node are the parser's marks.

# The core schema of YAML 1.2: what a plain scalar is. Anything else is the text that it looks like, so
# 2024-01-15T10:30:00Z, yes and 10:30 are texts.
_NULL: Final = frozenset(("", "~", "null", "Null", "NULL"))
_BOOL: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER: Final = late(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FRACTION: Final = late(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_STARTS: Final = frozenset("0123456789+-.~ntfNTF")


class ScalarNode:
    """One value. plain: without quotes, so that it may be a number, true, false or null. style: how it is
    written: "" plain, a quote, | or >, * for an alias. start, end: characters of the text, from 0.
    """

    __slots__ = ("column", "end", "line", "plain", "start", "style", "text")

    def __init__(self, text: str, plain: bool, style: str, start: Any, end: Any) -> None:
        self.text, self.plain, self.style = text, plain, style
        self.line, self.column = start.line + 1, start.column + 1
        self.start, self.end = start.index, end.index

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

    __slots__ = ("column", "items", "line")

    def __init__(self, start: Any) -> None:
        self.items: list[Node] = []
        self.line, self.column = start.line + 1, start.column + 1


class MapNode:
    """A map, with its pairs in the order of the text. flow: written between braces."""

    __slots__ = ("column", "flow", "line", "pairs")

    def __init__(self, start: Any, flow: bool) -> None:
        self.pairs: list[tuple[ScalarNode, Node]] = []
        self.flow = flow
        self.line, self.column = start.line + 1, start.column + 1

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
        # The length first: a number of a million digits takes seconds to read.
        if len(text) > 20 or abs(number := int(text, 0 if text[:2] in ("0o", "0x") else 10)) > 2**53:
            raise ValueError("a number that is too large")
        return number
    if kind == "float":
        if not (abs(fraction := float(text.replace(".inf", "inf").replace(".nan", "nan"))) <= 2**53):
            raise ValueError("a number that JSON has not")
        return fraction
    return None if kind == "null" else _BOOL[text] if kind == "bool" else text


# ---- What is wrong, or doubtful, in a file of intents.

Level: TypeAlias = Literal["error", "warning"]
SHOWN: Final = 120  # characters of a text of the file in a message


@dataclass(frozen=True)
class FileFlaw:
    """One thing that is wrong (an error) or doubtful (a warning).

    type: a stable code, such as INVALID_STATUS. intent_id: as the file writes it, "" where there is none.
    field: such as `status`, or `owned_scope[1]` for the second of a list, "" for the whole. line: from 1, 0
    where the file has no such place. data: further values for programs. column: from 1, 0 where only the line
    is known; which column it is, is not told.
    """

    type: str
    message: str
    intent_id: str = ""
    field: str = ""
    line: int = 0
    level: Level = "error"
    data: Mapping[str, object] = dataclasses.field(default_factory=dict, hash=False)
    column: int = dataclasses.field(default=0, compare=False)

    def to_json(self) -> dict[str, object]:
        """For programs: type, message and line, with the intent and the field where there are such."""
        named = {"intent_id": self.intent_id, "field": self.field}
        told = {name: value for name, value in named.items() if value}
        return {**self.data, "type": self.type, "message": self.message, **told, "line": self.line}


@dataclass(frozen=True)
class FlawReport:
    """What became of a validation: a file is valid when it has no errors."""

    errors: tuple[FileFlaw, ...]
    warnings: tuple[FileFlaw, ...]

    @property
    def valid(self) -> bool:
        return not self.errors

    def to_json(self) -> dict[str, object]:
        """For programs: valid, errors and warnings."""
        return {
            "valid": self.valid,
            "errors": [finding.to_json() for finding in self.errors],
            "warnings": [finding.to_json() for finding in self.warnings],
        }


def report_of(findings: Iterable[FileFlaw]) -> FlawReport:
    """The findings by level, each in the order of the file."""
    ordered = sorted(findings, key=lambda one: (one.line, one.type, one.field, one.message))
    return FlawReport(
        tuple(one for one in ordered if one.level == "error"),
        tuple(one for one in ordered if one.level == "warning"),
    )


def shown(text: str) -> str:
    """A text of the file as a message quotes it: on one line, and not all of a long one."""
    return repr(cut(text, SHOWN))


# ---- The events of a YAML parser to a tree: within bounds, without recursion, and what JSON has not
# refused.

MAX_VALUES: Final = 250_000  # with what aliases stand for; a thousand intents have some 45,000
MAX_ALIASES: Final = 100
MAX_DEPTH: Final = 32  # lists and maps in one another, also those that aliases stand for

_HALF: Final = late("[\ud800-\udfff]")


class Broken(Exception):  # noqa: N818  # a signal to who reads the file, which goes no further
    """The reading ends here."""

    def __init__(self, finding: FileFlaw) -> None:
        self.finding = finding


class _Open:
    """A list or map whose end is not read yet. before: how many values were read before it. levels: how many
    lists and maps are in one another in it.
    """

    __slots__ = ("anchor", "before", "key", "levels", "node")

    def __init__(self, node: ListNode | MapNode, anchor: str | None, before: int) -> None:
        self.node, self.anchor, self.before = node, anchor, before
        self.key: ScalarNode | None = None
        self.levels = 0


class Composer:
    """Makes one tree. findings: gets what is wrong and does not end the reading. aliases: how many there may
    be; depth: how many lists and maps in one another. anchors: what was given a name.
    """

    def __init__(self, findings: list[FileFlaw], aliases: int, depth: int) -> None:
        self._findings = findings
        self._allowed, self._depth = aliases, depth
        self._opened: list[_Open] = []
        self.anchors: dict[str, tuple[Node, int, int]] = {}  # how many values each is, on how many levels
        self._root: Node | None = None
        self._values = self._aliases = self._documents = 0

    def compose(self, loader: Any) -> Node | None:
        """The one document, None where there is none. Raises Broken, and what the loader raises."""
        from yaml import events

        turns = {
            events.ScalarEvent: self._scalar,
            events.SequenceStartEvent: self._open_list,
            events.MappingStartEvent: self._open_map,
            events.SequenceEndEvent: self._close,
            events.MappingEndEvent: self._close,
            events.AliasEvent: self._alias,
            events.DocumentStartEvent: self._document,
        }
        while (kind := type(event := loader.get_event())) is not events.StreamEndEvent:
            if turn := turns.get(kind):
                turn(event)
        return self._root

    def _document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            raise _refused("a second document; a file holds one", event)

    def _scalar(self, event: Any) -> None:
        text: str = event.value
        if event.tag is not None:
            raise _refused("tags are not read here", event)
        # An escape may spell half of a surrogate pair, which no file and no database takes.
        if not text.isascii() and _HALF.search(text):
            raise _refused("half a character, as an escape", event)
        style = event.style or ""
        node = ScalarNode(text, not style, style, event.start_mark, event.end_mark)
        if event.anchor is not None:
            self.anchors[event.anchor] = node, 1, 0
        self._values += 1
        self._add(node, event)

    def _open_list(self, event: Any) -> None:
        self._open(ListNode(event.start_mark), event)

    def _open_map(self, event: Any) -> None:
        self._open(MapNode(event.start_mark, event.flow_style), event)

    def _open(self, node: ListNode | MapNode, event: Any) -> None:
        if event.tag is not None:
            raise _refused("tags are not read here", event)
        if len(self._opened) == self._depth:
            raise _refused(f"nested deeper than {self._depth}", event)
        self._opened.append(_Open(node, event.anchor, self._values))
        self._values += 1

    def _close(self, event: Any) -> None:
        closed = self._opened.pop()
        if isinstance(closed.node, MapNode):
            self._check_keys(closed.node)
        levels = closed.levels + 1
        if closed.anchor is not None:
            self.anchors[closed.anchor] = closed.node, self._values - closed.before, levels
        self._add(closed.node, event, levels)

    def _alias(self, event: Any) -> None:
        if not self._allowed:
            raise _refused("aliases are not used here", event)
        if event.anchor not in self.anchors:
            raise _refused(f"the alias {shown(event.anchor)} stands for nothing that ends before it", event)
        node, size, levels = self.anchors[event.anchor]
        # Counted as if written out: nine aliases of nine aliases, nine times over, are a few hundred bytes
        # and a billion values.
        self._aliases, self._values = self._aliases + 1, self._values + size
        if self._aliases > self._allowed or self._values > MAX_VALUES:
            message = f"more than {self._allowed} aliases, or they stand for more than {MAX_VALUES} values"
            raise _refused(message, event, "TOO_MANY_ALIASES")
        if len(self._opened) + levels > self._depth:
            raise _refused(f"nested deeper than {self._depth}, with what the alias stands for", event)
        if isinstance(node, ScalarNode):  # its place is that of the alias
            node = ScalarNode(node.text, node.plain, "*", event.start_mark, event.end_mark)
        self._add(node, event, levels)

    def _add(self, node: Node, event: Any, levels: int = 0) -> None:
        """Put a value where it belongs."""
        if self._values > MAX_VALUES:
            raise _refused(f"more than {MAX_VALUES} values", event, "FILE_TOO_LARGE")
        if not self._opened:
            self._root = node
            return
        around = self._opened[-1]
        if levels > around.levels:
            around.levels = levels
        if isinstance(around.node, ListNode):
            around.node.items.append(node)
        elif around.key is not None:
            around.node.pairs.append((around.key, node))
            around.key = None
        elif isinstance(node, ScalarNode):
            around.key = node
        else:
            raise _refused("a key must be a text", event)

    def _check_keys(self, node: MapNode) -> None:
        """Doubled keys, keys that are no texts, and merge keys."""
        seen: set[str] = set()
        for key, _ in node.pairs:
            text = key.text
            if text in seen:
                self._find("DUPLICATE_KEY", f"a second {shown(text)} in this map", key)
            seen.add(text)
            if text == "<<" and key.plain:
                self._find("YAML_PARSE_ERROR", "merge keys (<<) are not read here; write the fields out", key)
            # YAML would take `yes`, `1` and `null` for keys of other types, JSON and whoever reads the file
            # do not.
            elif key.kind != "text":
                self._find("INVALID_TYPE", f"the key {text or 'null'} is no text; write it in quotes", key)

    def _find(self, type: str, message: str, key: ScalarNode) -> None:
        self._findings.append(FileFlaw(type, message, field=key.text, line=key.line, column=key.column))


def _refused(message: str, event: Any, type: str = "YAML_PARSE_ERROR") -> Broken:
    mark = event.start_mark
    return Broken(FileFlaw(type, message, line=mark.line + 1, column=mark.column + 1))


MAX_BYTES: Final = 4 * 1024 * 1024

# What the two scanners read differently or not at all; in double quotes each can be written as an escape.
_ODD: Final = late("[^\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_BREAK: Final = late("\r\n?|\n")


def text_of(data: bytes) -> str | FileFlaw:
    """The file as text, without the mark that some editors put before it; or what is wrong with its bytes."""
    if len(data) > MAX_BYTES:
        return FileFlaw("FILE_TOO_LARGE", f"more than {MAX_BYTES} bytes; part the file")
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        return FileFlaw("YAML_PARSE_ERROR", "not UTF-8 text; save it as UTF-8", line=_line(before), column=1)
    if odd := _ODD.search(text):
        what = "a tab" if odd[0] == "\t" else f"the character U+{ord(odd[0]):04X}"
        instead = "blanks" if odd[0] == "\t" else "it as an escape in double quotes"
        message = f"{what} in the text; write {instead}"
        before = text[: odd.start()]
        column = len(_BREAK.split(before)[-1]) + 1
        return FileFlaw("YAML_PARSE_ERROR", message, line=_line(before), column=column)
    # Directives stand at the start of a line. Thousands of them keep libyaml for minutes.
    if text.startswith("%") or "\n%" in text or "\r%" in text:
        lines = _BREAK.split(text)
        line = next(number for number, one in enumerate(lines, 1) if one.startswith("%"))
        message = "a line that begins with %; directives are not read here"
        return FileFlaw("YAML_PARSE_ERROR", message, line=line)
    return text


def read_tree(
    text: str,
    *,
    quick: bool = True,
    aliases: int = MAX_ALIASES,
    depth: int = MAX_DEPTH,
    anchors: bool = True,
) -> tuple[Node | None, tuple[FileFlaw, ...]]:
    """The one document of a text, None where it is empty or cannot be read, and what is wrong with it.

    quick: with libyaml, where it is there. aliases: how many there may be. depth: how many lists and maps may
    be in one another. anchors: whether there may be any; without them nothing stands for something else.
    """
    import yaml

    findings: list[FileFlaw] = []
    try:
        loader = yaml.CSafeLoader(text) if quick and yaml.__with_libyaml__ else yaml.SafeLoader(text)
        composer = Composer(findings, aliases, depth)
        root = composer.compose(loader)
        if not anchors and composer.anchors:
            line = min(node.line for node, _, _ in composer.anchors.values())
            findings.append(FileFlaw("YAML_PARSE_ERROR", "anchors and aliases are not read here", line=line))
        return root, tuple(findings)
    except Broken as broken:
        return None, (*findings, broken.finding)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        said = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error).split("\n")[0]
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
    except (ValueError, OverflowError, RecursionError) as error:  # such as an escape above the last character
        said, line, column = str(error).split("\n")[0], 0, 0
    line = min(line, _line(text.rstrip("\r\n")))  # what is missing at the end is told at the last line
    return None, (*findings, FileFlaw("YAML_PARSE_ERROR", f"not YAML: {said}", line=line, column=column))


def written(fields: Mapping[str, object]) -> str:
    """A map as a document, in its order, each field on a line of its own."""
    import yaml

    return str(yaml.safe_dump(dict(fields), sort_keys=False, allow_unicode=True, width=1 << 20))


def _line(before: str) -> int:
    return len(_BREAK.findall(before)) + 1
