"""The words of a prompt, their places, and which repositories it names; the rules of `rules.toml`. Pure."""

import functools
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from executor.core.tables import table_beside
from mcl.plugins.repo.contract import Language

# ---- The matcher's rules and words.

Phrase: TypeAlias = tuple[str, ...]
Where: TypeAlias = Literal["start", "anywhere", "commands"]

_OF_PHRASES: Final = ("openings", "aside", "tails", "changes")  # the other lists are of single words


@dataclass(frozen=True)
class MatchRule:
    """One row: `rules.toml` says what each field means. Longer phrases come first."""

    intent: str
    where: Where
    phrases: tuple[tuple[Phrase, Language], ...]
    leads: frozenset[str]
    needs: str
    yields: bool
    whole: bool
    compat: tuple[str, ...]


@dataclass(frozen=True)
class WordLists:
    """The lists of words that belong to no rule."""

    openings: tuple[Phrase, ...]
    joins: frozenset[str]
    commands: frozenset[str]
    aside: tuple[Phrase, ...]
    since: frozenset[str]
    showing: frozenset[str]
    between: frozenset[str]
    before_key: frozenset[str]
    after_key: frozenset[str]
    tails: tuple[Phrase, ...]
    negations: frozenset[str]
    changes: tuple[Phrase, ...]
    about: frozenset[str]
    swedish: frozenset[str]


@functools.cache
def rules() -> tuple[tuple[MatchRule, ...], WordLists]:
    """All rules in their order, and the words."""
    table = _table()
    lists: dict[str, Any] = {
        name: _phrases(words) if name in _OF_PHRASES else frozenset(words)
        for name, words in table["words"].items()
    }
    return tuple(map(_rule, table["rule"])), WordLists(**lists)


@functools.cache
def search_words() -> Mapping[str, frozenset[str]]:
    """What stands around the text of a search, by what it is: `rules.toml` says what each list means."""
    return {name: frozenset(words) for name, words in _table()["search"].items()}


@functools.cache
def phrase_words() -> frozenset[str]:
    """All words of all phrases: none of them is the name of a repository that is not known."""
    return frozenset(word for rule in rules()[0] for phrase, _ in rule.phrases for word in phrase)


def words_before(intent: str) -> frozenset[str]:
    """What may stand before an argument of an intent, in any of its rules: leads, and words of phrases."""
    own = [rule for rule in rules()[0] if rule.intent == intent]
    phrases = {word for rule in own for phrase, _ in rule.phrases for word in phrase}
    return frozenset(phrases).union(rules()[1].between, *(rule.leads for rule in own))


def _table() -> dict[str, Any]:
    return table_beside(__file__, "rules")


def _rule(row: dict[str, object]) -> MatchRule:
    # A phrase of both languages is taken for English: the words around it tell when it is not.
    both: tuple[Language, Language] = ("sv", "en")
    phrases = {phrase: language for language in both for phrase in _phrases(row.get(language, []))}
    return MatchRule(
        intent=str(row["intent"]),
        where=row["where"],  # type: ignore[arg-type]
        phrases=tuple(sorted(phrases.items(), key=lambda one: -len(one[0]))),
        leads=frozenset(_texts(row.get("leads", []))),
        needs=str(row.get("needs", "")),
        yields=bool(row.get("yields", False)),
        whole=bool(row.get("whole", False)),
        compat=_texts(row.get("compat", [])),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _phrases(value: object) -> tuple[Phrase, ...]:
    found = (tuple(text.casefold().split()) for text in _texts(value))
    return tuple(sorted(found, key=len, reverse=True))


# ---- The words of a prompt.

_QUOTED = re.compile(r'"([^"\n]+)"|“([^”\n]+)”|`([^`\n]+)`|(?<!\w)\'([^\'\n]+)\'(?!\w)')
_EDGES = ".,;:!?\"'()[]{}<>“”‘’`´"
_ENDS = ".,;:!?"  # what ends a sentence and no argument
_BREAKS = ",;.!?"  # behind which another wish may begin
_QUOTES = "\"'”`"
_MOST_BETWEEN = 3
KEY_OR_PATH = re.compile(r"[A-Za-z0-9._/~-]{1,200}")
_GLUED = re.compile(r"(?<=[^\s;&|])(?:;+|&&|\|\|)(?=[^\s;&|])")  # commands joined without a blank
_LINE = re.compile(r"[;\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")  # between two words: what joins two commands
_CODE = re.compile(r"[/_.\\]|\d|[a-zåäö][A-ZÅÄÖ]|^[A-ZÅÄÖ]{2,}$")


class PromptWord(NamedTuple):
    """One word. text: without the punctuation at its edges; folded: the same, case-folded. start, end: its
    place in the prompt, edges included. quoted: it stands in quotes."""

    text: str
    folded: str
    start: int
    end: int
    quoted: bool


class PromptClause(NamedTuple):
    """The words of a part of a prompt, by index. command: it stands behind what joins commands (`;`, `&&`, a
    new line), not behind a word or a comma."""

    words: list[int]
    command: bool


class NamedRepository(NamedTuple):
    """A known repository that the prompt names, and the index of the word that does."""

    key: str
    word: int


def normal(prompt: str) -> str:
    """The prompt as it is looked at: composed characters, no blanks around it."""
    return unicodedata.normalize("NFC", prompt).strip()


def words_of(prompt: str) -> list[PromptWord]:
    """Runs without blanks, in order; what ends a sentence, alone, is none."""
    quotes = [match.span() for match in _QUOTED.finditer(prompt)]
    found: list[PromptWord] = []
    at = 0  # of the quotes, the first that may still hold a word
    for start, end in _runs(prompt, quotes):
        raw = prompt[start:end]
        text = raw.strip(_EDGES) or raw.strip(_ENDS)
        if not text:
            continue
        middle = start + raw.index(text)
        while at < len(quotes) and quotes[at][1] <= middle:
            at += 1
        quoted = at < len(quotes) and quotes[at][0] <= middle
        found.append(PromptWord(text, text.casefold(), start, end, quoted))
    return found


def _runs(prompt: str, quotes: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The runs without blanks, by their places; "status;rm" is two, unless it stands in quotes."""
    joins = [match.span() for match in _GLUED.finditer(prompt)]
    joins = [one for one in joins if not any(start < one[0] < end for start, end in quotes)]
    at = 0
    for match in re.finditer(r"\S+", prompt):
        start, end = match.span()
        while at < len(joins) and joins[at][0] < end:
            yield start, joins[at][0]
            start = joins[at][1]
            at += 1
        yield start, end


def clauses_of(prompt: str, words: Sequence[PromptWord], lists: WordLists) -> list[PromptClause]:
    """The parts of a prompt as it joins them: by a word such as "and", by punctuation, or as commands are.
    What stands in quotes is not looked at."""
    found: list[PromptClause] = [PromptClause([], command=False)]
    for index, word in enumerate(words):
        raw = prompt[word.start : word.end]
        edge = word.start + raw.index(word.text)
        between = prompt[words[index - 1].end : edge] if index else ""
        within = index > 0 and word.quoted and words[index - 1].quoted
        glued = _GLUED.search(prompt, words[index - 1].end - 1, word.start + 1) if index else None
        if not within and (glued or _LINE.search(between)):
            found.append(PromptClause([], command=True))
        if _joins(words, index, lists):
            found.append(PromptClause([], command=word.folded in lists.commands or _is_open(found)))
            continue
        found[-1].words.append(index)
        inside = word.quoted and raw[-2:-1] not in _QUOTES  # and a comma is one of what is quoted
        if raw[-1] in _BREAKS and not inside and not _since(words, index + 1, lists):
            found.append(PromptClause([], command=raw[-1] == ";"))
    return [clause for clause in found if clause.words]


def _is_open(found: Sequence[PromptClause]) -> bool:
    """Whether a clause of commands was just begun: "; and then"."""
    return found[-1].command and not found[-1].words


def _joins(words: Sequence[PromptWord], index: int, lists: WordLists) -> bool:
    """Whether a word joins two wishes; "sedan" may also say since when."""
    word = words[index]
    if word.quoted or word.folded not in lists.joins:
        return False
    joined = index > 0 and words[index - 1].folded in lists.joins  # "och sedan" is no since
    return joined or not _since(words, index, lists)


def _since(words: Sequence[PromptWord], index: int, lists: WordLists) -> bool:
    """Whether a "sedan" says since when."""
    said = [word.folded for word in words[index : index + 2]]
    return len(said) == 2 and said[0] in ("sedan", "sen") and said[1] in lists.since


def is_name(word: PromptWord) -> bool:
    """Whether it is in quotes, or looks as names in code do: `a_b`, `a/b`, `a.b`, `aB`, `AB`, `a1`."""
    return word.quoted or _CODE.search(word.text) is not None


def begin(words: Sequence[PromptWord], lists: WordLists) -> int:
    """The index of the first word behind what a request may open with: "please", "can you"."""
    at, moved = 0, True
    while moved:
        ends = (phrase_at(words, at, opening, ()) for opening in lists.openings)
        behind = next((end for end in ends if end is not None), None)
        at, moved = (behind, True) if behind is not None else (at, False)
    return at


def change_of(words: Sequence[PromptWord], lists: WordLists) -> str:
    """What a request begins with that asks for a change which no intent makes, "" where it does not."""
    first = begin(words, lists)
    found = (phrase for phrase in lists.changes if phrase_at(words, first, phrase, ()) is not None)
    return " ".join(next(found, ()))


def argument_of(text: str) -> str:
    """A text as an argument: without what ends a sentence, and without quotes where all of it is quoted."""
    text = text.strip().rstrip(_ENDS)
    match = _QUOTED.fullmatch(text)
    return next(part for part in match.groups() if part is not None) if match else text


def phrase_at(words: Sequence[PromptWord], at: int, phrase: Phrase, between: Collection[str]) -> int | None:
    """The index behind `phrase` where it begins at word `at`; None where it does not.

    A few words of `between` may stand inside it.
    """
    for position, part in enumerate(phrase):
        last = at + (_MOST_BETWEEN if position else 0)
        while at < min(last, len(words)) and words[at].folded != part and words[at].folded in between:
            at += 1
        if at >= len(words) or words[at].folded != part:
            return None
        at += 1
    return at


def named_in(words: Sequence[PromptWord], keys: Collection[str]) -> list[NamedRepository]:
    """The known repositories that are named as whole words, outside quotes, in the prompt's order.

    A name in the very letters of a key means that one, whatever other keys differ from it in case alone.
    """
    by_folded: dict[str, list[str]] = {}
    for key in sorted(keys):
        by_folded.setdefault(key.casefold(), []).append(key)
    found: list[NamedRepository] = []
    for index, word in enumerate(words):
        meant = [] if word.quoted else by_folded.get(word.folded, [])
        found += (NamedRepository(key, index) for key in ([word.text] if word.text in meant else meant))
    return found


def unknown_in(words: Sequence[PromptWord], lists: WordLists) -> str:
    """What a prompt ends with as if it were the key of a repository: `x` of "tests in x", "tests in the repo
    x"; "" where it ends otherwise. For prompts that name none that is known."""
    left = trimmed(range(len(words)), words, (), lists)
    while left and words[left[-1]].folded in lists.after_key:
        left = left[:-1]
    if len(left) < 2:
        return ""
    last, before = words[left[-1]], words[left[-2]].folded
    common = lists.about | lists.between | lists.before_key | phrase_words()
    if (last.folded in common and not last.quoted) or not KEY_OR_PATH.fullmatch(last.text):
        return ""
    return last.text if before in lists.before_key - lists.between else ""


def without(
    left: Sequence[int], words: Sequence[PromptWord], named: Sequence[NamedRepository], lists: WordLists
) -> list[int]:
    """Of some words, by index, those that name no repository and stand at no name's edge: "in the repo X"."""
    kept = list(left)
    for one in named:
        first = last = one.word
        while first - 1 in kept and words[first - 1].folded in lists.before_key:
            first -= 1
        while last + 1 in kept and words[last + 1].folded in lists.after_key:
            last += 1
        kept = [index for index in kept if not first <= index <= last]
    return kept


def trimmed(
    left: Sequence[int], words: Sequence[PromptWord], leads: Collection[str], lists: WordLists
) -> list[int]:
    """Of some words, by index, those that are an argument: not what leads to it, not what ends a request."""
    kept = list(left)
    while kept and words[kept[0]].folded in leads and not words[kept[0]].quoted:
        kept = kept[1:]
    for tail in lists.tails:
        if tuple(words[index].folded for index in kept[-len(tail) :]) == tail:
            kept = kept[: -len(tail)]
    return kept


def text_of(prompt: str, words: Sequence[PromptWord], left: Sequence[int]) -> str:
    """Some words, by index, as the prompt has them; a blank stands for what was taken out between."""
    parts: list[str] = []
    for place, index in enumerate(left):
        word = words[index]
        glued = place and left[place - 1] == index - 1
        start = words[index - 1].end if glued else word.start
        parts.append(f"{'' if glued or not parts else ' '}{prompt[start : word.end]}")
    return "".join(parts)


# ---- The text that a search is for, of the words that a prompt says it with. Pure.

_LETTERS: Final = re.compile(r"-[rRnHI]+\Z")  # options of grep that say nothing of the text
_MOST_IN_PLACE: Final = 4  # words that name a place before "for"


class SearchQuery(NamedTuple):
    """What is searched for: words by their index. place: where it is said to look, "" for everywhere."""

    left: list[int]
    place: str = ""


def query_of(words: Sequence[PromptWord], left: Sequence[int], phrase: Sequence[PromptWord]) -> SearchQuery:
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
    return SearchQuery(kept, "" if place.casefold() in search_words()["everywhere"] else place)


def leads_to_text(words: Sequence[PromptWord], left: Sequence[int]) -> bool:
    """Whether some words begin with what leads to the text of a search: "lines with X"."""
    return _things(words, left) > 0


def asks_where(words: Sequence[PromptWord], left: Sequence[int]) -> bool:
    """Whether some words are what "where is" is asked of in code: a name, or they say "used", "defined"."""
    if not left:
        return False
    last = words[left[-1]]
    one = words[left[0]]
    return (len(left) > 1 and _is(last, "ends")) or (len(left) == 1 and is_name(one))


def _is(word: PromptWord, name: str) -> bool:
    return not word.quoted and word.folded in search_words()[name]


def _led(words: Sequence[PromptWord], left: list[int], *, asked: bool) -> tuple[bool, list[int]]:
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


def _things(words: Sequence[PromptWord], left: Sequence[int]) -> int:
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


def _before_for(words: Sequence[PromptWord], left: list[int]) -> tuple[list[int], str]:
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


def _behind(words: Sequence[PromptWord], left: list[int]) -> tuple[list[int], str]:
    """Of "X in src" X, and the place."""
    if len(left) < 3 or not _is(words[left[-2]], "in"):
        return left, ""
    last = words[left[-1]]
    if last.quoted or not KEY_OR_PATH.fullmatch(last.text):
        return left, ""
    return left[:-2], last.text
