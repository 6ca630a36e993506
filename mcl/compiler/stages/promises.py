"""Words of a rule → what of it a run can be held to. Only a whole clause says that: a word more, such as an
exception, may turn it, and then nothing is held but a person is asked.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from ir import PromiseError, is_place, parse_keeps
from mcl.compiler.stages.limit_words import Around
from mcl.compiler.stages.phrases import literal
from mcl.core.patterns import late
from mcl.language.mtx.core import CoreModule

_TOKEN: Final = late(r"<(\w+)>|(\S+)")
_SEPARATOR: Final = r"(?:\s*,\s*(?:(?:and|or|och|eller)\s+)?|\s+(?:and|or|nor|och|eller)\s+)"
_QUOTED: Final = r"\"[^\"\n]+\"|“[^“”\n]+”|`[^`\n]+`|'[^'\n]+'"
_PATH: Final = r"(?=[^\s,;]*[/.])[\w@+~./-]*[\w/]"
_NOUN: Final = r"(?:folders?|director(?:y|ies)|dirs?|files?|mappen|mapparna|katalogen|filen)"
_BARE: Final = r"(?-i:[a-zåäö0-9_][\w-]*)"
_NAMED: Final = (
    rf"(?:the\s+)?{_NOUN}\s+(?:{_QUOTED}|{_PATH}|{_BARE})|(?:the\s+)?(?:{_QUOTED}|{_PATH}|{_BARE})\s+{_NOUN}"
)
_FILE: Final = rf"(?:{_NAMED}|{_QUOTED}|{_PATH})"
_PLACE: Final = rf"(?:{_NAMED}|{_QUOTED}|{_PATH}|{_BARE})"
_POLITE: Final = r"(?!(?:please|pls|thanks|tack|snälla|the rest|and|but|so|no)\b)"
_HOST: Final = r"(?:https?://)?[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d{1,5})?/?"
_CAPTURES: Final = {
    "paths": rf"(?P<paths>{_PLACE}(?:{_SEPARATOR}{_POLITE}{_PLACE}){{0,7}})",
    "files": rf"(?P<paths>{_FILE}(?:{_SEPARATOR}{_POLITE}{_FILE}){{0,7}})",
    "hosts": rf"(?P<hosts>{_HOST}(?:{_SEPARATOR}{_HOST}){{0,7}})",
    "count": r"(?P<count>\d{1,7})",
}
_SAMPLES: Final = {"paths": "a", "files": "a", "hosts": "a.example", "count": "1"}
_LEADS: Final = r"(?:(?:and|but|please|then|also|so|och|men|snälla|sedan|så)\s+)?"
# What may follow in the same breath without saying anything of the rule.
_ENDS: Final = r"(?=\s*(?:$|[,.;:!?)\n–—]|(?:and|then|so|please|och|så|sedan|tack)\b))"
_TURNS: Final = late(
    r"^[\s,]*(?:if|when|while|but|or|om|när|men|eller)\b"
    r"|\b(?:except\w*|unless|until|apart from|other than|besides|save for|förutom|utom|om inte|annat än"
    r"|tills|undantag\w*)\b",
    re.IGNORECASE,
)
_NO: Final = late(r"(?:\b(?:not|never|no|without|inte|aldrig|utan)|n['’]t)\s*$", re.IGNORECASE)
_WHICH: Final = late(r"\b(?:that|which|who|som|to|att)\s+(?:\w+\s+)?$", re.IGNORECASE)
_FORBIDS: Final = late(
    r"(?:but\s+)?without\b|utan\b|do\s+not\b|don['’]?t\b|never\b|must\b|mustn|may\b|should|you\b|please\b|du\b|får\b|ska\b",
    re.IGNORECASE,
)
_BEGINS: Final = late(
    r"(?:^|[,.;:!?(\n–—]|\b(?:and|but|then|please|also|so|with|och|men|sedan|snälla|samt|med))\s*$",
    re.IGNORECASE,
)
_NOUNS: Final = late(rf"\b(?:the|{_NOUN})\b", re.IGNORECASE)


_Ways: TypeAlias = tuple[frozenset[str], ...]


@dataclass(frozen=True)
class _Phrase:
    """One way to say one thing that is kept, with its places to fill. needs: for each of its parts, the words
    of each way to say it: a text without them is not worth a look."""

    keeps: str
    pattern: str
    needs: tuple[_Ways, ...]

    @cached_property
    def whole(self) -> re.Pattern[str]:
        return late(rf"\s*{_LEADS}(?:{self.pattern})[\s.,;:!]*", re.IGNORECASE)

    @cached_property
    def inside(self) -> re.Pattern[str]:
        return late(rf"(?<![\w'’-])(?:{self.pattern}){_ENDS}", re.IGNORECASE)


@dataclass(frozen=True)
class KeptWords:
    """The words of the module `promise`. not_places: plain words that are no places."""

    phrases: tuple[_Phrase, ...]
    not_places: frozenset[str]

    @classmethod
    def of(cls, module: CoreModule) -> "KeptWords":
        """Read them. Raises SkillError BAD_SETTING."""
        classes = {name: _either(_parted(text)) for name, text in module.family("class").items()}
        phrases = []
        for name, text in module.family("rule").items():
            keeps, colon, said = text.partition(":")
            try:
                parse_keeps(_filled(keeps.strip(), _SAMPLES))
            except PromiseError as error:
                raise module.bad(f"rule.{name}", f"keeps {keeps!r}, which is no rule", error.fix) from error
            if not colon or not said.strip():
                raise module.bad(f"rule.{name}", "has no words", "write what is kept, a colon, and the words")
            for phrase in _parted(said):
                unknown = [one for one in re.findall(r"<(\w+)>", phrase) if one not in {*classes, *_CAPTURES}]
                if unknown:
                    fix = f"classes: {' '.join(classes)}"
                    raise module.bad(f"rule.{name}", f"names <{unknown[0]}>", fix)
                phrases.append(_phrase(keeps.strip(), phrase, classes))
        return cls(tuple(phrases), frozenset(module.text("not.places").split()))

    def kept(self, text: str, around: Around) -> str:
        """What a rule keeps that is said in these words of a clause, in the vocabulary of `ir.promises`; ""
        where nothing can be held. Places, hosts and numbers are those of the words."""
        if _TURNS.search(around.beyond):
            return ""
        before = re.findall(r"\S+\s*", around.before)
        for taken in range(min(4, len(before)) + 1):
            head = "".join(before[len(before) - taken :])
            rest = "".join(before[: len(before) - taken])
            if _NO.search(rest) or _WHICH.search(rest):
                continue  # the word before would turn it, or says it of something else
            for tail in (around.after, "") if _ends(around.after) else (around.after,):
                if found := self._whole(f"{head}{text}{tail}"):
                    return found
        return ""

    def found(self, prose: str) -> list[tuple[int, int]]:
        """Where clauses of a goal say something that can be held: the longest where they overlap."""
        places = [
            match.span()
            for phrase in self._near(prose)
            for match in phrase.inside.finditer(prose)
            if _stands_alone(match[0], prose[: match.start()]) and self._keeps(phrase, match)
        ]
        kept: list[tuple[int, int]] = []
        for start, end in sorted(places, key=lambda one: (one[0] - one[1], one[0])):
            if all(end <= first or last <= start for first, last in kept):
                kept.append((start, end))
        return sorted(kept)

    def _whole(self, text: str) -> str:
        near = self._near(text)
        found = {self._keeps(one, match) for one in near if (match := one.whole.fullmatch(text))} - {""}
        return found.pop() if len(found) == 1 else ""  # what may be read in two ways is not read

    def _near(self, text: str) -> list[_Phrase]:
        """The phrases whose words all stand in a text."""
        words = _words(text)
        return [
            phrase
            for begins, phrases in self._by_beginning.items()
            if any(one <= words for one in begins)
            for phrase in phrases
            if all(any(one <= words for one in ways) for ways in phrase.needs[1:])
        ]

    @cached_property
    def _by_beginning(self) -> Mapping[_Ways, list[_Phrase]]:
        found: dict[_Ways, list[_Phrase]] = {}
        for phrase in self.phrases:
            found.setdefault(phrase.needs[0], []).append(phrase)
        return found

    def _keeps(self, phrase: _Phrase, match: re.Match[str]) -> str:
        said = {name: text for name, text in match.groupdict().items() if text}
        filled: dict[str, str] = {}
        if "count" in said:
            filled["count"] = str(int(said["count"]))
        if "hosts" in said:
            hosts = re.split(_SEPARATOR, said["hosts"].lower())
            filled["hosts"] = ", ".join(dict.fromkeys(one.rstrip("/") for one in hosts))
        if "paths" in said:
            places = list(dict.fromkeys(self._places(said["paths"])))
            if not places or not all(map(is_place, places)):
                return ""
            filled["paths"] = ", ".join(places)
        try:
            return str(parse_keeps(_filled(phrase.keeps, filled)))
        except PromiseError:
            return ""

    def _places(self, text: str) -> Iterator[str]:
        """The paths in a run of words; an empty one where a word is none."""
        for part in re.split(_SEPARATOR, text):
            quoted = re.fullmatch(_QUOTED, part.strip())
            bare = part if quoted else _NOUNS.sub(" ", part)
            word = bare.strip()[1:-1] if re.fullmatch(_QUOTED, bare.strip()) else bare.strip()
            plain = not quoted and not re.search(r"[/.]", word)
            if plain and word.casefold() in self.not_places:
                yield ""
            else:
                yield word.removeprefix("./").rstrip("/")


def _stands_alone(words: str, before: str) -> bool:
    """Whether words begin a clause, or say by themselves that something is not done: "make it read only"
    and "scripts that never delete anything" say no rule."""
    if _NO.search(before) or _WHICH.search(before):
        return False
    return _FORBIDS.match(words) is not None or _BEGINS.search(before) is not None


def _ends(after: str) -> bool:
    return re.match(_ENDS, after) is not None


def _parted(text: str) -> list[str]:
    return [one.strip() for one in text.split("|") if one.strip()]


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w'-]+", text.casefold().replace("’", "'")))


def _either(ways: Sequence[str]) -> tuple[str, _Ways]:
    """What matches one of some ways to say a thing, and the words of each."""
    longest = sorted(ways, key=len, reverse=True)
    return f"(?:{'|'.join(map(literal, longest))})", tuple(map(_words, ways))


def _phrase(keeps: str, text: str, classes: Mapping[str, tuple[str, _Ways]]) -> _Phrase:
    made, needs = "", []
    for name, word in (match.groups() for match in _TOKEN.finditer(text)):
        one, ways = classes.get(name) or (
            (_CAPTURES[name], ()) if name else _either([word.removesuffix("?")])
        )
        optional = not name and word.endswith("?")
        one = rf"\s+{one}" if made else one
        made += f"(?:{one})?" if optional else one
        if ways and not optional:
            needs.append(ways)
    return _Phrase(keeps, made, tuple(needs))


def _filled(keeps: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        keeps = keeps.replace(f"<{name}>", value)
    return keeps
