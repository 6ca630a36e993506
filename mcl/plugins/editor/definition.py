"""Where the name at a place is declared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mcl.language.mtx.ast import File
from mcl.plugins.editor.catalogue import Catalogue
from mcl.plugins.editor.document import Span
from mcl.plugins.editor.name import name_at
from mcl.plugins.editor.values import slot_named

_PLAN_NAMES = re.compile(r"\$\{slot\.(?P<slot>[A-Za-z_][\w-]*)[^{}]*\}|(?P<uri>matrix://[^\s\"'}]+)")


class Target(NamedTuple):
    """Where something is declared. path: the file, None for the same one."""

    path: Path | None
    span: Span


def define(lines: Sequence[str], file: File, catalogue: Catalogue, line: int, column: int) -> Target | None:
    """Where the slot at a place is declared, or the file of the skill that is named there."""
    name = name_at(lines, line, column)
    if name is None:
        return None
    if name.kind == "slot":
        return _slot(file, name.text, name.key or "INPUTS")
    if name.kind == "reference" and name.text.startswith("matrix://skill/"):
        offer = catalogue.skills().get(name.text)
        return Target(offer.path, Span(1, 1, 1)) if offer and offer.path else None
    return None


def define_in_plan(line: str, column: int, file: File) -> Target | None:
    """Where a place or an address in a line of plan.yaml is declared in the skill beside it."""
    for match in _PLAN_NAMES.finditer(line):
        if match.start() < column <= match.end():
            if match["slot"]:
                return _slot(file, match["slot"], "INPUTS")
            return _reference(file, match["uri"])
    for match in re.finditer(r"slot\.([A-Za-z_][\w-]*)(?=[\"']?\s*:)", line):
        if match.start() < column <= match.end():
            return _slot(file, match[1], "INPUTS")
    return None


def _slot(file: File, name: str, section: str) -> Target | None:
    slot = slot_named(file, name, section)
    return Target(None, Span(slot.at.line, slot.at.column, slot.at.column + len(name))) if slot else None


def _reference(file: File, uri: str) -> Target | None:
    for section in ("TOOLS", "SUB_SKILLS"):
        for reference in file.references(section):
            if reference.uri == uri:
                line, column = reference.at
                return Target(None, Span(line, column, column + len(uri)))
    return None
