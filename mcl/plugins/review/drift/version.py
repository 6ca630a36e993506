"""Versions as they are written in many ways, and which of them are the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

# PEP 440 and SemVer, as far as both are used: 1.2.3, v1.2, 2.0rc1, 2.0.0-rc.1, 3.0.dev4, 1.0.post1, 1.0+local
VERSION: Final = (
    r"v?(?:\d{1,9}!)?\d{1,9}(?:\.\d{1,9}){0,5}"
    r"(?:[-_.]?(?:alpha|beta|preview|pre|rc|post|rev|dev|snapshot|final|a|b|c|r)[-_.]?\d{0,9}){0,3}"
    r"(?:\+[A-Za-z0-9.]{1,40})?"
)
_WHOLE = re.compile(VERSION, re.IGNORECASE)
_PART = re.compile(r"[a-z]+|\d+", re.IGNORECASE)
_SAME = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc", "rev": "post", "r": "post"}
_UNDER_WAY = {"dev", "snapshot"}


@dataclass(frozen=True, slots=True)
class Version:
    """A version: its numbers without zeros at the end, what follows them, and how it is written."""

    numbers: tuple[int, ...]
    rest: tuple[str, ...]
    written: str

    def same(self, other: Version) -> bool:
        """Are both the same version, however they are written?"""
        return (self.numbers, self.rest) == (other.numbers, other.rest)

    @property
    def under_way(self) -> bool:
        """Is it a version on the way to a release (``3.1.dev0``, ``1.0-SNAPSHOT``)?"""
        return bool(_UNDER_WAY & set(self.rest))


def version_of(text: str) -> Version | None:
    """The version that a text is; None where it is none."""
    text = text.strip()
    if len(text) > 100 or not _WHOLE.fullmatch(text):
        return None
    plain = text.lower().removeprefix("v").partition("+")[0].rpartition("!")[2]
    found = re.match(r"[\d.]*", plain)
    head = found[0].strip(".") if found else ""
    numbers = [int(one) for one in head.split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    rest = [_SAME.get(part, part) for part in _PART.findall(plain[len(head) :])]
    rest = [str(int(part)) if part.isdigit() else part for part in rest if part != "final"]
    return Version(tuple(numbers), tuple(rest), text)
