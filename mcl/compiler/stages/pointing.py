"""How a further wish of a goal speaks of what earlier ones give: words that point at it, and conditions.
Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Final

from mcl.compiler.stages.phrases import compiled, either
from mcl.core.words import GIVEN_KINDS
from mcl.language.mtx.core import CoreModule
from mcl.model.cues import TextPlace
from mcl.values.numbers import read_number

_COUNTED: Final = {  # kinds of conditions on how many there are, each with its test and what is added
    "more": ("at_least", 1),
    "least": ("at_least", 0),
    "less": ("at_most", -1),
    "most": ("at_most", 0),
    "exactly": ("count", 0),
}
_TRUTHS: Final = {"passed": "true", "failed": "false"}  # and those on what is so or not, with the answer
_KINDS: Final = (*_COUNTED, *_TRUTHS, "any", "none", "contains")
_NUMBER: Final = r"(?P<n>\S+(?:\s+\S+){0,5})"  # with what is counted: "three of them"
_COUNTED_WORDS: Final = 3
_TIDY: Final = " \t\n,;:.!?"
_BEHIND: Final = r"(?:\s+[^\s,.;]+){0,3}"  # "of them", "such files"


@dataclass(frozen=True)
class SaidCondition:
    """A condition as it is said. test, value: as of a plan's condition. counts: whether it is about how many
    there are, or whether there are any; else about a text. place: of its words."""

    test: str
    value: str
    counts: bool
    place: TextPlace


@dataclass(frozen=True)
class PointingWords:
    """The words of the module `coverage` for it. plain: what points by itself, where none of the
    others stands behind it; owners: whose a thing is; things: what does so where
    nothing behind it says which; behind: what says which; conditions: by their kind. nouns: for what is
    pointed at, by what that is, in English and in Swedish; adverb, last: what stands behind the verb of a
    wish, or at its end, and adds nothing; then: what ends a condition; nobody: what no thing begins
    with; places: what points at a folder,
    behind what leads to its name; within: what leads to that of a file; answer: what means the answer to an
    earlier one; front: what says before a verb where that is done; things: what means a folder, a file;
    plural, swedish: of the words that point, those for several, and those of that language; alone: what
    points where no noun follows; originals: what an earlier wish made something of; asked: what points at
    it in a question; folders, ending: nouns
    for a folder, and for a file by its ending; ends: what stands behind a noun that says all; turned,
    inverted: what behind a thing says what is done with it."""

    plain: tuple[str, ...]
    others: tuple[str, ...]
    owners: tuple[str, ...]
    alone: tuple[str, ...]
    things: tuple[str, ...]
    behind: tuple[str, ...]
    conditions: tuple[tuple[str, tuple[str, ...]], ...]
    nouns: Mapping[str, tuple[str, ...]]
    places: tuple[tuple[str, ...], ...]
    within: tuple[str, ...]
    answer: re.Pattern[str]
    originals: re.Pattern[str]
    asked: re.Pattern[str]
    _folders: tuple[str, ...]
    _ending: tuple[str, ...]
    _ends: str
    _turned: tuple[tuple[str, re.Pattern[str]], ...]
    _inverted: re.Pattern[str]
    _front: re.Pattern[str]
    _things: tuple[re.Pattern[str], re.Pattern[str]]
    adverb: re.Pattern[str]
    last: re.Pattern[str]
    then: tuple[str, ...]
    nobody: re.Pattern[str]
    plural: frozenset[str]
    swedish: frozenset[str]

    @classmethod
    def of(cls, module: CoreModule) -> "PointingWords":
        """Read them. Raises SkillError NO_SETTING."""
        return cls(
            module.phrases("pointing"),
            module.phrases("pointing.others"),
            module.phrases("pointing.owners"),
            module.phrases("pointing.alone"),
            module.phrases("pointing.things"),
            module.phrases("pointing.not"),
            tuple((kind, module.phrases(f"when.{kind}")) for kind in _KINDS),
            {kind: module.phrases(f"noun.{kind}") for kind in GIVEN_KINDS},
            tuple(module.phrases(f"into.{number}") for number in range(1, 5)),
            module.phrases("into.file"),
            compiled(
                rf"(?<![\w-])(?:(?P<number>{either(module.phrases('pointing.number'))})"
                rf"|(?P<files>{either(module.phrases('pointing.names'))}))"
                rf"(?=\s+{either(module.phrases('pointing.answers'))}(?!\w)|[\s.!?]*$)"
            ),
            compiled(rf"(?<![\w-]){either(module.phrases('pointing.originals'))}(?![\w-])"),
            compiled(rf"(?<![\w-]){either(module.phrases('pointing.asked'))}(?![\w-])"),
            module.phrases("thing.folder.bare"),
            module.phrases("thing.ending"),
            _ends(module),
            _turned(module),
            _inverted(module),
            compiled(
                rf"(?:{either(module.phrases('into.file'))}\s+(?:\S+\.\w{{1,8}}|{either(module.phrases('thing.file'))}"
                rf"|{either(module.phrases('thing.file.bare'))}|{either(module.phrases('thing.folder'))})"
                rf"|{either(module.phrases('adverbs.front'))})[\s,]+(?=\w)"
            ),
            (_thing(module, "folder"), _thing(module, "file")),
            compiled(rf"^(\w+)\s+{either(module.phrases('adverbs.wish'))}(?=\s)"),
            compiled(rf"(?:[\s,]+{either(module.phrases('adverbs.wish'))})+$"),
            module.phrases("adverbs.then"),
            compiled(rf"{either(module.phrases('turned.not'))}(?!\w)"),
            frozenset(module.text("noun.plural").split()),
            frozenset(module.text("noun.swedish").split()),
        )

    @cached_property
    def _pointing(self) -> re.Pattern[str]:
        beside = rf"(?!\s+{either(self.behind)}(?!\w))"
        return compiled(
            rf"(?<![\w-])(?:{self._by_itself}|{either(self.alone)}{self._ends}"
            rf"|{either(self.things)}(?![\w-]){beside}|{self.answer.pattern}|{self.originals.pattern})"
        )

    @cached_property
    def owned(self) -> re.Pattern[str]:
        """Matches what says whose a thing is."""
        return compiled(rf"(?<![\w-]){either(self.owners)}\s+(?=\w)")

    @cached_property
    def pronoun(self) -> re.Pattern[str]:
        """Matches a word that points at something by itself."""
        return compiled(rf"(?<![\w-]){self._by_itself}")

    @cached_property
    def _by_itself(self) -> str:
        return rf"{either(self.plain)}(?![\w-])(?!\s+{either(self.others)}(?!\w))"

    @cached_property
    def _conditions(self) -> tuple[tuple[str, re.Pattern[str]], ...]:
        made = []
        for kind, phrases in self.conditions:
            said = either(phrases).replace("<n>", _NUMBER)
            names = iter(range(len(phrases)))
            said = re.sub(r"\(\?P<n>", lambda _, names=names: f"(?P<n{next(names)}>", said)  # type: ignore[misc]
            rest = r"\s+(?P<words>[^.;!?\n]+)" if kind == "contains" else _BEHIND
            rest = "" if kind in _COUNTED else rest
            rest = rf"(?:\s+{either(self.then)})?" if kind in _TRUTHS else rest
            made.append((kind, compiled(rf"(?<!\w){said}(?!\w){rest}\s*$")))
        return tuple(made)

    def found(self, text: str) -> Iterator[TextPlace]:
        """Where words of a wish point at what an earlier one gives."""
        yield from (TextPlace.of(match) for match in self._pointing.finditer(text))

    def into(self, text: str, folder: str, file: str) -> str:
        """A wish with the name of a folder, or of a file, where words of it point at it, or the last are its
        name; "" where they do neither. "" for what there is none of."""
        path = (folder or file).rstrip("/")
        for number, (lead, *phrases) in enumerate(self.places):
            word = lead.split()[0]
            lead = lead if folder else self.within[number // 2]
            named = rf"{re.escape(word)}\s+{re.escape(path)}/?"
            match = compiled(rf"\s+(?:{either(phrases)}|{named})[\s.!?]*$").search(text)
            if match is not None:
                return f"{text[: match.start()]} {lead} {path}"
            match = compiled(rf"^(\w+)\s+{either(phrases)}\s+").match(text)
            if match is not None:  # "lägg dit en kopia av x"
                return f"{match[1]} {text[match.end() :]} {lead} {path}"
        for pattern, one in zip(self._things, (folder, file), strict=True):
            found = list(pattern.finditer(text)) if one else ()
            if len(found) == 1:
                noun, rest = found[0][0].split()[-1], text[found[0].end() :]
                noun = next((said for said in self._folders if said.split()[-1] == noun), "")
                noun = "" if rest.strip(_TIDY) else f"{noun} "  # "zip that folder" is "zip the folder x/"
                named = f"{noun}{folder.rstrip('/')}/" if one is folder else file
                return f"{text[: found[0].start()]}{named}{rest}"
        return ""

    def turned(self, text: str) -> str:
        """A wish with the words behind it that say where it is done: "in the new one swap a for b"."""
        front = self._front.match(text)
        return f"{text[front.end() :]} {front[0].rstrip(' ,')}" if front else text

    def commanded(self, text: str) -> str:
        """A wish with its verb at its beginning: "the copy can be deleted"."""
        text = self.turned(text)
        for verb, pattern in self._turned:
            if match := pattern.fullmatch(text):
                return " ".join(f"{verb or match['verb']} {match['thing']} {match['rest']}".split())
        return text

    def inverted(self, text: str) -> tuple[str, str]:
        """The verb of a wish that stands behind what it is done to, and all else of it: “biljetten flyttar du
        dit”; "" where none does."""
        match = self._inverted.fullmatch(text)
        if match is None:
            return "", ""
        where = any(match["thing"].casefold().startswith(f"{one} ") for one in self.within)
        first, last = ("rest", "thing") if where else ("thing", "rest")
        return match["verb"], f"{match[first].rstrip(_TIDY)} {match[last]}"

    def with_ending(self, text: str, files: Sequence[str]) -> str:
        """A wish with the name of a file in place of words for the only one with its ending: "the csv"."""
        endings = [one.rpartition(".")[2].casefold() for one in files]
        for file, ending in zip(files, endings, strict=True):
            said = either(self._ending).replace("<ending>", re.escape(ending))
            if endings.count(ending) == 1 and re.search(rf"\b{re.escape(ending)}", text, re.IGNORECASE):
                text = compiled(rf"(?<![\w.]){said}{self._ends}").sub(file, text)
        return text

    def points_into(self, text: str) -> bool:
        """Whether the last words of a text point at a folder."""
        return self._places.search(text) is not None

    def puts_there(self, text: str) -> bool:
        """The same of a wish that may say at its end that it is one more: "put a copy of x there too"."""
        return self.points_into(self.last.sub("", text))

    @cached_property
    def _places(self) -> re.Pattern[str]:
        return compiled(rf"\s+{either([one for _, *more in self.places for one in more])}[\s.!?]*$")

    def named(self, text: str, kinds: Mapping[str, str]) -> str:
        """A wish with a noun in place of the first pronoun, or of what means an answer; "" where there is
        none.

        kinds: what there is that it may mean, each with what is known of it ("csv").
        """
        answer = self.answer.search(text)
        match = answer or self.pronoun.search(text)
        if match is None or not kinds:
            return ""
        if answer and answer.lastgroup == "files":
            return text
        place = TextPlace.of(match)
        word = text[place.start : place.end].casefold()
        several = word in self.plural
        order = ("files", "list", "rows") if several else ("file", "text", "files")
        kind = next((one for one in order if one in kinds), next(iter(kinds)))
        kind = "number" if answer else kind
        swedish = word in self.swedish
        known = kinds.get(kind, "")
        known = f"{known}-" if swedish and known else known
        said = " ".join(self.nouns[kind][-1 if swedish else 0].replace("<known>", known).split())
        return f"{text[: place.start]}{said}{text[place.end :]}"

    def answers(self, text: str) -> str:
        """What kind of output the words of a wish mean that point at an answer; "" for any, or none."""
        match = self.answer.search(text)
        return (match.lastgroup or "") if match else ""

    def means_one(self, text: str) -> bool:
        """Whether words that point mean one file, and say so: "the file", not "it"."""
        said = " ".join(text.casefold().split())
        return said in [" ".join(one.replace("<known>", "").split()) for one in self.nouns["file"]]

    def conditional(self, text: str) -> bool:
        """Whether a condition is said anywhere in a text."""
        return self._said.search(text) is not None

    @cached_property
    def _said(self) -> re.Pattern[str]:
        phrases = (one.removesuffix(" <n>") for _, many in self.conditions for one in many)
        return compiled(rf"(?<!\w){either(phrases)}(?!\w)")

    @cached_property
    def leading(self) -> re.Pattern[str]:
        """Matches at its beginning a condition that needs no mark behind it: "if they pass tag it"."""
        phrases = (one for kind, many in self.conditions if kind in _TRUTHS for one in many)
        return compiled(rf"(?<!\w){either(phrases)}(?!\w)")

    def condition(self, text: str) -> SaidCondition | None:
        """The condition that a text ends with; None where it ends with none, or one that cannot be read."""
        text = text.rstrip(_TIDY)
        for kind, pattern in self._conditions:
            match = pattern.search(text)
            if match is None:
                continue
            said = match.groupdict()
            place, number = TextPlace.of(match), next((n for n in said.values() if n), "")
            if kind in _COUNTED:
                test, more = _COUNTED[kind]
                count = _count(number.split())
                if count is None or count % 1 or count + more < 0:
                    return None
                return SaidCondition(test, str(int(count) + more), True, place)
            if kind in _TRUTHS:
                return SaidCondition("equals", _TRUTHS[kind], False, place)
            if kind == "contains":
                return SaidCondition("contains", said["words"].strip(" \"'“”"), False, place)
            return SaidCondition("not_empty" if kind == "any" else "empty", "", True, place)
        return None

    def inside(self, text: str) -> tuple[SaidCondition | None, str]:
        """A condition in the middle of a wish, and the wish without it: "push if they pass to origin"."""
        match = self._inner.search(text)
        found = self.condition(text[: match.end()]) if match is not None else None
        if match is None or found is None or found.place.start != match.start():
            return None, text
        return found, f"{text[: match.start()].rstrip()} {text[match.end() :].lstrip()}"

    @cached_property
    def _inner(self) -> re.Pattern[str]:
        return compiled(rf"(?<=\s){self.leading.pattern}(?=\s)")

    def apart(self, text: str, breaks: Sequence[int]) -> tuple[SaidCondition | None, TextPlace]:
        """A wish taken apart: its condition, in front of it or at its end, and where the rest stands.

        breaks: where clauses of the text begin.
        """
        for start in breaks:
            before = text[:start].rstrip(_TIDY)
            if (said := self.condition(before)) is not None and not before[: said.place.start].strip(_TIDY):
                return said, TextPlace(start, len(text))
        said = self.condition(text)
        if said is None or not text[: said.place.start].strip(_TIDY):
            return None, TextPlace(0, len(text))
        return said, TextPlace(0, len(text[: said.place.start].rstrip(_TIDY)))


def _thing_first(module: CoreModule) -> str:
    """A thing that a wish begins with."""
    return rf"(?!{either(module.phrases('turned.not'))}(?!\w))(?P<thing>(?:(?!\.\s)[^,;:!?“”\"])+?)\s+"


def _inverted(module: CoreModule) -> re.Pattern[str]:
    rest = rf"{either(module.phrases('turned.you'))}\s+(?P<rest>\S[^\n]*)"
    return compiled(rf"{_thing_first(module)}(?P<verb>\w+)\s+{rest}")


def _turned(module: CoreModule) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """What behind a thing says what is done with it, each with its verb; "" where that stands there."""
    thing, rest = _thing_first(module), r"(?P<rest>[^\n]*)"
    also = either(module.phrases("also"))
    made = [("", compiled(rf"{thing}{either(module.phrases('turned.verb'))}\s+(?P<verb>\w+){rest}"))]
    for number, text in module.family("turned").items():
        verb, _, said = text.partition(": ")
        if number.isdigit() and said:
            ways = either(map(str.strip, said.split("|")))
            made.append((verb, compiled(rf"{thing}{ways}(?P<rest>(?:\s+{also})?[\s.!?]*)")))
    return tuple(made)


def _thing(module: CoreModule, kind: str) -> re.Pattern[str]:
    """What means a folder or a file of an earlier wish; its noun alone does where nothing says which."""
    said, bare = either(module.phrases(f"thing.{kind}")), either(module.phrases(f"thing.{kind}.bare"))
    other = either(module.phrases("thing.other"))
    return compiled(rf"(?<!\w)(?!{bare}\s+{other})(?:{said}(?!\w)(?!\s+{other})|{bare}{_ends(module)})")


def _ends(module: CoreModule) -> str:
    """What stands behind a noun that says all of what is meant."""
    return rf"(?=\s+{either(module.phrases('thing.behind'))}(?!\w)|\s*(?:[.,;:!?]|$))"


def _count(words: Sequence[str]) -> Decimal | None:
    """The number that words begin with, behind which hardly more may stand: "a dozen of them"."""
    for many in range(len(words), 0, -1):
        said = read_number(" ".join(words[:many]))
        if said is not None:
            article = many == 1 and len(words) > 1 and not words[0][:1].isdigit() and said == 1
            return None if article or len(words) - many > _COUNTED_WORDS else said
    return None
