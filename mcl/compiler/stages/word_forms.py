"""Words that are one, whatever their ends, case and accents, or in the other language. Pure."""

from functools import cache, lru_cache
from typing import NamedTuple

from executor.core.tables import table_beside
from executor.core.words import unaccented
from mcl.language.bm25 import WORD


@lru_cache(maxsize=20_000)  # the names of a folder are looked through for every word
def folded(text: str) -> str:
    """Its words in small letters without accents."""
    return " ".join(WORD.findall(unaccented(text.casefold())))


def alike(word: str, other: str) -> bool:
    """Are two words one, but for their ends: receipt and receipts, kvitto and kvittot?"""
    shorter = min(len(word), len(other))
    begins = word[:shorter] == other[:shorter]
    compound = len(other) >= 5 and word.startswith(other)  # inköpslistan is inkop.txt
    return word == other or compound or (shorter >= 4 and begins and abs(len(word) - len(other)) <= 2)


@lru_cache(maxsize=20_000)
def stems(word: str, *, same: bool = True) -> frozenset[str]:
    """A word, and it without each of the endings that it may have; same: and other words for it."""
    shorter = {word[: -len(end)] for end in forms().endings if word.endswith(end)}
    found = {word, *(one for one in shorter if len(one) > 2)}
    found |= {f"{one}y" for one in shorter if word.endswith("ies")}
    found |= {f"{one}a" for one in shorter if word in (f"{one}or", f"{one}orna")}
    found |= {f"{one}e" for one in shorter if word == f"{one}n" and one.endswith("ar")}  # "läkarn"
    return frozenset(found.union(*(forms().others.get(one, ()) for one in found if same)))


class Forms(NamedTuple):
    """The endings of words; and by word, those that mean the same."""

    endings: tuple[str, ...]
    others: dict[str, frozenset[str]]


@cache
def forms() -> Forms:
    """Those of all languages, in word_forms.toml."""
    table = table_beside(__file__)
    groups = [frozenset(map(unaccented, said.split())) for said in table["alike"]]
    endings = [end for said in table["endings"].values() for end in said.split()]
    others: dict[str, frozenset[str]] = {}
    for group in groups:
        others |= {word: others.get(word, group) | group for word in group}
    return Forms(tuple(endings), others)
