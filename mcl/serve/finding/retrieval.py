"""Which tools fit a question in plain words: BM25 over a tool's name, description and argument names.

Pure: an index is built of what is known at the time and never changes; whoever keeps one builds another
when the stamp of the definitions changes. Weights were chosen on one half of the labelled questions in
tests/mcp/retrieval and are judged by the other.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from mcl.language.bm25 import Bm25, stems

MAX_QUERY: Final = 2_000  # characters of a question that are looked at
_MAX_WORDS: Final = 64  # different words of a question that are looked at
_MAX_TEXT: Final = (
    8_000  # characters of a description that are indexed: a longer one may not crowd out the rest
)

# Capitals before a word: HTTPGet. Of scripts that write no spaces each character is a word.
_CAPITALS: Final = re.compile(r"(?<=[A-Z])(?=[A-Z][a-z])")
_UNSPACED: Final = re.compile("([\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")
# What the stemmer leaves different of committed and commits, of queries and query.
_LEFT_OVER: Final = re.compile(r"(?<=...)(?:[iy]|(?<=([a-z]))\1)$")


@dataclass(frozen=True, slots=True)
class ToolText:
    """What is searched of one tool: full name (``server:tool``), title and description, argument names."""

    name: str
    description: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FieldWeights:
    """How often a word counts that stands in the name, the description, the argument names."""

    name: int = 2
    description: int = 1
    arguments: int = 1


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool that fits: its place in what was indexed, and how well (0..1)."""

    place: int
    score: float


def entry_of(name: str, definition: Mapping[str, object]) -> ToolText:
    """What is searched of a tool, of its definition as its server gave it."""
    title, said, schema = (definition.get(key) for key in ("title", "description", "inputSchema"))
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return ToolText(
        name,
        " ".join(text for text in (title, said) if isinstance(text, str)),
        tuple(str(key) for key in properties) if isinstance(properties, Mapping) else (),
    )


def words(text: str) -> list[str]:
    """The words of a text as they are compared: names split at their joints, light stems, no stop words."""
    text = _UNSPACED.sub(r" \1 ", _CAPITALS.sub(" ", unicodedata.normalize("NFKC", text)))
    return [_LEFT_OVER.sub("", stem) for stem in stems(text)]


class ToolIndex:
    """Tools that can be asked for. Nothing in it changes.

    Args:
        entries: in the order in which equal scores are told.
        weights: how much each field counts.
    """

    def __init__(self, entries: Sequence[ToolText], weights: FieldWeights | None = None) -> None:
        self.entries = tuple(entries)
        self._bm25 = Bm25([_counts(entry, weights or FieldWeights()) for entry in self.entries])

    def find(
        self, query: str, limit: int = 5, *, among: Callable[[int], bool] = lambda place: True
    ) -> list[Hit]:
        """The tools that fit a question best, best first; those that share no word with it are left out.

        The score is the BM25 score divided by the most that any tool could get for this question: 1 would
        be a tool that says every word of it, endlessly often; a word that no tool knows counts as missing.
        So scores of different questions can be compared, a low best score says that nothing fits well, and
        ordinary good hits lie between 0.3 and 0.8. Equal scores are told in the order of the entries.

        Args:
            query: plain words, any language. limit: at most so many. among: which places count;
            asked of the best ones, until there are enough.
        """
        asked = list(dict.fromkeys(words(query[:MAX_QUERY])))[:_MAX_WORDS]
        scores, bound = self._bm25.scores(asked), self._bm25.bound(asked)
        places = sorted(
            (place for place, score in enumerate(scores) if score), key=lambda place: (-scores[place], place)
        )
        fitting = islice((place for place in places if among(place)), max(0, limit))
        return [Hit(place, round(min(1.0, scores[place] / bound), 4)) for place in fitting]


def _counts(entry: ToolText, weights: FieldWeights) -> Counter[str]:
    said = words(entry.name) * weights.name
    said += words(entry.description[:_MAX_TEXT]) * weights.description
    said += words(" ".join(entry.arguments)[:_MAX_TEXT]) * weights.arguments
    return Counter(said)
