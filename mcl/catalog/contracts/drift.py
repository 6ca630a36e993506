"""Where documents of tools and the tools themselves differ."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from executor.core.errors import ManifestError
from ir.results import JsonResult
from mcl.catalog.contracts.contract import (
    JSON_FILE,
    MOST,
    SAFETY_FILE,
    Contract,
    Documented,
    json_document,
    read_contracts,
    read_safety,
    safety_document,
)
from mcl.core.text import some

_AGAIN: Final = "mcl tool contracts --out {folder}"
_SHOWN: Final = 5  # names of a list that are told


@dataclass(frozen=True)
class Drift(JsonResult):
    """One thing that is said otherwise than it is. place: the document, the tool or the file."""

    code: str
    place: str
    message: str
    fix: str = ""


def folder_drift(contracts: Mapping[str, Contract], folder: Path) -> tuple[Drift, ...]:
    """As ``document_drift``, of the documents in a folder that a person named; both must be there."""
    return document_drift(contracts, _text(folder / JSON_FILE), _text(folder / SAFETY_FILE), str(folder))


def document_drift(
    contracts: Mapping[str, Contract], json_text: str | None, safety_text: str | None, folder: str = "docs"
) -> tuple[Drift, ...]:
    """Where documents differ from the tools there are.

    Documents that `mcl tool contracts` wrote are held to the contracts, to the byte. Those that another
    program wrote tell of other tools: they are held to each other alone.

    Args:
        contracts: as of ``contracts_of``. json_text, safety_text: the documents, None where one is missing.
        folder: where they lie, for messages.
    """
    found: list[Drift] = []
    told: dict[str, Documented] = {}
    for name, text, read in (
        (JSON_FILE, json_text, read_contracts),
        (SAFETY_FILE, safety_text, read_safety),
    ):
        if text is None:
            message = f"{name} is missing"
            found.append(Drift("DOCUMENT_MISSING", name, message, _AGAIN.format(folder=folder)))
            continue
        try:
            told[name] = read(text, name)
        except ManifestError as problem:
            found.append(Drift("DOCUMENT_UNREADABLE", name, problem.message, problem.fix))
    ours = any(one.ours for one in told.values())
    for name, one in told.items():
        found += _within(name, one, len(contracts) if ours else None)
        if ours:
            found += _against(name, one, contracts, folder)
    if not ours and len(told) == 2:
        found += _between(told[JSON_FILE], told[SAFETY_FILE])
    if ours and not found:
        found += _bytes(contracts, json_text, safety_text, folder)
    return tuple(found)


def _within(name: str, told: Documented, there: int | None) -> Iterator[Drift]:
    for twice in told.twice:
        yield Drift("TOOL_TWICE", name, f"{twice} is told twice", "tell it once")
    if told.count is not None and told.count != (there if there is not None else len(told.tools)):
        right = there if there is not None else len(told.tools)
        yield Drift("COUNT_DIFFERS", name, f"it counts {told.count} tools; there are {right}", "count again")


def _against(name: str, told: Documented, contracts: Mapping[str, Contract], folder: str) -> Iterator[Drift]:
    fix = _AGAIN.format(folder=folder)
    for tool in contracts:
        if tool not in told.tools:
            yield Drift("TOOL_UNDOCUMENTED", name, f"{tool} is not in it", fix)
    for tool, safety in told.tools.items():
        if tool not in contracts:
            yield Drift("TOOL_GONE", name, f"it tells of {tool}, which there is not", fix)
        elif safety != contracts[tool]["class"]:
            message = f"it says that {tool} is class {safety or 'none'}; it is {contracts[tool]['class']}"
            yield Drift("CLASS_DIFFERS", name, message, fix)
        elif told.contracts is not None and (fields := _differing(told.contracts[tool], contracts[tool])):
            message = f"it says otherwise of {tool}: {some(fields, _SHOWN)}"
            yield Drift("CONTRACT_DIFFERS", name, message, fix)


def _between(contracts: Documented, safety: Documented) -> Iterator[Drift]:
    for tool, said in contracts.tools.items():
        if tool not in safety.tools:
            yield Drift("TOOL_UNDOCUMENTED", SAFETY_FILE, f"{tool} of {JSON_FILE} is not in it", "add it")
        elif said and safety.tools[tool] and said != safety.tools[tool]:
            message = f"{tool} is class {safety.tools[tool]} in it, and {said} in {JSON_FILE}"
            yield Drift("CLASS_DIFFERS", SAFETY_FILE, message, "say the same in both")
    for tool in safety.tools:
        if tool not in contracts.tools:
            yield Drift("TOOL_UNDOCUMENTED", JSON_FILE, f"{tool} of {SAFETY_FILE} is not in it", "add it")


def _bytes(
    contracts: Mapping[str, Contract], json_text: str | None, safety_text: str | None, folder: str
) -> Iterator[Drift]:
    """What reads the same and is not: other words, another order."""
    for name, text, right in (
        (JSON_FILE, json_text, json_document(contracts)),
        (SAFETY_FILE, safety_text, safety_document(contracts)),
    ):
        if text != right:
            message = "it is not what the contracts give now"
            yield Drift("DOCUMENT_STALE", name, message, _AGAIN.format(folder=folder))


def _differing(said: Mapping[str, Any], right: Contract) -> list[str]:
    names = dict.fromkeys((*right, *said))
    return [name for name in names if name not in said or name not in right or said[name] != right[name]]


def _text(place: Path) -> str | None:
    """The beginning of a file; None where none can be read. At a pipe nobody waits."""
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            return file.read(MOST + 1).decode("utf-8", "replace")
    except OSError:
        return None
