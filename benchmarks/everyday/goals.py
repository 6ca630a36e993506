"""Goals by many hands: read from TOML, and checked against the vocabulary and the folders."""

from __future__ import annotations

import fnmatch
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.everyday.folders import files_of

HERE = Path(__file__).parent
_KEYS = {"id", "goal", "language", "folder", "kind", "want", "or", "answers", "may_change"}
_REQUIRED = ("id", "goal", "language", "folder", "kind", "want")


@dataclass(frozen=True)
class Want:
    """One thing that must hold. kind: its main key; value: of that; details: the others."""

    kind: str
    value: Any
    details: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        more = "".join(f", {name}={value!r}" for name, value in self.details.items())
        return f"{self.kind}={self.value!r}{more}"


@dataclass(frozen=True)
class Goal:
    """One goal; `ways`: lists of wants, any of which makes it right, the writer's first choice first."""

    id: str
    goal: str
    language: str
    folder: str
    kind: str
    ways: tuple[tuple[Want, ...], ...]
    answers: Mapping[str, str]
    may_change: tuple[str, ...]
    writer: str


@cache
def vocabulary() -> Mapping[str, Any]:
    return tomllib.loads((HERE / "vocabulary.toml").read_text(encoding="utf-8"))


def load(path: Path) -> tuple[Goal, ...]:
    """The goals of a file that `problems` has nothing against."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(_goal(entry, data["writer"]) for entry in data["goals"])


def load_all(folder: Path) -> Iterator[Goal]:
    for path in sorted(folder.glob("*.toml")):
        yield from load(path)


def _goal(entry: Mapping[str, Any], writer: str) -> Goal:
    ways = [entry["want"], *entry.get("or", [])]
    return Goal(
        id=entry["id"],
        goal=entry["goal"],
        language=entry["language"],
        folder=entry["folder"],
        kind=entry["kind"],
        ways=tuple(tuple(_want(want) for want in way) for way in ways),
        answers=dict(entry.get("answers", {})),
        may_change=tuple(entry.get("may_change", ())),
        writer=writer,
    )


def _want(entry: Mapping[str, Any]) -> Want:
    kind = _kinds(entry)[0]
    return Want(kind, entry[kind], {key: value for key, value in entry.items() if key != kind})


def problems(path: Path) -> list[str]:
    """What is wrong with a file of goals, a line each, with the goal's id; nothing is run."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return [f"{path}: {error}"]
    found = []
    if data.get("writer") != path.stem:
        found.append(f"{path}: writer = {data.get('writer')!r}, and the file is called {path.stem}")
    goals = data.get("goals")
    if not isinstance(goals, list) or not goals:
        return [*found, f"{path}: no [[goals]]"]
    seen: set[str] = set()
    for number, entry in enumerate(goals, start=1):
        name = str(entry.get("id", f"goal {number}"))
        if name in seen:
            found.append(f"{name}: this id is there twice")
        seen.add(name)
        found += [f"{name}: {problem}" for problem in _problems_of(entry, path.stem)]
    return found


def _problems_of(entry: Mapping[str, Any], writer: str) -> Iterator[str]:
    words = vocabulary()
    yield from (f"no {key!r}" for key in _REQUIRED if key not in entry)
    yield from (f"{key!r} is not a key of a goal" for key in sorted(set(entry) - _KEYS))
    if any(key not in entry for key in _REQUIRED):
        return
    if not re.fullmatch(rf"{re.escape(writer)}-\d+", str(entry["id"])):
        yield f"an id is {writer}-NUMBER"
    if not isinstance(entry["goal"], str) or not entry["goal"].strip():
        yield "the goal has no words"
    for key, allowed in (("language", "languages"), ("folder", "folders"), ("kind", "kinds")):
        if entry[key] not in words[allowed]:
            yield f"{key} = {entry[key]!r}; one of {', '.join(words[allowed])}"
    if entry["folder"] not in words["folders"]:
        return
    paths = frozenset(_paths(entry["folder"]))
    for name, value in entry.get("answers", {}).items():
        if name not in words["topics"]:
            yield f"answers: {name!r} is not a topic; one of {', '.join(words['topics'])}"
        if not isinstance(value, str) or not value.strip():
            yield f"answers: {name} has no words"
    if not _texts(entry.get("may_change", [])):
        yield "may_change is a list of globs"
    ways = [entry["want"], *entry.get("or", [])]
    for way in ways:
        if not isinstance(way, list) or not way or not all(isinstance(want, dict) for want in way):
            yield "want is a list of tables, and or a list of such lists"
            continue
        for want in way:
            yield from _problems_of_want(want, paths)
        asked = [want["asked"] for want in way if "asked" in want]
        yield from (
            f"asked = {topic!r} and no such answer" for topic in asked if topic not in _answers(entry)
        )


def _kinds(want: Mapping[str, Any]) -> list[str]:
    """The kinds of want that some keys may be: where one kind's details hold all the others, that one."""
    kinds = {key: entry for key, entry in vocabulary()["wants"].items() if key in want}
    whole = [key for key, entry in kinds.items() if set(want) <= {key, *entry.get("details", {})}]
    return whole[:1] or list(kinds)


def _answers(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return dict(entry.get("answers", {}))


def _problems_of_want(want: Mapping[str, Any], paths: frozenset[str]) -> Iterator[str]:
    wants = vocabulary()["wants"]
    kinds = _kinds(want)
    if len(kinds) != 1:
        yield f"{dict(want)!r}: a want has one of {', '.join(wants)}"
        return
    kind = kinds[0]
    details = wants[kind].get("details", {})
    yield from (f"{kind}: no detail {key!r}" for key in sorted(set(want) - {kind} - set(details)))
    for key, shape in ((kind, wants[kind]["value"]), *details.items()):
        if key in want and not _fits(want[key], shape):
            yield f"{kind}: {key} = {want[key]!r} is not {_SHAPES[shape]}"
    if kind == "gone" and not _known(want[kind], paths):
        yield f"gone = {want[kind]!r}: nothing is there before"
    if "same_as" in want and want["same_as"] not in paths:
        yield f"same_as = {want['same_as']!r}: no such file in the folder"
    if kind == "asked" and want[kind] not in vocabulary()["topics"]:
        yield f"asked = {want[kind]!r} is not a topic"
    if kind == "needs" and want[kind] != "chat":
        yield "needs is only ever 'chat'"
    if kind == "fires":
        for text in want[kind]:
            try:
                datetime.strptime(text, "%Y-%m-%dT%H:%M")
            except ValueError:
                yield f"fires: {text!r} is not like 2026-12-04T16:00"


def _known(path: str, paths: frozenset[str]) -> bool:
    return any(fnmatch.fnmatch(there, path) or there.startswith(f"{path.rstrip('/')}/") for there in paths)


@cache
def _paths(folder: str) -> tuple[str, ...]:
    return tuple(file.path for file in files_of(folder))


_SHAPES = {
    "path": "a path below the folder, with / and without . or ..",
    "text": "a text",
    "texts": "a list of texts",
    "integer": "a whole number",
    "number": "a number",
    "flag": "true",
    "rows": "a list of lists of texts",
}


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)


def _fits(value: Any, shape: str) -> bool:
    if shape == "path":
        parts = value.rstrip("/").split("/") if isinstance(value, str) else [""]
        return all(part not in ("", ".", "..") for part in parts)
    if shape == "text":
        return isinstance(value, str)
    if shape == "texts":
        return _texts(value) and bool(value)
    if shape == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if shape == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if shape == "flag":
        return value is True
    return isinstance(value, list) and bool(value) and all(_texts(row) for row in value)


def told(found: Sequence[str], path: Path) -> str:
    """What `--check` prints of a file."""
    if found:
        return "\n".join(found)
    count = len(load(path))
    return f"{path}: {count} goal{'' if count == 1 else 's'}, nothing wrong"
