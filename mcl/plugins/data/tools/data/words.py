"""The words of questions about tables: which of them a lexicon knows, and when two are one word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final, TypeVar

from executor.core.tables import table_beside
from executor.core.words import unaccented

_ENDINGS: Final = (
    *("arnas", "ernas", "ornas", "arna", "erna", "orna", "ens", "ets", "ies", "ade", "ing", "ed", "es"),
    *("ar", "er", "or", "en", "et", "na", "ad", "at", "an", "n", "t", "s", "e", "a", "r", "y"),
)
Phrase = tuple[str, ...]
_One = TypeVar("_One")


def lexicon() -> Mapping[str, Any]:
    """The lexicon as it is written."""
    return table_beside(__file__, "question")


@cache
def phrases(name: str) -> Mapping[str, tuple[Phrase, ...]]:
    """The phrases of a list ("group") or of a member of a family ("figure.sum") by their first word."""
    family, _, member = name.partition(".")
    said = lexicon()[family]
    found: dict[str, list[Phrase]] = {}
    for one in str(said[member] if member else said).split("|"):
        words = tuple(one.split())
        first = f"*{words[0][:2]}" if _goes_on(words[0]) else words[0]
        found.setdefault(first, []).append(words)
    return {first: tuple(sorted(some, key=len, reverse=True)) for first, some in found.items()}


@cache
def _family(name: str) -> Mapping[str, tuple[tuple[int, str, Phrase], ...]]:
    """The phrases of a family by their first word, each with its member and that one’s rank."""
    found: dict[str, list[tuple[int, str, Phrase]]] = {}
    for rank, member in enumerate(lexicon()[name]):
        for first, some in phrases(f"{name}.{member}").items():
            found.setdefault(first, []).extend((rank, member, one) for one in some)
    return {first: tuple(some) for first, some in found.items()}


def _begun(there: Mapping[str, tuple[_One, ...]], word: str) -> tuple[_One, ...]:
    return (*there.get(word, ()), *there.get(f"*{word[:2]}", ()))


def _stands(phrase: Phrase, words: Sequence[str], at: int) -> bool:
    return len(phrase) <= len(words) - at and all(map(_fits, phrase, words[at : at + len(phrase)]))


def length_of(name: str, words: Sequence[str], at: int) -> int:
    """How many words from a place on are a phrase of a list, the longest; 0 for none."""
    return max((len(one) for one in _begun(phrases(name), words[at]) if _stands(one, words, at)), default=0)


def member_of(family: str, words: Sequence[str], at: int) -> tuple[str, int]:
    """The member of a family with the longest phrase from a place on, and its length; ("", 0) for none."""
    there = _begun(_family(family), words[at])
    found = [(len(one), -rank, member) for rank, member, one in there if _stands(one, words, at)]
    length, _, name = max(found, default=(0, 0, ""))
    return name, length


@lru_cache(maxsize=50_000)
def members_of(family: str, words: Phrase) -> frozenset[str]:
    """All members of a family that have just these words."""
    there = _begun(_family(family), words[0])
    return frozenset(member for _, member, one in there if len(one) == len(words) and _stands(one, words, 0))


_CONTENT: Final = ("named", "things")


@cache
def _single_words(*, without: tuple[str, ...] = ()) -> tuple[frozenset[str], frozenset[str]]:
    """The words of all phrases but those of some families, and those that go on as they like."""
    lists = (some for name, some in lexicon().items() if name not in without)
    families = (some if isinstance(some, Mapping) else {"": some} for some in lists)
    texts = (str(text) for some in families for text in some.values())
    words = {word for text in texts for word in text.replace("|", " ").split()}
    return frozenset(one for one in words if not _goes_on(one)), frozenset(
        one[:-1] for one in words if _goes_on(one)
    )


def is_known(word: str, *, asking: bool = False) -> bool:
    """Whether the lexicon has a word in some phrase. asking: in one that says how something is asked."""
    whole, begun = _single_words(without=_CONTENT) if asking else _single_words()
    return word in whole or any(word.startswith(one) for one in begun)


@cache
def _accented() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The words with accents, and those that go on as they like, by what they are without."""
    whole, begun = (
        {unaccented(one): one for one in sorted(some) if unaccented(one) != one} for some in _single_words()
    )
    return whole, begun


@lru_cache(maxsize=10_000)
def with_accents(word: str) -> str:
    """The word of the lexicon that is written so without its accents; else itself."""
    whole, begun = _accented()
    first = next((one for one in begun if word.startswith(one) and len(one) > 2), "")
    return whole.get(word) or (begun[first] + word[len(first) :] if first else word)


@cache
def spellings(first: str) -> tuple[str, ...]:
    """The longer words of the lexicon with this first letter."""
    whole, begun = _single_words()
    return tuple(one for one in sorted(whole | begun) if one.startswith(first) and len(one) > 3)


def _fits(said: str, word: str) -> bool:
    return said == word or (_goes_on(said) and word.startswith(said[:-1]))


def _goes_on(said: str) -> bool:
    return said != "*" and said.endswith("*")


@cache
def stems(word: str) -> frozenset[str]:
    """A word, and what is left of it without an ending."""
    left = (word[: -len(one)] for one in _ENDINGS if word.endswith(one) and len(word) - len(one) >= 3)
    return frozenset((word, *left))


@lru_cache(maxsize=100_000)
def alike(one: str, other: str) -> bool:
    """Are two words one but for their endings?"""
    return one == other or (min(len(one), len(other)) > 2 and not stems(one).isdisjoint(stems(other)))


def words_in(text: str) -> tuple[str, ...]:
    """The words of a name or a value: customer_id and CustomerId are two."""
    apart = re.sub(r"(?<=[a-zåäö])(?=[A-ZÅÄÖ])", " ", text)
    return tuple(one.casefold() for one in re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", apart))


def runs(words: Sequence[str], most: int) -> Iterator[tuple[str, ...]]:
    """Every run of at most so many words."""
    for many in range(min(most, len(words)), 0, -1):
        for first in range(len(words) - many + 1):
            yield tuple(words[first : first + many])
