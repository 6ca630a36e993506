"""Whose address words for a person mean: “Rolf the plumber” is who is called so beside an address in a file
here; “the lady who asked about chairs” whose mail here says so. Pure."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from mcl.compiler.stages.word_forms import alike, folded, stems
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
    if len(people) > 1 and len(whole := _best(text, known, empty)) == 1:  # “Havre & Co”
        return whole
    found = [_best(one, known, empty) for one in people]
    if len(found) == 1:
        return found[0]
    return (", ".join(one[0] for one in found),) if all(len(one) == 1 for one in found) else ()


def _beside(paths: Iterable[str], read: Callable[[str], str]) -> Iterator[_Beside]:
    of_kind = (path for path in paths if path.casefold().endswith(_READ))
    for _, path in zip(range(_MOST_FILES), of_kind, strict=False):
        listed = path.casefold().endswith(_LISTS)
        for line in (one for one in read(path).splitlines() if "@" in one):
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
        there = {word for word in said if any(_same(word, other) for other in one.words)}
        if said and (there == said or (names and names <= there)):
            ranked[one.address] = max(ranked.get(one.address, (0, False)), (len(there), one.sure))
    most = max(((sure, many) for many, sure in ranked.values()), default=None)
    return tuple(address for address, (many, sure) in ranked.items() if (sure, many) == most)


def _same(word: str, other: str) -> bool:
    """Whether two words are one, or mean the same."""
    return alike(word, other) or not stems(word).isdisjoint(stems(other, same=False))


# ---- Who is described by what is known of them.


class _Known(NamedTuple):
    """What is known of whom an address is. head: what stands beside it, and what mails from it are called;
    told: what these mails say; around: what files say that name nobody else."""

    head: set[str]
    told: set[str]
    around: set[str]


def described(
    text: str, paths: Sequence[str], read: Callable[[str], str], empty: frozenset[str]
) -> tuple[str, ...]:
    """The addresses of those of whom most is known that words say which describe somebody: by rows and mails,
    else by files that name one person alone. empty: words that say nothing of anybody.
    """
    words = [one for one in _WORD.findall(text) if one.casefold() not in empty]
    said = {folded(one) for one in words}
    known = _profiles(paths, read) if said else {}
    ranked = dict[str, int]()
    for address, one in known.items():
        head, told = (_there(said, own) for own in (one.head, one.head | one.told))
        if told == said or (head and 2 * len(told) >= len(said)):
            ranked[address] = len(told)
    if not ranked:
        ranked = {address: 1 for address, one in known.items() if said and _there(said, one.around) == said}
    return tuple(address for address, many in ranked.items() if many == max(ranked.values()))


def _there(said: set[str], words: set[str]) -> set[str]:
    return {one for one in said if any(_same(one, other) for other in words)}


def _profiles(paths: Sequence[str], read: Callable[[str], str]) -> dict[str, _Known]:
    """What the files here say of everybody whose address stands in a table or is the sender of a mail."""
    known: dict[str, _Known] = defaultdict(lambda: _Known(set(), set(), set()))
    called, texts = defaultdict[str, set[str]](set), dict[str, str]()
    of_kind = (path for path in paths if path.casefold().endswith(_READ))
    for _, path in zip(range(_MOST_FILES), of_kind, strict=False):
        text = read(path)
        if path.casefold().endswith(_LISTS):
            for line in text.splitlines():
                if len(told := _ADDRESS.findall(line)) == 1:
                    own = known[address := told[0].casefold()]
                    own.head.update(folded(line.replace(told[0], " ")).split())
                    called[address].add(folded(re.split(r"[,;\t]", line)[0]))
        elif path.casefold().endswith(".eml"):
            head, _, body = text.partition("\n\n")
            heads = {one[0].casefold(): one[2] for one in (x.partition(":") for x in head.splitlines())}
            if told := _ADDRESS.findall(heads.get("from", "")):
                own = known[told[0].casefold()]
                sender = heads["from"].replace(told[0], " ")
                own.head.update(folded(f"{sender} {heads.get('subject', '')} {path}").split())
                own.told.update(folded(body).split())
        else:
            texts[path] = f" {folded(f'{path} {text}')} "
    for text in texts.values():
        there = [who for who, names in called.items() if any(one and f" {one} " in text for one in names)]
        if len(there) == 1:
            known[there[0]].around.update(text.split())
    return known
