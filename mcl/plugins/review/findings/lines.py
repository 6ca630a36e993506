"""One line of a review: the head of a finding, something like one, or neither."""

import json
import re
from dataclasses import dataclass
from typing import Final, cast

from mcl.plugins.review.findings.characters import folded, visible
from mcl.plugins.review.findings.severity import Severity
from mcl.plugins.review.findings.suspicion import START, like_a_finding

MAX_FILE: Final = 1000  # characters of a path that is not quoted
MAX_LINE: Final = (
    20_000  # characters of a line that is judged; a longer one counts as something like a finding
)

_ANY: Final = "CRITICAL|RISK|ARCHITECTURE|WARNING|MISSING|SUGGESTION|NOTE"
_LABEL: Final = re.compile(
    rf"\[[\s*_`~!\\]*+({_ANY})[\s*_`~:\\]*+\](?:[*`~:\s]|_++(?=\s)|[-–—|](?=\s))*+", re.I | re.A
)
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)++"')
_LINE: Final = re.compile(
    r":([0-9]{1,9})(?:-[0-9]{1,9}|–[0-9]{1,9}|[:,][0-9]{1,9})*+(?=$|[\s`*_()\[\]<>|,.;:'\"–—-])"
)
_BETWEEN: Final = re.compile(r"[*`_)\]>'\"]*+:?\s*+(?:(?:[-–—:|.,;=]++>?|-->)(?=\s|$))?\s*+")
_PAIRS: Final = {"(": ")", "<": ">", "[": "]", "'": "'", '"': '"'}


@dataclass(frozen=True, slots=True)
class Head:
    """The first line of a finding. rest: what is said on the same line."""

    severity: Severity
    file: str
    line: int
    rest: str

    @property
    def doubtful(self) -> bool:
        """Whether what is said on the same line looks like a further finding."""
        return looks_like_a_finding(self.rest)


def head_of(line: str) -> Head | None:
    """The head of a finding that a line is, None where it is not one.

    List marks, quotes, headings, emphasis and what is not seen are passed over, the label may be in any case,
    and what follows the location is the rest. A name of a file is taken as it is where that can be read.
    """
    seen = visible(line)
    plain = folded(seen) if len(seen) <= MAX_LINE else seen
    return _head(seen) or (None if plain == seen else _head(plain))


def looks_like_a_finding(line: str) -> bool:
    """Whether a line that is no head of a finding looks like one, so that passing over it might lose one."""
    if len(line.strip()) > MAX_LINE:
        return True
    seen = visible(line)
    plain = folded(seen)
    return like_a_finding(seen) or (plain != seen and like_a_finding(plain))


def _head(line: str) -> Head | None:
    start = START.match(line)
    before = start[0] if start else ""
    label = _LABEL.match(line, len(before))
    if label is None:
        return None
    severity = cast("Severity", label[1].upper())
    named = _quoted(line, label.end()) or _named(line, label.end())
    if named is None:
        return None
    file, number, end = named
    between = _BETWEEN.match(line, end)
    rest = line[between.end() if between else end :].strip()
    return Head(severity, file, number, _closed(rest, before))


def _quoted(line: str, at: int) -> tuple[str, int, int] | None:
    """A file's name as a JSON string, the number of the line, and where both end."""
    literal = _QUOTED.match(line, at)
    place = _LINE.match(line, literal.end()) if literal else None
    if literal is None or place is None:
        return None
    try:
        name = json.loads(literal[0])
    except ValueError:
        return None
    return (name, int(place[1]), place.end()) if name else None


def _named(line: str, at: int) -> tuple[str, int, int] | None:
    """A file's name as it is, the number of the line, and where both end."""
    place = _LINE.search(line, at, at + MAX_FILE + 20)
    if place is None:
        return None
    file, end = line[at : place.start()].strip(" \t*`"), place.end()
    closing = _PAIRS.get(file[:1], "")
    if closing and line[end : end + 1] == closing and closing not in file[1:]:
        file, end = file[1:], end + 1
    if not any(map(str.isalnum, file)) or like_a_finding(file):
        return None
    return file, int(place[1]), end


def _closed(rest: str, before: str) -> str:
    """What is said on the line, without the end of emphasis that was begun before the label."""
    return rest.rstrip("*_`~ ") if set(before) & set("*_`~") else rest
