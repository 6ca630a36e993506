"""References in texts of a plan: `${node.output}`, `${node.output.to[0].field}`; `$${` is a literal `${`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ir.errors import IrError


@dataclass(frozen=True, slots=True)
class OutputRef:
    """A value in the output of another node; `path`: field names and positions, () for the whole output."""

    node_id: str
    path: tuple[str | int, ...] = ()


_OPENING: Final = re.compile(r"\$?\$\{")
_REFERENCE: Final = re.compile(
    r"\$\{(?P<node>[^\s{}$]{1,200}?)\.output(?P<path>(?:\.[A-Za-z_][A-Za-z0-9_-]*|\[(?:0|[1-9]\d{0,8})\])*)\}",
    re.ASCII,
)
_SHORT: Final = 200  # characters
_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")


def parse_references(text: str) -> tuple[str | OutputRef, ...]:
    """A text as literal pieces (`$${` turned into `${`) and references, in order; empty pieces are left out.

    Raises IrError REFERENCE_MALFORMED for a `${` that starts no reference.
    """
    if "${" not in text:
        return (text,) if text else ()
    return _short(text) if len(text) <= _SHORT else _pieces(text)


@lru_cache(maxsize=2048)  # the arguments of a node are looked at before a run, by the gate and for the call
def _short(text: str) -> tuple[str | OutputRef, ...]:
    return _pieces(text)


def _pieces(text: str) -> tuple[str | OutputRef, ...]:
    pieces: list[str | OutputRef] = []
    literal, position = "", 0
    while opening := _OPENING.search(text, position):
        literal += text[position : opening.start()]
        if opening.group() == "$${":
            literal += "${"
            position = opening.end()
            continue
        found = _REFERENCE.match(text, opening.start())
        if found is None:
            raise IrError(
                "REFERENCE_MALFORMED",
                f"{text[opening.start() : opening.start() + 40]!r} is no ${{node.output}}",
                place=f"character {opening.start()}",
                fix="write ${node.output.field}, or $${ for a literal ${",
            )
        if literal:
            pieces.append(literal)
        steps = tuple(name or int(number) for name, number in _STEP.findall(found["path"]))
        pieces.append(OutputRef(found["node"], steps))
        literal, position = "", found.end()
    literal += text[position:]
    return (*pieces, literal) if literal else tuple(pieces)
