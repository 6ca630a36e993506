"""JSON as editors keep it, with comments and trailing commas: read, and changed at one place only.

Programs read their configuration so, and people put remarks there. Nothing of it is written anew but the one
entry.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\r\n]+|//[^\n]*|/\*.*?\*/)
      | (?P<text>"(?:[^"\\\x00-\x1f]|\\.)*")
      | (?P<mark>[{}\[\],:])
      | (?P<word>[^\s{}\[\],:"/]+)""",
    re.VERBOSE | re.DOTALL,
)


class NotJsonError(ValueError):
    """The text is no JSON, also with comments and trailing commas allowed."""


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object: where it begins, and where its value does and ends."""

    name: str
    start: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class _Object:
    """An object: where it begins and ends, and its members."""

    start: int
    end: int
    members: tuple[_Member, ...]


def read(text: str) -> Any:
    """The value of a text. Raises NotJsonError."""
    plain: list[str] = []
    for token in _tokens(text):
        if token.text in "}]" and plain and plain[-1] == ",":
            plain.pop()
        plain.append(token.text)
    try:
        return json.loads("".join(plain))
    except (ValueError, RecursionError) as problem:
        raise NotJsonError(str(problem)) from problem


def with_entry(text: str, key: str, name: str, value: object) -> str:
    """The text with ``{key: {name: value}}`` in it, and everything else as it was.

    Raises:
        NotJsonError: the text is none, or no object, or what is at `key` is no object.
    """
    before = read(text) if text.strip() else {}
    if not isinstance(before, dict) or not isinstance(before.get(key, {}), dict):
        raise NotJsonError(f"it is no object, or its {key} is none")
    changed = _changed(text, key, name, value) if text.strip() else _whole({key: {name: value}})
    wanted = {**before, key: {**before.get(key, {}), name: value}}
    if read(changed) != wanted:  # a name that is there twice, above all
        raise NotJsonError(f"it cannot be changed at one place: is {key} or {name} there twice?")
    return changed


def _changed(text: str, key: str, name: str, value: object) -> str:
    top = _object(text, 0)
    unit = _indent(text, top)
    held = next((one for one in top.members if one.name == key), None)
    if held is None:
        return _inserted(text, top, key, {name: value}, unit, 1)
    servers = _object(text, held.value)
    entry = next((one for one in servers.members if one.name == name), None)
    if entry is None:
        return _inserted(text, servers, name, value, unit, 2)
    return text[: entry.value] + _json(value, unit, 2) + text[entry.end :]


def _inserted(text: str, into: _Object, name: str, value: object, unit: str, depth: int) -> str:
    """A new first member."""
    member = f"{json.dumps(name)}: {_json(value, unit, depth)}"
    rest = text[into.start + 1 :]
    if into.members:
        between = "" if "\n" in text[into.start : into.members[0].start] else f"\n{unit * depth}"
        return f"{text[: into.start + 1]}\n{unit * depth}{member},{between}{rest}"
    empty = not text[into.start + 1 : into.end - 1].strip()
    rest = text[into.end - 1 :] if empty else rest
    return f"{text[: into.start + 1]}\n{unit * depth}{member}\n{unit * (depth - 1)}{rest}"


def _json(value: object, unit: str, depth: int) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    return f"\n{unit * depth}".join(lines)


def _whole(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _indent(text: str, top: _Object) -> str:
    """What the file indents by."""
    if not top.members:
        return "  "
    line = text[: top.members[0].start].rpartition("\n")[2]
    return line if line and not line.strip() else "  "


def _tokens(text: str, start: int = 0) -> list[_Token]:
    """What the text says from a place on, without blanks and comments."""
    found: list[_Token] = []
    place = start
    if place == 0 and text.startswith("\ufeff"):
        place = 1
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise NotJsonError(f"character {place} fits nowhere")
        if match.lastgroup != "space":
            found.append(_Token(str(match.lastgroup), match[0], match.start(), match.end()))
        place = match.end()
    return found


def _object(text: str, start: int) -> _Object:
    """The object that begins at a place; the text is known to be sound."""
    tokens = _tokens(text, start)
    members: list[_Member] = []
    place = 1
    while tokens[place].text != "}":
        if tokens[place].text == ",":
            place += 1
            continue
        key, first = tokens[place], place + 2
        last = _last(tokens, first)
        members.append(_Member(json.loads(key.text), key.start, tokens[first].start, tokens[last].end))
        place = last + 1
    return _Object(tokens[0].start, tokens[place].end, tuple(members))


def _last(tokens: list[_Token], first: int) -> int:
    """The last token of the value that begins with this one."""
    depth = 0
    for place in range(first, len(tokens)):
        if tokens[place].kind == "mark":
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(tokens[place].text, 0)
        if depth == 0:
            return place
    raise NotJsonError("it ends in the middle")
