"""The maps as the three files that lie in the workspace: written, and read back.

Equal maps give equal bytes. Whoever wrote the files that are read is a stranger: all is checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Final, NoReturn

from executor.core.errors import ScopeError
from executor.core.hashing import json_bytes
from executor.sandbox.files import components
from executor.sandbox.paths import Workspace
from executor.sandbox.redaction import visible
from ir import MclError
from ir.canonical import parse_json
from mcl.core.errors import ReviewError
from mcl.plugins.review.maps.maps import FOLDER, IGNORE, MOMENT, FileSymbol, MappedFile, Maps, rules

ARCHITECTURE: Final = "architecture_map"
OWNERSHIP: Final = "ownership_map"
SYMBOLS: Final = "symbol_index"
SCHEMAS: Final[Mapping[str, str]] = {
    ARCHITECTURE: "architecture_map.v1",
    OWNERSHIP: "ownership_map.v1",
    SYMBOLS: "symbol_index.v1",
}
# They are made again from the files: they are not kept in version control, and neither is this file.
IGNORED: Final = b"# Made by `mcl review context build`.\n/.gitignore\n/architecture/\n"


def path_of(name: str) -> str:
    """Where a map lies in the workspace."""
    return f"{FOLDER}/{name}.json"


@contextmanager
def in_place() -> Iterator[None]:
    """Reading or writing the maps where they lie: a refusal says what to do about what lies there instead."""
    try:
        yield
    except ScopeError as problem:
        if problem.code != "OUT_OF_SCOPE":
            raise
        fix = "take the link away, or what else lies there; then mcl review context build"
        raise ScopeError(problem.code, problem.message, place=problem.place, fix=fix) from problem


def documents(maps: Maps) -> dict[str, bytes]:
    """The bytes of each map by its path in the workspace."""
    files = [maps.files[path] for path in sorted(maps.files)]
    left_out = {"left_out": dict(maps.left_out)}
    return {
        path_of(ARCHITECTURE): _document(
            ARCHITECTURE, maps, left_out, {one.path: _role(one) for one in files}
        ),
        path_of(OWNERSHIP): _document(
            OWNERSHIP, maps, {"history": maps.history}, {one.path: _owner(one) for one in files}
        ),
        path_of(SYMBOLS): _document(SYMBOLS, maps, {}, {one.path: _symbol_list(one) for one in files}),
    }


def _role(one: MappedFile) -> dict[str, object]:
    return {
        "role": one.role,
        "role_rule": one.rule,
        "public_symbols": list(one.public),
        "last_review_timestamp": one.reviewed or None,
        "hub_score": one.hub,
        "importers": one.importers,
    }


def _owner(one: MappedFile) -> dict[str, object]:
    return {
        "author": one.author or None,
        "change_frequency": one.changes,
        "last_modified": one.modified or None,
    }


def _symbol_list(one: MappedFile) -> dict[str, object]:
    return {
        "sha256": one.sha256,
        "size": one.size,
        "lines": one.lines,
        "language": one.language,
        "read": one.read,
        "symbols": [asdict(symbol) for symbol in one.symbols],
    }


def _document(name: str, maps: Maps, more: Mapping[str, object], files: Mapping[str, Any]) -> bytes:
    """JSON with a line for each file, so that two versions are compared line by line."""
    return b"".join(_lines(name, maps, more, files))


def _lines(name: str, maps: Maps, more: Mapping[str, object], files: Mapping[str, Any]) -> Iterator[bytes]:
    head = {"schema": SCHEMAS[name], "head": maps.head or None, "tree": maps.tree, **more}
    yield b"{\n"
    for key in ("schema", "head", "tree", *more):
        yield json_bytes(key) + b": " + json_bytes(head[key]) + b",\n"
    yield b'"files": {'
    for number, (path, said) in enumerate(files.items()):
        yield (b",\n" if number else b"\n") + json_bytes(path) + b": " + json_bytes(said)
    yield b"\n}\n}\n" if files else b"}\n}\n"


# ---- Which of the maps' files would be written.


def differing(workspace: Workspace, maps: Maps) -> dict[str, bytes]:
    """The files, by path, that are not there as these maps have them, with what they are to hold. A
    .gitignore that is there stays as it is, whoever wrote it.

    Raises:
        ScopeError: what lies in their place is no plain file.
    """
    wanted = documents(maps)
    with in_place():
        found = {path: data for path, data in wanted.items() if not _same(workspace, path, data)}
        if workspace.check(IGNORE) is None:
            found[IGNORE] = IGNORED
    return dict(sorted(found.items()))


def _same(workspace: Workspace, path: str, data: bytes) -> bool:
    if workspace.check(path) is None:
        return False
    there, size = workspace.read(path, len(data))
    return size == len(data) and there == data


# ---- Reading them back.

MAX_FILES: Final = 20_000
MAX_SYMBOLS: Final = 200  # of a file
MAX_NAME: Final = 200  # characters of a name, a signature, an author
_MAX_BYTES: Final = 64 << 20  # of one map
_MAX_COUNT: Final = 1 << 53
_HISTORIES: Final = ("whole", "shallow", "cut", "none", "empty")
_HASH: Final = re.compile(r"[0-9a-f]{64}\Z")
_HEAD: Final = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_WORD: Final = re.compile(r"[a-z][a-z0-9 _-]{0,39}\Z")


def load(workspace: Workspace) -> Maps | None:
    """The maps that lie in a workspace, None where there are none.

    They may be old (`stale`), and whoever can write to the workspace can make them say anything of this form:
    text in them (names, signatures, authors) is a stranger's.

    Raises:
        ReviewError: BAD_MAPS, with the place of the first flaw; also where the three do not belong together.
        ScopeError: they may not be opened.
    """
    with in_place():
        read = {name: _read(workspace, name) for name in SCHEMAS}
    found = {name: data for name, data in read.items() if data is not None}
    if not found:
        return None
    if missing := sorted(SCHEMAS.keys() - found.keys()):
        _bad(path_of(missing[0]), "it is missing beside the others")
    parsed = {name: _parsed(name, data) for name, data in found.items()}
    first = parsed[ARCHITECTURE]
    for name, one in parsed.items():
        if (one["head"], one["tree"]) != (first["head"], first["tree"]) or one["files"].keys() != first[
            "files"
        ].keys():
            _bad(path_of(name), "it was not made together with the others")
    files = {
        path: _mapped(path, *(parsed[name]["files"][path] for name in (ARCHITECTURE, OWNERSHIP, SYMBOLS)))
        for path in first["files"]
    }
    left_out = first["left_out"]
    if not isinstance(left_out, dict) or len(left_out) > 40:
        _bad(path_of(ARCHITECTURE), "left_out is no short table")
    for why, count in left_out.items():
        _text(why, f"{ARCHITECTURE}: left_out", MAX_NAME)
        _count(count, f"{ARCHITECTURE}: left_out")
    history = parsed[OWNERSHIP]["history"]
    if history not in _HISTORIES:
        _bad(path_of(OWNERSHIP), "history is none of the words that it can be")
    return Maps(files, first["head"] or "", first["tree"], history, left_out)


def _read(workspace: Workspace, name: str) -> bytes | None:
    place = path_of(name)
    if workspace.check(place) is None:
        return None
    try:
        data, size = workspace.read(place, _MAX_BYTES + 1)
    except ScopeError as problem:
        if problem.code == "NOT_FOUND":
            return None
        raise
    if size > _MAX_BYTES:
        _bad(place, f"it is larger than {_MAX_BYTES:,} bytes")
    return data


_EXTRA: Final = {ARCHITECTURE: {"left_out"}, OWNERSHIP: {"history"}, SYMBOLS: set[str]()}


def _parsed(name: str, data: bytes) -> dict[str, Any]:
    place = path_of(name)
    try:
        value = parse_json(data, max_nesting=8)
    except MclError as problem:
        _bad(place, f"it cannot be read: {problem.message}")
    if not isinstance(value, dict) or value.get("schema") != SCHEMAS[name]:
        _bad(place, f"its schema is not {SCHEMAS[name]}")
    if value.keys() != {"schema", "head", "tree", "files", *_EXTRA[name]}:
        _bad(place, "it has other fields than this schema")
    head, tree, files = value["head"], value["tree"], value["files"]
    if not (head is None or (isinstance(head, str) and _HEAD.match(head))):
        _bad(place, "head is no commit")
    if not isinstance(tree, str) or not _HASH.match(tree):
        _bad(place, "tree is no hash")
    if not isinstance(files, dict) or len(files) > MAX_FILES:
        _bad(place, f"files is no table of at most {MAX_FILES:,} files")
    return value


def _mapped(path: str, role: Any, owner: Any, index: Any) -> MappedFile:
    at = " ".join(visible(path[:MAX_NAME]).split())
    try:
        if not path or "/".join(components(path)) != path:
            raise ReviewError("BAD_MAPS", "", place=at)
    except MclError:
        _bad(at, "this is no path of a file")
    _fields(role, _ROLE, at)
    _fields(owner, _OWNER, at)
    _fields(index, _INDEX, at)
    rule = rules().get(role["role_rule"]) if isinstance(role["role_rule"], str) else None
    if rule is None or rule.role != role["role"]:
        _bad(at, "its role and the rule that gave it do not fit together")
    if not isinstance(index["sha256"], str) or not _HASH.match(index["sha256"]):
        _bad(at, "sha256 is no hash")
    if index["read"] not in ("ast", "table", ""):
        _bad(at, "read is none of the words that it can be")
    language = index["language"]
    if language != "" and not (isinstance(language, str) and _WORD.match(language)):
        _bad(at, "language is no name of one")
    symbols = index["symbols"]
    if not isinstance(symbols, list) or len(symbols) > MAX_SYMBOLS:
        _bad(at, f"symbols is no list of at most {MAX_SYMBOLS}")
    mapped = MappedFile(
        path,
        sha256=index["sha256"],
        size=_count(index["size"], at),
        lines=_count(index["lines"], at),
        language=language,
        read=index["read"],
        symbols=tuple(_symbol(one, at) for one in symbols),
        rule=rule.id,
        role=rule.role,
        importers=_count(role["importers"], at),
        author=_text(owner["author"] or "", at, MAX_NAME),
        changes=_count(owner["change_frequency"], at),
        modified=_moment(owner["last_modified"], at),
        reviewed=_moment(role["last_review_timestamp"], at),
    )
    if role["hub_score"] != mapped.hub or role["public_symbols"] != list(mapped.public):
        _bad(at, "hub_score or public_symbols do not follow from the rest")
    return mapped


_ROLE: Final = {"role", "role_rule", "public_symbols", "last_review_timestamp", "hub_score", "importers"}
_OWNER: Final = {"author", "change_frequency", "last_modified"}
_INDEX: Final = {"sha256", "size", "lines", "language", "read", "symbols"}
_SYMBOL: Final = {"name", "kind", "line", "signature"}


def _symbol(said: Any, at: str) -> FileSymbol:
    if type(said) is not dict or said.keys() != _SYMBOL:
        _bad(at, f"a symbol has other fields than {', '.join(sorted(_SYMBOL))}")
    name, kind, line, signature = said["name"], said["kind"], said["line"], said["signature"]
    if not (
        (type(name) is str and 0 < len(name) <= MAX_NAME and name.isprintable())
        and (type(kind) is str and _WORD.match(kind))
        and (type(line) is int and 0 <= line < _MAX_COUNT)
        and (type(signature) is str and len(signature) <= MAX_NAME and signature.isprintable())
    ):
        _bad(at, "a symbol is none: name, kind, line or signature is not as they are")
    return FileSymbol(name, kind, line, signature)


def _fields(value: Any, names: set[str], at: str) -> None:
    if not isinstance(value, Mapping) or value.keys() != names:
        _bad(at, f"an entry has other fields than {', '.join(sorted(names))}")


def _count(value: Any, at: str) -> int:
    if type(value) is not int or not 0 <= value < _MAX_COUNT:
        _bad(at, "a number is none that counts")
    return int(value)


def _text(value: Any, at: str, most: int) -> str:
    if not isinstance(value, str) or len(value) > most or (value and not value.isprintable()):
        _bad(at, f"a text is longer than {most} characters or cannot be printed on one line")
    return str(value)


def _moment(value: Any, at: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or not MOMENT.match(value):
        _bad(at, "a time is not ISO 8601 in UTC")
    return str(value)


def _bad(place: str, why: str) -> NoReturn:
    raise ReviewError(
        "BAD_MAPS",
        f"the maps of this workspace cannot be used: {why}",
        place=place,
        fix="make them again: mcl review context build",
    )
