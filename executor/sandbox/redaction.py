"""Secrets: taken out of text before it is stored, shown or passed on, and out of the environment."""

from __future__ import annotations

import base64
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote, quote_plus

from ir import MclError
from ir.characters import written_out
from ir.inline_secrets import without_secrets

_SECRET_NAME = re.compile(
    # The long words count at the end of another one too (PGPASSWORD), the short ones alone.
    r"(?:(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|APIKEY)S?|(?:^|_)(?:KEY|PAT|AUTH|PWD))(?:_|$)",
    re.IGNORECASE,
)
_MIN_VALUE = 8  # characters; shorter values would black out ordinary words
_MIN_LINE = 16  # characters; shorter lines of a longer value may stand anywhere
_MIN_PART = 6  # characters; a shorter piece of a value tells little, and may be a word
_CUT = "…"  # what tools put where they cut a line
_OF_THE_ENVIRONMENT = "[redacted: value of the environment]"


class Redactor:
    """Replaces secrets by ``[redacted: <kind>]``: the shapes of ``ir.KEY_SHAPES`` and named values.

    A value is also found as JSON, an address, base64 or hexadecimal digits write it, line by line where it
    has several, and where it was cut at an end of the text.

    Args:
        environment: variables; the values of those whose names speak of secrets are taken out too.
        credentials: more values, whatever they are called and look like.
    """

    def __init__(self, environment: Mapping[str, str] | None = None, credentials: Iterable[str] = ()) -> None:
        self._environment, self._credentials = environment, frozenset(credentials)
        values = self._credentials | {
            value
            for name, value in (environment or {}).items()
            # A path (SSH_AUTH_SOCK, KEY_FILE) is not the secret itself.
            if names_secret(name) and len(value) >= _MIN_VALUE and not value.startswith("/")
        }
        # The ends of a document (a key file as JSON) are those of many others.
        self._cuttable = sorted(value for value in values if len(value.splitlines()) == 1)
        self._forms = sorted({form for value in values for form in _forms(value)}, key=len, reverse=True)

    def knowing(self, credentials: Iterable[str]) -> Redactor:
        """This one, with more values that are taken out."""
        more = self._credentials.union(credentials)
        return self if more == self._credentials else Redactor(self._environment, more)

    def text(self, text: str) -> str:
        """The text without its secrets."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, _OF_THE_ENVIRONMENT)
        for value in self._cuttable:
            text = _without_parts(text, value)
        return without_secrets(text)

    def value(self, value: object) -> object:
        """The same for every text inside a JSON value, its object keys included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value


def names_secret(name: str) -> bool:
    """Does the name of a variable speak of a secret?"""
    return _SECRET_NAME.search(name) is not None


def redact_error(problem: MclError, redactor: Redactor) -> None:
    """Take secrets out of an error, wherever it may be shown or kept."""
    problem.message, problem.fix = redactor.text(problem.message), redactor.text(problem.fix)
    problem.place = redactor.text(problem.place)
    problem.data = {redactor.text(name): redactor.value(value) for name, value in problem.data.items()}
    problem.args = (f"{problem.place}: {problem.message}" if problem.place else problem.message,)
    problem.__cause__, problem.__context__ = None, None  # they quote the same, and nobody needs them


def visible(text: str) -> str:
    """Text that a terminal shows and does not obey: all in it that is not seen as what it is, is escaped."""
    return written_out(text)


def visible_value(value: object) -> object:
    """The same for every text inside a JSON value, its object keys included."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(str(name)): visible_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [visible_value(item) for item in value]
    return value


def _forms(value: str) -> Iterator[str]:
    """A value as it stands, and as others write it."""
    yield value
    yield from (line for line in _lines(value) if len(line) >= _MIN_LINE)
    yield from (json.dumps(value, ensure_ascii=ascii)[1:-1] for ascii in (True, False))
    data = value.encode("utf-8", "surrogateescape")
    yield from (quote(data, safe=""), quote(data), quote_plus(data), data.hex(), data.hex().upper())
    for before in range(3):  # base64 knows three spellings, by what stands before
        whole = base64.b64encode(bytes(before) + data).decode().rstrip("=")
        rest = (before + len(data)) % 3
        own = whole[before + (before > 0) : len(whole) - (rest > 0)]
        yield from (own, own.replace("+", "-").replace("/", "_"))


def _lines(value: str) -> Sequence[str]:
    """The lines of a value that has several, but for those that say what it is (-----BEGIN …)."""
    lines = [line.strip() for line in value.splitlines()]
    return [line for line in lines if not line.startswith("-----")] if len(lines) > 1 else []


def _without_parts(text: str, value: str) -> str:
    """The text without a beginning of the value where it was cut after it, or an end where it was before."""
    pieces = text.split(_CUT)
    for place, piece in enumerate(pieces):
        if (length := _overlap(piece[-len(value) :], value)) >= _MIN_PART:
            piece = piece[:-length] + _OF_THE_ENVIRONMENT
        if (length := _overlap(value, piece[: len(value)])) >= _MIN_PART:
            piece = _OF_THE_ENVIRONMENT + piece[length:]
        pieces[place] = piece
    return _CUT.join(pieces)


def _overlap(before: str, after: str) -> int:
    """Characters at the end of one text that are the beginning of the other."""
    begins = after[:_MIN_PART]
    place = before.find(begins) if len(begins) == _MIN_PART else -1
    while place >= 0:
        if after.startswith(before[place:]):
            return len(before) - place
        place = before.find(begins, place + 1)
    return 0


# ---- Variables that this process keeps to itself: taken out of its environment once they were read.


_taken: dict[str, str] = {}


def take_variable(name: str) -> None:
    """Take a variable out of the environment, so that no child gets it; `taken_variable` and
    `known_variables` still do.

    On Linux its value is overwritten where the kernel shows with which variables a process was started
    (/proc/PID/environ): what is unset stands there until the process ends.
    """
    _taken[name] = os.environ.pop(name, "")
    if _taken[name] and sys.platform == "linux":
        _overwrite(name.encode() + b"=")


def taken_variable(name: str) -> str:
    """The value of a variable that was taken; "" where it was not set, or not taken."""
    return _taken.get(name, "")


def known_variables() -> Mapping[str, str]:
    """The environment with what was taken out of it: the secrets that no text may tell."""
    return {**os.environ, **_taken}


def _overwrite(beginning: bytes) -> None:
    import ctypes

    try:
        fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
        shown = Path("/proc/self/environ").read_bytes()
    except OSError:  # not mounted
        return
    start, end = int(fields[47]), int(fields[48])  # env_start and env_end, fields 50 and 51 of proc(5)
    if not start or end - start != len(shown):
        return
    for entry in shown.split(b"\0"):
        if entry.startswith(beginning):
            ctypes.memset(start + len(beginning), 0, len(entry) - len(beginning))
        start += len(entry) + 1
