"""What strangers say of their tools, as words that can be shown and compared: data, and never more than a
few."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from ir import find_secret
from mcl.catalog.suspicion.texts import unhidden
from mcl.core.text import cut

MOST_SAID: Final = 200  # characters of a description
MOST_HINT: Final = 100  # and of what is said of an argument
_LOOKED_AT: Final = 2_000  # characters of a text; what a tool does stands at its beginning
_JOINTS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^\w]+|_+")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s")
_LABEL: Final = re.compile(r"^(?:[#*>\-\s]+|(?:description|summary)\s*:\s*)+", re.IGNORECASE)
_SECRETS: Final = re.compile(r"pass(?:word|phrase)|secret|api_?key|credential|private_?key", re.IGNORECASE)


def plain(text: str) -> str:
    """One line of what a reader sees: forms made plain, nothing that is hidden, drives or turns it."""
    seen = "".join(char for char in text[:_LOOKED_AT] if unhidden(char))
    return " ".join(unicodedata.normalize("NFKC", seen).split())


def first_sentence(text: str, most: int) -> str:
    """The first sentence of a text, at most so many characters."""
    line = plain(text)
    return cut(_SENTENCE.split(_LABEL.sub("", line) or line, maxsplit=1)[0].rstrip(" :"), most)


def words_of(name: str) -> str:
    """A name taken apart: createIssue and create_issue are "create issue"."""
    return " ".join(part.lower() for part in _JOINTS.split(plain(name)) if part)


def wants_secret(name: str) -> bool:
    """Whether an argument of this name takes a secret, which is never filled from a goal."""
    return _SECRETS.search(name) is not None or find_secret(name, "x" * 12) is not None
