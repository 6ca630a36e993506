"""The lines of a batch: reading one as a goal, writing one as a result. Pure, but for the stream it reads."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, TypeAlias

from ir import DocumentError
from ir.canonical import parse_json
from mcl.core.errors import InputError

MAX_LINE: Final = 2**20  # bytes; the longest goal, all of it escaped, has a tenth of that
MAX_ID: Final = 256  # characters
CACHED: Final = "cached"
_BOM: Final = b"\xef\xbb\xbf"
_PIECE: Final = 2**16

Id: TypeAlias = str | int | None


@dataclass(frozen=True)
class GoalLine:
    """One line of the input. number: from 1. data: its bytes without the line's end; of one that is longer
    than MAX_LINE only the sha256 (hex) of all of it."""

    number: int
    data: bytes
    too_long: bool = False


@dataclass(frozen=True)
class Goal:
    """What a line asks for; texts are as they were given, "" and None where nothing was."""

    id: Id
    prose: str
    skill: str = ""
    verb: str = ""
    slots: Mapping[str, str] = field(default_factory=dict)
    at: str = ""


def read_lines(stream: BinaryIO) -> Iterator[GoalLine]:
    """The lines of a stream, each with at most MAX_LINE bytes in memory; empty ones at its end count for
    nothing."""
    number, empty = 0, 0
    while piece := stream.readline(MAX_LINE + 1):
        number += 1
        if number == 1:
            piece = piece.removeprefix(_BOM)
        if len(piece) > MAX_LINE and not piece.endswith(b"\n"):
            line = GoalLine(number, _sum_to_end(piece, stream), too_long=True)
        else:
            line = GoalLine(number, piece.rstrip(b"\r\n"))
        if not line.data.strip():
            empty += 1
            continue
        yield from (GoalLine(number - back, b"") for back in range(empty, 0, -1))
        empty = 0
        yield line


def read_goal(line: GoalLine) -> Goal:
    """What a line asks for; keys that mean nothing here are left alone.

    Raises InputError LINE_EMPTY, LINE_TOO_LONG, LINE_FIELD; ir.DocumentError for what is not strict JSON.
    """
    place = f"line {line.number}"
    if line.too_long:
        why = f"the line is longer than {MAX_LINE} bytes"
        raise InputError("LINE_TOO_LONG", why, place=place, fix="give one goal a line, in few words")
    if not line.data.strip():
        raise InputError("LINE_EMPTY", "the line is empty", place=place, fix=_EXAMPLE)
    try:
        said = parse_json(line.data)
    except DocumentError as error:
        fix = error.fix or _EXAMPLE
        raise DocumentError(error.code, error.message, place=error.place, fix=fix, data=error.data) from error
    if not isinstance(said, dict):
        raise InputError("LINE_FIELD", "the line is no JSON object", place=place, fix=_EXAMPLE)
    if "id" not in said or not _is_id(said["id"]):
        why = f"id is missing, or no text of 1 to {MAX_ID} characters and no whole number"
        raise InputError("LINE_FIELD", why, place=f"{place}: id", fix=_EXAMPLE)
    if not isinstance(said.get("prose"), str):
        raise InputError("LINE_FIELD", "prose is missing or no text", place=f"{place}: prose", fix=_EXAMPLE)
    texts = {name: said.get(name) or "" for name in ("skill", "verb", "at")}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise InputError("LINE_FIELD", f"{name} is no text", place=f"{place}: {name}", fix=_EXAMPLE)
    return Goal(said["id"], said["prose"], slots=_slots(said.get("slots"), place), **texts)


def id_of(line: GoalLine) -> Id:
    """The id that a line names, also where the rest of it cannot be read; None where it names none."""
    if line.too_long:
        return None
    try:
        said = json.loads(line.data)
    except (ValueError, RecursionError):
        return None
    id = said.get("id") if isinstance(said, dict) else None
    return id if _is_id(id) else None


def fingerprint(line: GoalLine, settings: str) -> str:
    """16 hex digits that a line and the settings it is compiled with have in common with their result."""
    return hashlib.sha256(settings.encode() + b"\0" + line.data).hexdigest()[:16]


def outcome_of(result: Mapping[str, Any]) -> str:
    """The outcome of a result, with CACHED behind a blank where no model was asked."""
    return f"{result['outcome']} {CACHED}" if result.get("cached") else str(result["outcome"])


def result_bytes(result: Mapping[str, Any]) -> bytes:
    """A result as one line, its end included."""
    return json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


_EXAMPLE: Final = 'write a line as {"id": "1", "prose": "find the word invoice in notes"}'


def _sum_to_end(piece: bytes, stream: BinaryIO) -> bytes:
    """The sha256 of a line that is too long to be kept; the stream is left behind it."""
    total = hashlib.sha256(piece)
    while (more := stream.readline(_PIECE)) and not more.endswith(b"\n"):
        total.update(more)
    total.update(more)
    return total.hexdigest().encode()


def _is_id(id: object) -> bool:
    if isinstance(id, str):
        return 0 < len(id) <= MAX_ID and not any("\ud800" <= character <= "\udfff" for character in id)
    return type(id) is int and abs(id) <= 2**53


def _slots(given: object, place: str) -> dict[str, str]:
    """Slots as texts: a number as its digits, a list as its values between commas, as `--slot` takes them."""
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InputError("LINE_FIELD", "slots is no JSON object", place=f"{place}: slots", fix=_EXAMPLE)
    return {name: _slot(name, value, place) for name, value in given.items()}


def _slot(name: str, value: object, place: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, list) and all(isinstance(one, str) and "," not in one for one in value):
        return ",".join(value)
    why = f"the slot {name[:80]} is no text, number or list of texts without commas"
    raise InputError("LINE_FIELD", why, place=f"{place}: slots", fix="give it as a text")
