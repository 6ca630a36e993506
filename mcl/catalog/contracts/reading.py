"""Reading documents of tools, also those that another program wrote: which tools they name, in which class.

Nothing in them is believed; they may be broken, or meant to mislead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from executor.core.errors import ManifestError
from mcl.catalog.contracts.documents import FORM

MOST: Final = 16 << 20  # bytes of a document that is read at all
_MOST_TOOLS: Final = 10_000
_LONGEST: Final = 200  # characters of a name
_CELL: Final = re.compile(r"(?<!\\)\|")
_NAME: Final = re.compile(r"`([A-Za-z0-9_][A-Za-z0-9_./:@-]{0,199})(?:\(\))?`")
_CLASS: Final = re.compile(r"\*{0,2}(?:[Cc]lass )?([A-Ea-e])\*{0,2}")


@dataclass(frozen=True)
class Documented:
    """What a document tells of tools.

    ours: did `mcl tool contracts` write it? tools: by name, the class ("" where none is told). count: how
    many it says there are; None where it does not say. twice: names that it tells more than once.
    contracts: of our own JSON, all that is told of each tool.
    """

    ours: bool
    tools: Mapping[str, str]
    count: int | None = None
    twice: tuple[str, ...] = ()
    contracts: Mapping[str, Mapping[str, Any]] | None = None


def read_contracts(text: str, place: str = "tool_contracts.json") -> Documented:
    """Read tool_contracts.json: a list of tools, or an object of them by name, at the top or under "tools".

    Raises:
        ManifestError: BAD_CONTRACTS.
    """
    if len(text) > MOST:
        raise _bad(place, f"it is longer than {MOST >> 20} MiB")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise _bad(place, f"no JSON: {problem}") from problem
    held = document.get("tools", document) if isinstance(document, dict) else document
    if isinstance(held, dict):
        held = [{"name": name, **one} for name, one in held.items() if isinstance(one, dict)]
    if not isinstance(held, list):
        raise _bad(place, "it tells of no tools")
    if len(held) > _MOST_TOOLS:
        raise _bad(place, f"it tells of more than {_MOST_TOOLS:,} tools")
    ours = isinstance(document, dict) and document.get("v") == FORM
    tools, twice, contracts = dict[str, str](), list[str](), dict[str, Mapping[str, Any]]()
    for number, one in enumerate(held):
        if not isinstance(one, dict) or not isinstance(one.get("name"), str) or not one["name"]:
            raise _bad(place, f"tools[{number}] has no name")
        if len(one["name"]) > _LONGEST:
            raise _bad(place, f"tools[{number}] has a name of more than {_LONGEST} characters")
        name = _with_version(one["name"], one.get("uri")) if ours else one["name"]
        said = one.get("class", one.get("safety_class", ""))
        if name in tools:
            twice.append(name)
        tools[name] = said.upper() if isinstance(said, str) else ""
        contracts[name] = one
    count = document.get("count", document.get("tool_count")) if isinstance(document, dict) else None
    known = count if type(count) is int else None
    return Documented(ours, tools, known, tuple(twice), contracts if ours else None)


def read_safety(text: str, place: str = "TOOL_SAFETY.md") -> Documented:
    """Read TOOL_SAFETY.md: rows of tables that begin with names in backticks, each of them a tool; a cell
    that is one of A to E is the class.

    Raises:
        ManifestError: BAD_CONTRACTS.
    """
    if len(text) > MOST:
        raise _bad(place, f"it is longer than {MOST >> 20} MiB")
    tools, twice = dict[str, str](), list[str]()
    for name, said in _rows(text):
        if name in tools:
            twice.append(name)
        tools[name] = said
    return Documented(text.startswith(f"<!-- {FORM}:"), tools, twice=tuple(twice))


def _rows(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if not line.lstrip().startswith("|"):
            continue
        first, *rest = [cell.strip() for cell in _CELL.split(line.strip().strip("|"))]
        classes = [found[1].upper() for cell in rest if (found := _CLASS.fullmatch(cell))]
        for name in _NAME.findall(first):
            yield name, classes[0] if classes else ""


def _with_version(name: str, uri: object) -> str:
    version = uri.rpartition("@")[2] if isinstance(uri, str) and "@" in uri else ""
    return f"{name}@{version}" if version else name


def _bad(place: str, why: str) -> ManifestError:
    return ManifestError(
        "BAD_CONTRACTS", why, place=place, fix="write it again: mcl tool contracts --out FOLDER"
    )
