"""The text that a search is for, of the words that a prompt says it with. Pure."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from mcl.plugins.repo.rules import search_words
from mcl.plugins.repo.wording import KEY_OR_PATH, Word, is_name

_LETTERS: Final = re.compile(r"-[rRnHI]+\Z")  # options of grep that say nothing of the text
_MOST_IN_PLACE: Final = 4  # words that name a place before "for"


class Query(NamedTuple):
    """What is searched for: words by their index. place: where it is said to look, "" for everywhere."""

    left: list[int]
    place: str = ""


def query_of(words: Sequence[Word], left: Sequence[int], phrase: Sequence[Word]) -> Query:
    """The text of a search, and where to look. left: the words behind the phrase of the rule that fits.

    Something is always left: a prompt of nothing but leading words searches for the last of them.
    """
    kept, place = list(left), ""
    shell = bool(phrase) and phrase[0].folded in search_words()["shell"]
    optioned = False
    while shell and len(kept) > 1 and _LETTERS.match(words[kept[0]].text):
        kept, optioned = kept[1:], True
    if not shell:
        kept, place = _before_for(words, kept)
    asked = bool(phrase) and any(_is(word, "where") for word in phrase)
    again = True
    while again:
        again, kept = _led(words, kept, asked=asked)
    if not place:
        kept, place = _behind(words, kept)
    if not place and len(kept) == 2 and (optioned or (shell and phrase[0].folded != "grep")):
        kept, place = kept[:1], words[kept[1]].text  # rg PATTERN PATH
    return Query(kept, "" if place.casefold() in search_words()["everywhere"] else place)


def leads_to_text(words: Sequence[Word], left: Sequence[int]) -> bool:
    """Whether some words begin with what leads to the text of a search: "lines with X"."""
    return _things(words, left) > 0


def asks_where(words: Sequence[Word], left: Sequence[int]) -> bool:
    """Whether some words are what "where is" is asked of in code: a name, or they say "used", "defined"."""
    if not left:
        return False
    last = words[left[-1]]
    one = words[left[0]]
    return (len(left) > 1 and _is(last, "ends")) or (len(left) == 1 and is_name(one))


def _is(word: Word, name: str) -> bool:
    return not word.quoted and word.folded in search_words()[name]


def _led(words: Sequence[Word], left: list[int], *, asked: bool) -> tuple[bool, list[int]]:
    """Some words without what leads to the text, and whether anything did. asked: "where" came before."""
    start = _things(words, left)
    if start == 0 and len(left) > 1 and _is(words[left[0]], "said"):
        start = 1
    end = len(left)
    if start == 0 and len(left) > 1 and words[left[0]].folded == "the" and not words[left[0]].quoted:
        start = 1
    where = len(left) > 1 and _is(words[left[0]], "where")
    closed = len(left) > 1 and _is(words[left[-1]], "ends")
    if closed and (asked or where or _is(words[left[-2]], "is")):
        start, end = start or int(where), end - 1
        while end > start + 1 and _is(words[left[end - 1]], "is"):
            end -= 1
    found = left[start:end]
    return (True, found) if found and len(found) < len(left) else (False, left)


def _things(words: Sequence[Word], left: Sequence[int]) -> int:
    """How many of some words lead to the text: "all uses of", "the word"; 0 where none do."""
    at = 0
    while at < len(left) and _is(words[left[at]], "all"):
        at += 1
    if at >= len(left):
        return 0
    behind = at + 1
    if _is(words[left[at]], "things"):
        while behind < len(left) and _is(words[left[behind]], "links"):
            behind += 1
        return behind if at + 1 < behind < len(left) else 0
    return behind if at and _is(words[left[at]], "kinds") and behind < len(left) else 0


def _before_for(words: Sequence[Word], left: list[int]) -> tuple[list[int], str]:
    """Of "the code for X" X, and the place."""
    for at in range(1, min(_MOST_IN_PLACE, len(left) - 1)):
        if not _is(words[left[at]], "for"):
            continue
        place = [words[one] for one in left[:at]]
        while place and (_is(place[0], "in") or _is(place[0], "all")):
            place = place[1:]
        if len(place) == 1 and KEY_OR_PATH.fullmatch(place[0].text) and not place[0].quoted:
            return left[at + 1 :], place[0].text
        return left, ""
    return left, ""


def _behind(words: Sequence[Word], left: list[int]) -> tuple[list[int], str]:
    """Of "X in src" X, and the place."""
    if len(left) < 3 or not _is(words[left[-2]], "in"):
        return left, ""
    last = words[left[-1]]
    if last.quoted or not KEY_OR_PATH.fullmatch(last.text):
        return left, ""
    return left[:-2], last.text
