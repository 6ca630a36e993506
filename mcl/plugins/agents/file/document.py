"""A file of intents, read: its entries, and what is wrong with how it is written."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from executor.core.hashing import json_bytes
from ir.characters import yaml_of
from mcl.core.yaml import (
    MAX_BYTES,
    FileFlaw,
    Level,
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    is_null,
    plain_value,
    read_tree,
    shown,
    text_of,
)

# ---- Intents as a file of them says them, and what is wrong with the shape of each.

# The fields in the order that a file gives them.
FIELDS: Final = (
    "id",
    "name",
    "description",
    "status",
    "owner",
    "created_at",
    "updated_at",
    "owned_scope",
    "constraints",
    "acceptance_criteria",
    "dependencies",
    "references",
    "blocked_reason",
)
# The predicates that a criterion may be, and what each says. Of ir.frame, which takes long to import.
PREDICATES: Final[Mapping[str, tuple[str, ...]]] = {
    "delivered": ("artifact",),
    "signed_off": ("by",),
    "external": ("url", "check"),
    "attestation": ("source", "topic"),
}
_EXTENSION: Final = ("schema", "data")
_EXTENSION_NAME: Final = re.compile(r"x:[A-Za-z0-9][A-Za-z0-9._/-]{0,127}")


@dataclass(frozen=True)
class TypedCriterion:
    """A criterion that a program can look at. type: of PREDICATES, or `x:` and a name."""

    type: str
    values: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, str]:
        """As a predicate of a frame."""
        return {"type": self.type, **dict(self.values)}


Criterion: TypeAlias = str | TypedCriterion


@dataclass(frozen=True)
class IntentEntry:
    """One intent of a file, as the file says it. In a valid file every field holds what validation asks.

    label: its `id`, such as INT-001. constraints: texts; one that is a map stands as its canonical JSON text.
    acceptance_criteria: texts for a person to sign off, or typed ones. created_at, updated_at: as written
    (`rules.instant` gives them in UTC). line: where it begins; lines: of its fields, and of what is in a
    list, such as `owned_scope[0]`; neither counts when two entries are compared. What was not readable is "".

    """

    label: str
    name: str
    status: str
    created_at: str
    updated_at: str
    owned_scope: tuple[str, ...]
    description: str = ""
    owner: str = ""
    constraints: tuple[str, ...] = ()
    acceptance_criteria: tuple[Criterion, ...] = ()
    dependencies: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    blocked_reason: str = ""
    line: int = field(default=0, compare=False)
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)

    def line_of(self, name: str) -> int:
        """The line of a field (or of `field[0]`), of the entry where it has no such field."""
        return self.lines.get(name, self.line)


class IntentReader:
    """Reads one map of the file into an IntentEntry; what is wrong with its shape goes to `findings`.

    spoilt: the fields whose shape is wrong already, which no rule need speak of again.
    """

    def __init__(self, node: MapNode) -> None:
        self._line = node.line
        self._nodes: dict[str, Node] = {}
        self.findings: list[FileFlaw] = []
        self.spoilt: set[str] = set()
        self._lines: dict[str, int] = {}
        for key, value in node.pairs:
            if key.text in self._nodes:
                continue
            self._nodes[key.text] = value
            self._lines[key.text] = key.line
        self._label = ""  # for what is wrong with the id itself
        self._label = self._written("id")

    def read(self) -> IntentEntry:
        """The entry; what could not be read is empty in it."""
        entry = IntentEntry(
            label=self._label,
            name=self._text("name", needed=True),
            status=self._written("status"),
            created_at=self._written("created_at"),
            updated_at=self._written("updated_at"),
            owned_scope=self._texts("owned_scope"),
            description=self._text("description"),
            owner=self._text("owner"),
            constraints=tuple(self._constraints()),
            acceptance_criteria=tuple(self._criteria()),
            dependencies=self._texts("dependencies"),
            references=self._texts("references"),
            blocked_reason=self._text("blocked_reason"),
            line=self._line,
            lines=self._lines,
        )
        for name in self._nodes:
            if name not in FIELDS:
                self._find("UNKNOWN_FIELD", f"no field {shown(name)} is read", name, level="warning")
        return entry

    def _find(self, type: str, message: str, name: str, *, level: Level = "error") -> None:
        line = self._lines.get(name, self._line)
        self.findings.append(FileFlaw(type, message, self._label, name, line, level))

    def _spoil(self, message: str, name: str) -> None:
        self._find("INVALID_TYPE", message, name)
        self.spoilt.add(name.partition("[")[0])

    def _written(self, name: str) -> str:
        """A field with a rule of its own (id, status, times): as it is written, quoted or not."""
        node = self._nodes.get(name)
        if node is None or is_null(node):
            return ""
        if isinstance(node, ScalarNode):
            return node.text
        self._spoil(f"{name} must be a text", name)
        return ""

    def _text(self, name: str, *, needed: bool = False) -> str:
        node = self._nodes.get(name)
        if node is None or is_null(node):
            if needed:
                self._spoil(f"{name} is missing; give a text", name)
            return ""
        if not isinstance(node, ScalarNode) or node.kind != "text":
            self._spoil(f"{name} must be a text{_quotes(node)}", name)
            return ""
        if needed and not node.text.strip():
            self._spoil(f"{name} is empty; give a text", name)
        return node.text

    def _items(self, name: str) -> Iterator[tuple[str, Node]]:
        """What is in a list, each with its name; nothing where there is no list."""
        node = self._nodes.get(name)
        if node is None or is_null(node):
            return
        if not isinstance(node, ListNode):
            self._spoil(f"{name} must be a list of texts", name)
            return
        for number, item in enumerate(node.items):
            named = f"{name}[{number}]"
            self._lines[named] = item.line
            yield named, item

    def _texts(self, name: str) -> tuple[str, ...]:
        return tuple(self._item(named, item) for named, item in self._items(name))

    def _item(self, named: str, node: Node) -> str:
        """A text of a list, "" where it is none, which is told."""
        if not isinstance(node, ScalarNode) or node.kind != "text":
            self._spoil(f"{named} must be a text{_quotes(node)}", named)
            return ""
        if not node.text.strip():
            self._spoil(f"{named} is empty; give a text, or leave it out", named)
            return ""
        return node.text

    def _constraints(self) -> Iterator[str]:
        for named, item in self._items("constraints"):
            if not isinstance(item, MapNode):
                yield self._item(named, item)
                continue
            try:
                yield json_bytes(plain_value(item)).decode()
            except ValueError as error:
                self._spoil(f"{named} holds {error}", named)
                yield ""

    def _criteria(self) -> Iterator[Criterion]:
        for named, item in self._items("acceptance_criteria"):
            yield self._typed(named, item) if isinstance(item, MapNode) else self._item(named, item)

    def _typed(self, named: str, node: MapNode) -> Criterion:
        """A criterion that is a map: a predicate of a frame, with all its texts and no others."""
        texts: dict[str, str] = {}
        for key, value in node.pairs:
            if not isinstance(value, ScalarNode) or value.kind != "text" or not value.text.strip():
                self._spoil(f"{named}.{key.text} must be a text{_quotes(value)}", named)
                return ""
            texts[key.text] = value.text
        kind = texts.pop("type", "")
        asked = _EXTENSION if _EXTENSION_NAME.fullmatch(kind) else PREDICATES.get(kind)
        if asked is None:
            known = ", ".join(PREDICATES)
            self._spoil(f"{named}: type {shown(kind)} is none of {known} and no x:<name>", named)
            return ""
        if set(texts) != set(asked):
            self._spoil(f"{named}: {kind} needs exactly {' and '.join(asked)}", named)
            return ""
        return TypedCriterion(kind, tuple((name, texts[name]) for name in asked))


def _quotes(node: Node) -> str:
    """The way out for a number or the like where a text is asked for."""
    if isinstance(node, ScalarNode) and node.kind not in ("text", "null"):
        return f': write "{shown(node.text)[1:-1]}" in quotes'
    return ""


# ---- A text in double quotes, as YAML and JSON both read it.


def quoted(text: str) -> str:
    """The text in double quotes, on one line. Raises ValueError for halves of characters."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("half a character cannot be written") from error
    return yaml_of(json.dumps(text, ensure_ascii=False))


# ---- A whole file from entries: the same bytes for the same entries, and it reads as them again.

_ALWAYS: Final = ("id", "name", "status", "created_at", "updated_at")
_LISTS: Final = ("owned_scope", "constraints", "acceptance_criteria", "dependencies", "references")
_HEAD: Final = (
    "# Intents for coding agents. A person changes this file and then imports it: mcl work import\n"
)


def write_file(entries: Iterable[IntentEntry]) -> bytes:
    """The file. Raises ValueError for a text with half a character in it."""
    lines = [line for entry in entries for line in _entry(entry)]
    if not lines:
        return f"{_HEAD}active_intents: []\n".encode()
    return f"{_HEAD}active_intents:\n{''.join(lines)}".encode()


def _entry(entry: IntentEntry) -> Iterator[str]:
    start = "    - "
    for name in FIELDS:
        value = entry.label if name == "id" else getattr(entry, name)
        if name in _LISTS:
            yield f"{start}{name}:{'' if value else ' []'}\n"
            yield from (f"          - {_item(item)}\n" for item in value)
        elif value or name in _ALWAYS:
            yield f"{start}{name}: {quoted(value)}\n"
        else:
            yield f"{start}{name}: null\n"
        start = "      "


def _item(item: Criterion) -> str:
    return quoted(item) if isinstance(item, str) else _flow(item.to_json())


def _flow(texts: dict[str, str]) -> str:
    """A map between braces: also JSON."""
    return "{" + ", ".join(f"{quoted(name)}: {quoted(text)}" for name, text in texts.items()) + "}"


NAME: Final = ".orchestration/active_intents.yaml"  # where a folder keeps it
MAX_INTENTS: Final = 10_000
_ROOT: Final = ("active_intents", "metadata")
_END: Final = MAX_BYTES + 1  # a line that no file has


@dataclass(frozen=True)
class IntentFile:
    """What a file says. entries: in the order of the file. findings: of its bytes, its YAML, its shape.

    whole: whether its list of intents could be read at all. spoilt: (line of an entry, field) of what has a
    wrong shape, which no rule need speak of again.
    """

    entries: tuple[IntentEntry, ...]
    findings: tuple[FileFlaw, ...] = ()
    whole: bool = True
    spoilt: frozenset[tuple[int, str]] = frozenset()

    def entry(self, label: str) -> IntentEntry | None:
        """The first entry with this id."""
        return next((entry for entry in self.entries if entry.label == label), None)


def read_file(data: bytes, *, quick: bool = True) -> IntentFile:
    """Read a file of intents. Never raises for what is in it: that is a finding.

    quick: with libyaml, where it is there; the same is found without.
    """
    text = text_of(data)
    if isinstance(text, FileFlaw):
        return IntentFile((), (text,), whole=False)
    return document_of(*read_tree(text, quick=quick))


def document_of(root: Node | None, found: tuple[FileFlaw, ...]) -> IntentFile:
    """What a tree says, and what was found while it was read."""
    if root is None and found:
        return IntentFile((), found, whole=False)
    listed = root.get("active_intents") if isinstance(root, MapNode) else None
    if not isinstance(root, MapNode) or not isinstance(listed, ListNode):
        place = listed or root
        line = place.line if place else 1
        missing = FileFlaw(
            "MISSING_ACTIVE_INTENTS", "the file must be a map with a list `active_intents`", line=line
        )
        return IntentFile((), (*found, missing), whole=False)
    if len(listed.items) > MAX_INTENTS:
        line = listed.items[MAX_INTENTS].line
        return IntentFile(
            (), (*found, FileFlaw("FILE_TOO_LARGE", f"more than {MAX_INTENTS} intents", line=line)), False
        )
    entries: list[IntentEntry] = []
    findings: list[FileFlaw] = []
    spoilt: set[tuple[int, str]] = set()
    for number, item in enumerate(listed.items):
        if not isinstance(item, MapNode):
            named, line = f"active_intents[{number}]", item.line
            findings.append(
                FileFlaw("INVALID_TYPE", "an intent must be a map of fields", field=named, line=line)
            )
            continue
        reader = IntentReader(item)
        entries.append(entry := reader.read())
        findings.extend(reader.findings)
        spoilt.update((entry.line, name) for name in reader.spoilt)
    findings.extend(_around(root))
    placed = _placed(
        found, entries, min((key.line for key, _ in root.pairs if key.line > listed.line), default=_END)
    )
    return IntentFile(tuple(entries), (*placed, *findings), spoilt=frozenset(spoilt))


def _around(root: MapNode) -> Iterable[FileFlaw]:
    """What else stands in the file."""
    for key, value in root.pairs:
        if key.text not in _ROOT:
            message = "only `active_intents` and `metadata` are read here"
            yield FileFlaw("UNKNOWN_FIELD", message, "", key.text, key.line, "warning")
        elif key.text == "metadata" and not (isinstance(value, MapNode) or is_null(value)):
            yield FileFlaw("INVALID_TYPE", "metadata must be a map", "", "metadata", key.line)


def _placed(found: tuple[FileFlaw, ...], entries: list[IntentEntry], after: int) -> Iterable[FileFlaw]:
    """Findings of the YAML with the intent that they lie in. after: the line where the intents are over."""
    starts = [entry.line for entry in entries]
    for one in found:
        index = bisect_right(starts, one.line) - 1
        yield replace(one, intent_id=entries[index].label) if index >= 0 and one.line < after else one
