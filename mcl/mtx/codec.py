"""Typed tree to plain JSON values: for the digest (without places) and for the cache (with them) and back."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from mcl.mtx import ast
from mcl.mtx.ast import File, Node, Position

VERSION = 2  # of this form and of the checks; part of every cache key: raise it when either changes
_KINDS: dict[str, type[Node]] = {
    kind.__name__: kind
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, Node) and kind is not Node
}
_NAMES = {
    kind: tuple(field.name for field in fields(kind) if field.name != "at")
    for kind in (*_KINDS.values(), File)
}


def named(node: Any) -> dict[str, Any]:
    """A node as `{"node": kind, field: …}`, its parts as they are. Raises KeyError for anything else."""
    return {"node": type(node).__name__} | {name: getattr(node, name) for name in _NAMES[type(node)]}


def packed(value: Any) -> Any:
    """A node as `[kind, line, column, field, …]` and a tuple as `[null, item, …]`: short and quick to
    read.
    """
    if isinstance(value, tuple):
        return [None, *(packed(item) for item in value)]
    if isinstance(value, Node | File):
        at = value.at if isinstance(value, Node) else Position(0, 0)
        return [type(value).__name__, *at, *(packed(getattr(value, name)) for name in _NAMES[type(value)])]
    return value


def unpacked(value: Any) -> Any:
    """The inverse of `packed`. Raises LookupError, TypeError or ValueError for anything else."""
    if not isinstance(value, list):
        return value
    if value[0] is None:
        return tuple(unpacked(item) for item in value[1:])
    if value[0] == "File":
        return File(unpacked(value[3]))
    kind = _KINDS[value[0]]
    values = dict(zip(_NAMES[kind], (unpacked(item) for item in value[3:]), strict=True))
    return kind(**values, at=Position(value[1], value[2]))
