"""References in texts of a plan: `${node.output}`, `${node.output.to[0].field}`; `$${` is a literal `${`.

`[*]` is each entry of a list: `${search.output.matches[*].path}` is the list of their paths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ir.errors import IrError


@dataclass(frozen=True, slots=True)
class OutputRef:
    """A value in the output of another node; `path`: field names and positions, () for the whole output;
    `EACH`: each entry of a list."""

    node_id: str
    path: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        path = (f"[{step}]" if isinstance(step, int) or step == EACH else f".{step}" for step in self.path)
        return f"${{{self.node_id}.output{''.join(path)}}}"


EACH: Final = "*"  # no field is called so


_OPENING: Final = re.compile(r"\$?\$\{")
_REFERENCE: Final = re.compile(
    r"\$\{(?P<node>[^\s{}$]{1,200}?)\.output(?P<path>(?:\.[A-Za-z_][A-Za-z0-9_-]*|\[(?:0|[1-9]\d{0,8}|\*)\])*)\}",
    re.ASCII,
)
_SHORT: Final = 200  # characters
_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+|\*)\]")


def parse_references(text: str) -> tuple[str | OutputRef, ...]:
    """A text as literal pieces (`$${` turned into `${`) and references, in order; empty pieces are left out.

    Raises IrError REFERENCE_MALFORMED for a `${` that starts no reference.
    """
    if "${" not in text:
        return (text,) if text else ()
    return _short(text) if len(text) <= _SHORT else _pieces(text)


@lru_cache(maxsize=2048)  # the arguments of a node are looked at before a run, by the gate and for the call
def refers(text: str) -> bool:
    """Whether a text takes the output of another node."""
    return any(isinstance(piece, OutputRef) for piece in parse_references(text))


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
        steps = tuple(
            name or (EACH if number == EACH else int(number)) for name, number in _STEP.findall(found["path"])
        )
        pieces.append(OutputRef(found["node"], steps))
        literal, position = "", found.end()
    literal += text[position:]
    return (*pieces, literal) if literal else tuple(pieces)


def reference_alone(text: str) -> OutputRef | None:
    """The reference that a text is, and nothing else; None where it is no such text."""
    if not text.startswith("${"):
        return None
    try:
        pieces = parse_references(text)
    except IrError:
        return None
    return pieces[0] if len(pieces) == 1 and isinstance(pieces[0], OutputRef) else None


def rewritten(text: str, anew: Callable[[OutputRef], OutputRef]) -> str:
    """A text whose references are what `anew` gives for each."""
    if "${" not in text:
        return text
    try:
        pieces = parse_references(text)
    except IrError:
        return text  # the checks of the plan say what is wrong
    return "".join(
        str(anew(piece)) if isinstance(piece, OutputRef) else piece.replace("${", "$${") for piece in pieces
    )


# ---- Texts that are JSON, or hold some, with places in them for values that are not known yet.
#
# What fills such a place is written into the text, and whoever reads it as JSON takes the value's own quotes,
# commas and braces for those of the text. So no place may stand there.

_PLACE: Final = "\x00"  # stands for a place; no text of JSON holds it
# An object with a first name, and a list with a first text, object or list: no prose begins so.
_OPENS: Final = re.compile(r'\{[\s\x00]*(?:"(?:[^"\\]|\\.)*"|\x00)[\s\x00]*:|\[[\s\x00]*["\[{]', re.DOTALL)
_CLOSES: Final = {"{": "}", "[": "]"}


def place_in_json(pieces: Iterable[str | None]) -> bool:
    """Whether a place stands in JSON. pieces: of a text, in order; None for each place in it.

    JSON is an object with a name in it, a list that begins with a text, an object or a list, wherever they
    stand in the text; and a text that is a list as a whole.
    """
    text = "".join(_PLACE if piece is None else piece.replace(_PLACE, " ") for piece in pieces)
    if _PLACE not in text:
        return False
    whole = text.strip()
    if whole.startswith("[") and whole.endswith("]") and _end(whole, 0) == len(whole):
        return True
    position = 0
    while opening := _OPENS.search(text, position):
        end = _end(text, opening.start())
        if _PLACE in text[opening.start() : end]:
            return True
        position = end
    return False


def _end(text: str, start: int) -> int:
    """Where the object or list ends that begins here; the end of the text where it is not closed."""
    open_ones: list[str] = []
    quoted, position = False, start
    while position < len(text):
        char = text[position]
        position += 1
        if quoted:
            if char == "\\":
                position += 1
            quoted = char != '"'
        elif char == '"':
            quoted = True
        elif char in _CLOSES:
            open_ones.append(_CLOSES[char])
        elif open_ones and char == open_ones[-1]:
            open_ones.pop()
            if not open_ones:
                return position
    return len(text)
