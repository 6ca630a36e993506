"""Whose address words for a person mean: “Rolf the plumber” is who is called so beside an address in a file
here. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from mcl.compiler.stages.word_forms import alike, folded
from mcl.core.patterns import late

_ADDRESS: Final = late(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_HEAD: Final = late(r"(?:from|to|cc|reply-to):", re.IGNORECASE)
_LISTS: Final = (".csv", ".tsv", ".vcf")
_READ: Final = (*_LISTS, ".eml", ".txt", ".md")
_MOST_FILES: Final = 300
_PARTS: Final = late(r"\s*[,;&]\s*(?:(?:and|och|samt)\s+)?|\s+(?:and|och|samt)\s+")
_WORD: Final = late(r"[^\W\d_]+")


class _Beside(NamedTuple):
    """What stands beside an address. sure: in a table or the head of a mail, not somewhere in a text."""

    address: str
    words: frozenset[str]
    sure: bool


def addresses_of(
    text: str, paths: Iterable[str], read: Callable[[str], str], empty: frozenset[str]
) -> tuple[str, ...]:
    """The addresses that words for one person or several may mean: for one of these words all of its
    addresses, for several the only one of each, in one text; () where any of them is nobody here.

    empty: words that say nothing of anybody.
    """
    people = [one for one in _PARTS.split(text.strip()) if one.strip()]
    if not people or "@" in text:
        return ()
    known = list(_beside(paths, read))
    found = [_best(one, known, empty) for one in people]
    if len(found) == 1:
        return found[0]
    return (", ".join(one[0] for one in found),) if all(len(one) == 1 for one in found) else ()


def _beside(paths: Iterable[str], read: Callable[[str], str]) -> Iterator[_Beside]:
    of_kind = (path for path in paths if path.casefold().endswith(_READ))
    for _, path in zip(range(_MOST_FILES), of_kind, strict=False):
        listed = path.casefold().endswith(_LISTS)
        for line in read(path).splitlines():
            told = _ADDRESS.findall(line)
            if len(told) == 1:
                sure = listed or (path.casefold().endswith(".eml") and _HEAD.match(line) is not None)
                yield _Beside(told[0].casefold(), frozenset(folded(line).split()), sure)


def _best(text: str, known: Iterable[_Beside], empty: frozenset[str]) -> tuple[str, ...]:
    """Of the addresses beside which all words stand, or all names, those with most of them."""
    words = [one for one in _WORD.findall(text) if one.casefold() not in empty]
    names = {folded(one) for one in words if one[0].isupper()}
    said = {folded(one) for one in words}
    ranked: dict[str, tuple[int, bool]] = {}
    for one in known:
        there = {word for word in said if any(alike(word, other) for other in one.words)}
        if said and (there == said or (names and names <= there)):
            ranked[one.address] = max(ranked.get(one.address, (0, False)), (len(there), one.sure))
    most = max(((sure, many) for many, sure in ranked.values()), default=None)
    return tuple(address for address, (many, sure) in ranked.items() if (sure, many) == most)
