"""Which tools fit a question in plain words: BM25 over a tool's name, description and argument names.

Pure: an index is built of what is known at the time and never changes; whoever keeps one builds another
when the stamp of the definitions changes. The library (bm25s, numpy only) scores, here is what it scores
and how its numbers become 0..1. Weights and stop words were chosen on one half of the labelled questions in
tests/mcp/retrieval and are judged by the other.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import bm25s

MAX_QUERY: Final = 2_000  # characters of a question that are looked at
_MAX_WORDS: Final = 64  # different words of a question that are looked at
_MAX_TEXT: Final = (
    8_000  # characters of a description that are indexed: a longer one may not crowd out the rest
)
_K1: Final = 1.2
_B: Final = 0.6

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# A word is a run of letters and digits; of scripts that write no spaces each character stands for itself.
_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")


@dataclass(frozen=True, slots=True)
class Entry:
    """What is searched of one tool: full name (``server:tool``), title and description, argument names."""

    name: str
    description: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Weights:
    """How often a word counts that stands in the name, the description, the argument names."""

    name: int = 2
    description: int = 1
    arguments: int = 1


@dataclass(frozen=True, slots=True)
class Found:
    """A tool that fits: its place in what was indexed, and how well (0..1)."""

    place: int
    score: float


def load() -> None:
    """Load the library, which takes a moment; else the first index does."""
    import bm25s  # noqa: F401


def entry_of(name: str, definition: Mapping[str, object]) -> Entry:
    """What is searched of a tool, of its definition as its server gave it."""
    title, said, schema = (definition.get(key) for key in ("title", "description", "inputSchema"))
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return Entry(
        name,
        " ".join(text for text in (title, said) if isinstance(text, str)),
        tuple(str(key) for key in properties) if isinstance(properties, Mapping) else (),
    )


def words(text: str) -> list[str]:
    """The words of a text as they are compared: names split at their joints, light stems, no stop words."""
    text = _CAMEL.sub(" ", unicodedata.normalize("NFKC", text))
    return [_stem(word) for word in _WORD.findall(text.casefold()) if word not in _stop_words()]


class Index:
    """Tools that can be asked for. Nothing in it changes.

    Args:
        entries: in the order in which equal scores are told.
        weights: how much each field counts.
    """

    def __init__(self, entries: Sequence[Entry], weights: Weights | None = None) -> None:
        self.entries = tuple(entries)
        weighing = weights or Weights()
        self._vocabulary: dict[str, int] = {}
        self._frequency: dict[int, int] = {}
        documents = [self._read(entry, weighing) for entry in self.entries]
        self._bm25 = _scorer(documents, self._vocabulary)

    def _read(self, entry: Entry, weights: Weights) -> list[int]:
        said = words(entry.name) * weights.name
        said += words(entry.description[:_MAX_TEXT]) * weights.description
        said += words(" ".join(entry.arguments)[:_MAX_TEXT]) * weights.arguments
        document = [self._vocabulary.setdefault(word, len(self._vocabulary)) for word in said]
        for word in set(document):
            self._frequency[word] = self._frequency.get(word, 0) + 1
        return document

    def find(
        self, query: str, limit: int = 5, *, among: Callable[[int], bool] = lambda place: True
    ) -> list[Found]:
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
        known = [self._vocabulary[word] for word in asked if word in self._vocabulary]
        if self._bm25 is None or not known or limit < 1:
            return []
        scores = self._bm25.get_scores_from_ids(known)
        most = sum(self._idf(self._vocabulary.get(word)) for word in asked)
        places = sorted(scores.nonzero()[0].tolist(), key=lambda place: (-float(scores[place]), place))
        fitting = islice((place for place in places if among(place)), limit)
        return [Found(place, round(min(1.0, float(scores[place]) / most), 4)) for place in fitting]

    def _idf(self, word: int | None) -> float:
        """What one word can add at most: the library's (Lucene's) inverse document frequency."""
        count = 0 if word is None else self._frequency[word]
        return math.log(1 + (len(self.entries) - count + 0.5) / (count + 0.5))


def _scorer(documents: list[list[int]], vocabulary: dict[str, int]) -> bm25s.BM25 | None:
    if not vocabulary:  # nothing at all, or nothing with a word in it
        return None
    import bm25s

    # Said, not left to the library: no compiler at work where numba happens to be installed.
    scorer = bm25s.BM25(k1=_K1, b=_B, method="lucene", backend="numpy")
    scorer.index((documents, vocabulary), create_empty_token=False, show_progress=False)
    return scorer


@cache
def _stop_words() -> frozenset[str]:
    """The library's short English list: the longer one, and words of asking on top, measured worse."""
    from bm25s.stopwords import STOPWORDS_EN

    return frozenset(STOPWORDS_EN)


def _stem(word: str) -> str:
    """A light English stem: plurals, -ing, -ed, a final e. What is no English word is left as it is."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= 3 and any(letter in "aeiouy" for letter in stem):
            word = stem[:-1] if stem[-1] == stem[-2] and stem[-1] not in "lsz" else stem
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word
