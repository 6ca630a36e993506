"""Parse tree to typed tree.

Finds what the grammar leaves open: doubled words, escapes, indentation, unknown types. What a broken line
left behind (stand-ins, see parser.py) is dropped here, but for the name of a slot, which other lines use.
Blocks nest a thousand deep, so nothing here calls itself for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from mcl.language.mtx.ast import (
    NOWHERE,
    SCALAR_TYPES,
    AnyUnknown,
    Argument,
    ClarifyNode,
    Condition,
    ConfidenceIs,
    FailureNode,
    File,
    Items,
    On,
    Position,
    PromptNode,
    Property,
    ReferenceNode,
    Resolve,
    Section,
    Setting,
    Slot,
    SlotIs,
    SlotPath,
    SlotType,
    Text,
    UnknownNode,
    VerbIs,
)
from mcl.language.mtx.source import MAX_FINDINGS, MtxFinding, nearest

if TYPE_CHECKING:
    from mcl.language.mtx.lexer import Branch, Word

STAND_IN = "\0"  # the text of a token that no file holds: the source reader takes NUL out
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}
_Block = TypeVar("_Block", PromptNode, UnknownNode, ClarifyNode)


class _Broken(Exception):  # noqa: N818  (a way out of a broken line, not an error that anyone sees)
    """The node holds a stand-in: it was reported already."""


class Builder:
    """Builds one file; `findings` fills up on the way.

    guessed: the lines that were read as something else than is written, which is told already.
    """

    def __init__(self, guessed: Collection[int] = ()) -> None:
        self.findings: list[MtxFinding] = []
        self.guessed = guessed

    def file(self, tree: Any) -> File:
        """The typed tree of a parse tree of rule `file`."""
        sections: dict[str, Section] = {}
        for child in tree.children:
            section = self._section(child)
            known = sections.get(section.name)
            if known is not None:  # a doubled section was reported; what only it declares is used elsewhere
                names = {_identity(entry) for entry in known.entries}
                more = tuple(entry for entry in section.entries if _identity(entry) not in names | {None})
                section = Section(section.name, known.entries + more, at=known.at)
            sections[section.name] = section
        return File(tuple(sections.values()), at=Position(1, 1))

    def _section(self, tree: Any) -> Section:
        head = _token(tree.children[0])
        rest = [child for child in tree.children[1:] if child.data != "none"]
        entries = self._entries(rest, 0)
        self._no_doubles(entries)
        return Section(tree.data.upper(), entries, at=_at(head))

    def _entries(self, trees: Iterable[Any], above: int) -> tuple[Any, ...]:
        """The entries of a section or block, with all that is in them; `above` as in `_inside`."""
        done: list[Any] = []
        levels: list[tuple[Iterator[Any], int, list[Any], Any]] = [(iter(trees), above, done, None)]
        while levels:
            rest, above, entries, block = levels[-1]
            tree = next(rest, None)
            if tree is None:
                levels.pop()
                if levels:
                    self._no_doubles(entries)
                    levels[-1][2].append(self._on(block.children[0], block.children[1], tuple(entries)))
                continue
            self._inside(tree, above)
            if tree.data == "on":
                levels.append((iter(tree.children[2:]), tree.children[0].column or 1, [], tree))
                continue
            try:
                entries.append(self._entry(tree))
            except _Broken:
                continue
        return tuple(done)

    def _each(self, trees: Iterable[Any], build: Callable[[Any], Any], above: int) -> Iterator[Any]:
        """Build each child that is whole."""
        for tree in trees:
            self._inside(tree, above)
            try:
                yield build(tree)
            except _Broken:
                continue

    def _inside(self, tree: Any, above: int) -> None:
        """Report what is not right of the column `above`, that of what it belongs to (0: of nothing)."""
        first = tree.children[0]  # the word that every rule of a line begins with
        if 0 < first.column <= above:
            message = f"{str(first)!r} is not deeper than what it belongs to"
            self._find(first, "INDENT", message, "indent it with blanks")

    def _entry(self, tree: Any) -> Any:
        return getattr(self, f"_{tree.data}")(tree.children)

    def _setting(self, children: Sequence[Any]) -> Setting:
        return Setting(_whole(children[0]), self._value(children), at=_at(children[0]))

    def _kind(self, children: Sequence[Any]) -> Property:
        return Property(_whole(children[0]), self._value(children), at=_at(children[0]))

    def _reference(self, children: Sequence[Any]) -> ReferenceNode:
        return ReferenceNode(_whole(children[0]), at=_at(children[0]))

    def _slot(self, children: Sequence[Any]) -> Slot:
        head, name, type_tree, *modifiers = children
        whole = _whole(name)
        values: dict[str, Any] = {}
        for key, value in self._each(modifiers, lambda tree: self._modifier(tree.children), head.column or 1):
            word = "required" if str(key) == "optional" else str(key)
            if word in values:
                self._double(key, f"{str(key)!r} is said twice, or against another word, of this slot")
            values.setdefault(word, (str(key), value))
        default, hint, most = (values.get(word, ("", None))[1] for word in ("default", "hint", "max"))
        try:
            type = self._type(type_tree)
        except _Broken:  # any type will do: the line is reported, and the slot is used elsewhere
            type = SlotType("", (), isinstance(default, Items) or most is not None, at=_at(name))
        optional = values.get("required", ("", None))[0] == "optional"
        return Slot(whole, type, optional, default, hint, most, at=_at(name))

    def _modifier(self, children: Sequence[Any]) -> tuple[Word, Any]:
        return children[0], self._value(children) if children[0].type.endswith("_KEY") else None

    def _type(self, tree: Branch) -> SlotType:
        words = [_whole(token) for token in tree.children]
        many = bool(words) and words[-1] == "[]"
        first = _token(tree.children[0])
        if first.type == "MEMBER":
            members = tuple(words[: len(words) - many])
            seen: set[str] = set()
            for token in tree.children[: len(members)]:
                if str(token) in seen:
                    self._find(_token(token), "V3", f"the enum names {str(token)!r} twice")
                seen.add(str(token))
            return SlotType("enum", members, many, at=_at(first))
        if words[0] not in SCALAR_TYPES:
            hint = nearest(words[0], [*SCALAR_TYPES, "enum"])
            self._find(
                first,
                "UNKNOWN_TYPE",
                f"there is no type {words[0]!r}",
                hint or f"types: {' '.join(SCALAR_TYPES)}",
            )
        return SlotType(words[0], (), many, at=_at(first))

    def _on(self, head: Word, condition: Any, body: tuple[Any, ...]) -> On:
        try:
            test: Condition = self._entry(condition)
        except _Broken:
            test = AnyUnknown()
        return On(test, body, at=_at(head))

    def _verb_is(self, children: Sequence[Any]) -> VerbIs:
        return VerbIs(_whole(children[1]), at=_at(children[1]))

    def _confidence_is(self, children: Sequence[Any]) -> ConfidenceIs:
        return ConfidenceIs(_whole(children[1]), _whole(children[2]), at=_at(children[0]))

    def _slot_is(self, children: Sequence[Any]) -> SlotIs:
        value = self._value(children)
        return SlotIs(_slot_name(children[0]), value, at=_at(children[0]))

    def _unknown_is(self, children: Sequence[Any]) -> AnyUnknown:
        return AnyUnknown(at=_at(children[0]))

    def _prompt(self, children: Sequence[Any]) -> PromptNode:
        return self._block(PromptNode, children, 1)

    def _unknown(self, children: Sequence[Any]) -> UnknownNode:
        return self._block(UnknownNode, children, 2)

    def _clarify(self, children: Sequence[Any]) -> ClarifyNode:
        return self._block(ClarifyNode, children, 2)

    def _block(self, node: type[_Block], children: Sequence[Any], head: int) -> _Block:
        fields = self._fields(children[head:], children[0].column or 1)
        slot: dict[str, Any] = {"slot": _slot_name(children[1])} if head == 2 else {}
        return node(**slot, **fields, at=_at(children[1] if head == 2 else children[0]))

    def _failure(self, children: Sequence[Any]) -> FailureNode:
        fields = self._fields(children[1:], children[0].column or 1)
        return FailureNode(_whole(children[0]), **fields, at=_at(children[0]))

    def _fields(self, trees: Sequence[Any], above: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in self._each(trees, lambda tree: self._modifier(tree.children), above):
            if str(key) in values:
                self._double(key, f"{str(key)!r} is said twice in this block")
                continue
            if str(key) == "options" and not isinstance(value, Items):
                self._find(key, "UNEXPECTED", "options is a list", "write options=[first second]")
                value = None
            values[str(key)] = value
        return values

    def _resolve(self, children: Sequence[Any]) -> Resolve:
        head, path, call, *arguments = children
        built = tuple(self._each(arguments, lambda tree: self._argument(tree.children), 0))
        seen: set[str] = set()
        for argument in built:
            if argument.key in seen:
                self._add(argument.at, "DUPLICATE_KEY", f"{argument.key!r} is given twice", argument.key)
            seen.add(argument.key)
        return Resolve(_slot_name(path), _whole(call).removeprefix("cortex."), built, at=_at(head))

    def _argument(self, children: Sequence[Any]) -> Argument:
        key, value = children
        if _is_token(value) and value.type == "ARGUMENT":
            path = re.fullmatch(r"slot\.([A-Za-z_][\w-]*)(\.prose)?", _whole(value))
            if path:
                return Argument(_whole(key), SlotPath(path[1], bool(path[2]), at=_at(value)), at=_at(key))
        return Argument(_whole(key), self._value(children), at=_at(key))

    def _value(self, children: Sequence[Any]) -> Any:
        """The value after `key=`: the last child, or empty text where there is none."""
        value = children[-1]
        if len(children) == 1:
            return Text("", at=Position(value.line, value.column + len(value) + 1))
        if not _is_token(value):
            return Items(tuple(self._text(item) for item in value.children[1:]), at=_at(value.children[0]))
        return self._text(value)

    def _text(self, token: Word) -> Text:
        text = _whole(token)
        if token.type != "STRING":
            return Text(text.rstrip(), at=_at(token))
        for match in _ESCAPE.finditer(text):
            if match[1] not in _ESCAPES:
                at = Position(token.line, token.column + match.start())
                hint = r"legal escapes: \" \\ \n \t; write a backslash as \\"
                self._add(at, "BAD_ESCAPE", f"there is no escape {match[0]}", match[0], hint)
        return Text(_ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), text[1:-1]), at=_at(token))

    def _no_doubles(self, entries: Sequence[Any]) -> None:
        """Report doubled keys, failures and prompts among siblings (doubled slots are check V4)."""
        seen: set[object] = set()
        for entry in entries:
            if isinstance(entry, Slot | ReferenceNode):
                continue
            name = "prompt" if isinstance(entry, PromptNode) else _identity(entry)
            if name is not None and name in seen:
                self._add(entry.at, "DUPLICATE_KEY", f"a second {name!r} here", str(name), "keep one of them")
            seen.add(name)

    def _double(self, key: Word, message: str) -> None:
        self._find(key, "DUPLICATE_KEY", message, "keep one of them")

    def _find(self, token: Word, code: str, message: str, hint: str = "") -> None:
        self._add(_at(token), code, message, str(token), hint)

    def _add(self, at: Position, code: str, message: str, text: str, hint: str = "") -> None:
        """Keep a finding, unless it follows from a guess."""
        guess = code == "DUPLICATE_KEY" and at.line in self.guessed
        if len(self.findings) < MAX_FINDINGS and not guess:
            self.findings.append(MtxFinding(*at, code, message, text, hint))


def _identity(entry: Any) -> object:
    """What tells an entry from its siblings; None where nothing does."""
    if isinstance(entry, Setting | Property):
        return entry.key
    if isinstance(entry, Slot | FailureNode):
        return entry.name
    return entry.uri if isinstance(entry, ReferenceNode) else None


def _whole(token: Any) -> str:
    """The text of a token, unless it stands in for one that is missing."""
    if str(token) == STAND_IN:
        raise _Broken
    return str(token)


def _slot_name(token: Any) -> str:
    return _whole(token).removeprefix("slot.")


def _is_token(child: Any) -> bool:
    return isinstance(child, str)


def _token(child: Any) -> Word:
    return child  # type: ignore[no-any-return]  # children are Word or Branch; the callers know which


def _at(token: Any) -> Position:
    return Position(token.line, token.column) if _is_token(token) else NOWHERE
