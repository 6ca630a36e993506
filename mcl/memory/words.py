"""The words by which memories are found, and how they stand in the full-text index."""

import re
import unicodedata
from collections import Counter

from mcl.memory.memory import Memory

_WORD = re.compile(r"[^\W_]+")
_PLAIN = re.compile(r"[a-z0-9]+")
# Signs that no word holds and that FTS5's tokenizer "ascii" takes for letters, as all beyond ASCII.
_TIMES, _TAG, _TYPE = "×", "÷", "¤"
_MOST_TIMES = 9
_LONGEST = 128  # characters of a word; FTS5 cuts what is much longer


def index_words(text: str) -> list[str]:
    """The words of `text` as they are indexed and looked for: lower case, without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(c for c in plain if not unicodedata.combining(c)).casefold()
    return [word[:_LONGEST] for word in _WORD.findall(bare)]


def searched_words(memory: Memory) -> list[str]:
    """The words by which `memory` is found: its text, id and tags."""
    return index_words(" ".join((memory.text, memory.id, *memory.tags)))


def tokens(memory: Memory, words: list[str]) -> list[str]:
    """What the index holds of a memory: each word once, beside it how often where that is more than once,
    its tags and its type."""
    counts = Counter(words)
    more = [f"{word}{_TIMES}{min(count, _MOST_TIMES)}" for word, count in counts.items() if count > 1]
    return [*counts, *more, *(tag_token(tag) for tag in memory.tags), type_token(memory.type)]


def counted(words: list[str], word: str) -> int:
    """How often `word` counts among `words`."""
    return min(words.count(word), _MOST_TIMES)


def repeated_tokens(word: str) -> list[tuple[int, str]]:
    """The tokens of memories that say a word several times, each with how often."""
    return [(count, f"{word}{_TIMES}{count}") for count in range(2, _MOST_TIMES + 1)]


def type_token(type: str) -> str:
    """A type as one token."""
    return _TYPE + type.lower()


def tag_token(tag: str) -> str:
    """A tag as one token: what a tokenizer would part it at is written as its number."""
    return _TAG + "".join(c if _PLAIN.fullmatch(c) else f"{_TAG}{ord(c):x}{_TAG}" for c in tag)
