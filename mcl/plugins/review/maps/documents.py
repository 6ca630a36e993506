"""The maps as the three files that lie in the workspace. Equal maps give equal bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from executor.core.errors import ScopeError
from executor.core.hashing import json_bytes
from mcl.plugins.review.maps.maps import FOLDER, MappedFile, Maps

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
        path_of(SYMBOLS): _document(SYMBOLS, maps, {}, {one.path: _symbols(one) for one in files}),
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


def _symbols(one: MappedFile) -> dict[str, object]:
    return {
        "sha256": one.sha256,
        "size": one.size,
        "lines": one.lines,
        "language": one.language,
        "read": one.read,
        "symbols": [
            {"name": symbol.name, "kind": symbol.kind, "line": symbol.line, "signature": symbol.signature}
            for symbol in one.symbols
        ],
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
