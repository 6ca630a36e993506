"""Typed tree to plain JSON values: for programs (`tree_json`, `tree_text`), for the cache and back (`packed`,
`unpacked`), and for the digest of what a file means.

`on` blocks nest as deep as a file says, so nothing here calls itself for them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any, Final

from ir import canonical_bytes
from mcl.language.mtx import ast
from mcl.language.mtx.ast import SECTIONS, File, Node, On, Position, Section, Slot

VERSION = 5  # of this form and of the checks; part of every cache key: raise it when either changes
# By the names that digests are made of, which a class may not change: ClarifyNode is "Clarify" there.
_KINDS: Final[dict[str, type[Node]]] = {
    kind.__name__.removesuffix("Node"): kind
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, Node) and kind is not Node
}
_KIND: Final = {kind: name for name, kind in _KINDS.items()}
_NAMES: Final = {
    kind: tuple(field.name for field in fields(kind) if field.init and field.name != "at")
    for kind in _KINDS.values()
}


def tree_json(node: Node, *, places: bool = True) -> dict[str, Any]:
    """A tree as JSON values: `{"node": kind, "line": 12, "column": 3, field: …}`, every field present.

    Line and column count from 1, in characters. Fields stand in the order of `ast`; a tuple is a list,
    an absent part is null. places: False leaves line and column out (what the digest covers).

    A file may nest its blocks 1,000 deep, and json.dumps cannot write that: use `tree_text`.
    """
    made: dict[str, Any] = {}
    waiting: list[tuple[Any, Any, Any]] = [(made, "tree", node)]  # where the plain form of a value goes
    while waiting:
        target, key, value = waiting.pop()
        if isinstance(value, Node):
            plain: Any = {"node": _KIND[type(value)]}
            if places:
                plain |= {"line": value.at.line, "column": value.at.column}
            for name in _NAMES[type(value)]:
                plain[name] = None  # fixes the order; filled in below
                waiting.append((plain, name, getattr(value, name)))
        elif isinstance(value, tuple):
            plain = [None] * len(value)
            waiting += ((plain, index, item) for index, item in enumerate(value))
        else:
            plain = value
        target[key] = plain
    return made["tree"]  # type: ignore[no-any-return]  # the form of a Node is a dict


def tree_text(node: Node, *, places: bool = True, indent: int = 2) -> str:
    """`tree_json` as JSON text of any depth, without a newline at the end. indent: blanks a level."""
    done: list[str] = []
    levels: list[tuple[Iterator[Any], str]] = [(iter([("", tree_json(node, places=places))]), "")]
    first = True
    while levels:
        items, close = levels[-1]
        try:
            key, value = next(items)
        except StopIteration:
            levels.pop()
            if close:
                done.append(("" if first else "\n" + " " * indent * (len(levels) - 1)) + close)
            first = False
            continue
        if len(levels) > 1:
            done.append(("\n" if first else ",\n") + " " * indent * (len(levels) - 1))
        done.append(key)
        if isinstance(value, dict):
            levels.append((((json.dumps(name) + ": ", part) for name, part in value.items()), "}"))
        elif isinstance(value, list):
            levels.append((iter([("", part) for part in value]), "]"))
        else:
            done.append(json.dumps(value, ensure_ascii=False))
            first = False
            continue
        done.append("{" if isinstance(value, dict) else "[")
        first = True
    return "".join(done)


def named(node: Any) -> dict[str, Any]:
    """A node as `{"node": kind, field: …}`, its parts as they are. Raises KeyError for anything else."""
    return {"node": _KIND[type(node)]} | {name: getattr(node, name) for name in _NAMES[type(node)]}


def packed(file: File) -> list[Any]:
    """A file as `["File", line, column, section, …]`: short, quick to read, and flat.

    A node is `[kind, line, column, field, …]` and a tuple `[null, item, …]`, but what stands in the body of
    an `on` follows it in the list that it stands in, and the node has the number of those entries instead.
    """
    return ["File", *file.at, *(_packed(section) for section in file.sections)]


def unpacked(value: Any) -> File:
    """The inverse of `packed`. Raises LookupError, TypeError or ValueError for anything else."""
    kind, line, column, *sections = value
    if kind != "File":
        raise ValueError("not the form of a file")
    return File(tuple(_unpacked(section) for section in sections), at=Position(line, column))


def packed_slot(slot: Slot) -> list[Any]:
    """A slot in the short form."""
    return _packed(slot)  # type: ignore[no-any-return]  # the form of a Node is a list


def unpacked_slot(value: Any) -> Slot:
    """The inverse of `packed_slot`. Raises LookupError, TypeError or ValueError for anything else."""
    slot = _unpacked(value)
    if not isinstance(slot, Slot):
        raise TypeError("not the form of a slot")
    return slot


def _packed(value: Any) -> Any:
    if isinstance(value, Node):
        return [
            _KIND[type(value)],
            *value.at,
            *(_packed(getattr(value, name)) for name in _NAMES[type(value)]),
        ]
    if isinstance(value, tuple):
        return [None, *_preorder(value)]
    return value


def _preorder(entries: Sequence[Any]) -> Iterator[Any]:
    levels = [iter(entries)]
    while levels:
        for entry in levels[-1]:
            if isinstance(entry, On):
                yield ["On", *entry.at, _packed(entry.condition), len(entry.body)]
                levels.append(iter(entry.body))
                break
            yield _packed(entry)
        else:
            levels.pop()


def _unpacked(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    if value[0] is None:
        return _nested(value)
    kind = _KINDS[value[0]]
    values = dict(zip(_NAMES[kind], (_unpacked(item) for item in value[3:]), strict=True))
    return kind(**values, at=Position(value[1], value[2]))


def _nested(items: Sequence[Any]) -> tuple[Any, ...]:
    """The entries of a tuple, with the bodies of its `on` blocks put back into them."""
    done: list[Any] = []
    open_blocks: list[tuple[On, int, list[Any]]] = []  # the block, how many entries it takes, what is around
    for item in items[1:]:
        node = _unpacked(item)
        if isinstance(node, On):
            open_blocks.append((node, int(item[4]), done))
            done = []
        else:
            done.append(node)
        while open_blocks and len(done) == open_blocks[-1][1]:
            block, _, around = open_blocks.pop()
            around.append(On(block.condition, tuple(done), at=block.at))
            done = around
    if open_blocks:
        raise ValueError("a block has fewer entries than it says")
    return tuple(done)


# ---- The digest of a file: what it means, not how it is laid out.

# A tree holds texts, truth values and null under ASCII names, of which C code makes the RFC 8785 form as well
# as ir.canonical_bytes does (a test compares them), ten times faster: digests are made at every start.
_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":"), default=named
)


def file_digest(file: File) -> str:
    """sha256 (hex) of the RFC 8785 form of the tree: node kinds named, every field present, the order of
    declaration kept inside a section; comments, layout, the order of the sections and §HASH left out.

    The order of sections is layout: the language gives it no meaning, real files differ in it, and what a
    section says is the same wherever it stands. An absent section and an empty one differ, as do an absent
    and an empty value, and a list and a text.
    """
    order = {name: index for index, name in enumerate(SECTIONS)}
    kept = sorted(
        (section for section in file.sections if section.name != "HASH"),
        key=lambda section: order[section.name],
    )
    hashed = hashlib.sha256(b'{"node":"File","sections":[')
    for index, section in enumerate(kept):
        hashed.update(b"," if index else b"")
        for text in _canonical(section):
            hashed.update(text.encode())
    hashed.update(b"]}")
    return hashed.hexdigest()


def _canonical(section: Section) -> Iterator[str]:
    """The canonical form of a section in pieces: blocks nest deeper than an encoder goes."""
    yield '{"entries":['
    levels: list[tuple[Iterator[Any], str]] = [
        (iter(section.entries), f'],"name":{_ENCODER.encode(section.name)},"node":"Section"}}')
    ]
    comma = ""
    while levels:
        entries, close = levels[-1]
        plain: list[Any] = []
        block = None
        for entry in entries:
            if isinstance(entry, On):
                block = entry
                break
            plain.append(entry)
        if plain:  # many at once: the encoder is quick
            yield comma + _ENCODER.encode(plain)[1:-1]
            comma = ","
        if block is None:
            levels.pop()
            yield close
            comma = ","
        else:
            yield comma + '{"body":['
            levels.append(
                (iter(block.body), f'],"condition":{_ENCODER.encode(block.condition)},"node":"On"}}')
            )
            comma = ""


def value_digest(value: Any) -> str:
    """sha256 (hex) of the RFC 8785 form of plain JSON values."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()
