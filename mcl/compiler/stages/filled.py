"""What plug-ins read in a goal and in the files here for the inputs of a skill: which entry of a list is
meant, which files. It is kept with what else was found, so that a replay reads the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

from mcl.compiler.stages.clauses import Clause, Clauses
from mcl.compiler.stages.coverage_words import WORD, CoverageWords
from mcl.language.skills import Skill
from mcl.model.cues import TextPlace, span_at, within
from mcl.model.protocol import Span

if TYPE_CHECKING:
    from mcl.compiler.stages.file_names import FileNames
    from mcl.compiler.stages.request import GoalRequest

STAYS: Final = "!"  # no slot: the words say what is left out, of a goal that is not understood
# Inputs that would say the same in other ways.
_BESIDE: Final = ("pattern", "folder", "scope", "days", "find", "replacement", "prefix", "how", "language")
_FILE: Final = re.compile(r"\S+\.\w{1,5}(?!\w)")
_SURE: Final = 0.97
_FILLED: Final = "@filled"
_READ: Final = "@read="  # of a skill: that its own reader, and no chooser of files, says what fills it


class SaidClause(NamedTuple):
    """A clause of a goal. does: whether it begins with a verb of what is wanted; keeps: whether it says what
    is not to be done, or stays."""

    place: TextPlace
    does: bool = False
    keeps: bool = False


class FilledInput(NamedTuple):
    """An input of a skill. place: of the words of the goal that say it; values: what fills it; unsure: a
    person has to say which of them; plain: it is what the words are. Of no slot (""): words that were
    understood beside it."""

    slot: str
    place: TextPlace
    values: tuple[str, ...] = ()
    unsure: bool = False
    plain: bool = False


Filler: TypeAlias = Callable[[str, Sequence[SaidClause], "FileNames"], Sequence[FilledInput]]
"""Of a goal, its clauses and the files here: the inputs; none where these do not say what is meant."""


class Chooser(Protocol):
    """Which of the files here a goal means, whatever its skill does with them."""

    def __init__(self, request: GoalRequest, skill: Skill, clauses: Clauses) -> None: ...

    def stays(self, clause: Clause) -> bool:
        """Whether a clause says what stays as it is."""

    def chosen(self) -> Sequence[FilledInput] | None:
        """The files, and where they go; none where a word of the goal says what is not understood, None where
        it speaks of no files."""


class ChosenFiles(NamedTuple):
    """The spans that fill slots; the slots that are filled so, or left empty; where the words stand. stopped:
    a word of the goal says what is not understood, and the files of others would be taken; read: what is left
    out then."""

    spans: tuple[Span, ...] = ()
    slots: frozenset[str] = frozenset()
    read: tuple[TextPlace, ...] = ()
    stopped: bool = False


def chosen_files(request: GoalRequest, skill: Skill, clauses: Clauses) -> ChosenFiles:
    """What a goal chooses of the files here for the inputs of a skill; nothing where it speaks of none."""
    told = _told(request, skill, clauses)
    if told is None:
        return ChosenFiles()
    places = _pairs(told)
    if not places or places[0][0] == STAYS:
        return ChosenFiles(read=tuple(place for _, place in places), stopped=True)
    spans = tuple(span_at(f"slot.{slot}", request.prose, place, _SURE) for slot, place in places if slot)
    filled = {slot for slot, _ in places if slot}
    own = frozenset(slot.name for slot in skill.slots if filled and slot.name in (*filled, *_BESIDE))
    return ChosenFiles(spans, own, tuple(place for slot, place in places if not slot))


def filled_skill(request: GoalRequest, skills: Sequence[Skill], words: CoverageWords) -> Skill | None:
    """The first of some skills of which what stands in the files here says all that it must be told."""
    files, names = request.files, request.files.there
    if _FILLED not in files.found and names is not None:
        whole = Clauses(request.prose, None, words)
        wished = (words.commanded(whole.said(one.place)) for one in whole.all)  # “a.zip can go”
        said = {one for text in wished for one in WORD.findall(_FILE.sub(" ", text.casefold()))}
        for skill in skills:
            reads = names.filler(skill.id) is not None
            many = {slot.name for slot in skill.slots if slot.most > 1}
            uses = files.uses(skill)
            puts = files.changed(skill) or {"folder", "new"} & {*uses.values()}
            if not reads and not (many and puts and said & _verbs(skill)):
                continue
            clauses = Clauses(request.prose, skill, words)
            read = _told(request, skill, clauses) or ()
            told = {one.partition("=")[0] for one in read}
            placed = any(uses.get(one) == "folder" for one in told) and not clauses.wishes(())
            kept = () if reads or placed else [one for one in files.found if one.partition("=")[0] in many]
            needed = {slot.name for slot in skill.slots if slot.required} | (set() if reads else many)
            if (
                (needed or (f"{_READ}{skill.id}" in files.found and any(told)))
                and told >= needed
                and not _of_another_wish(read, clauses, uses)
                and not _unsure(request, read, clauses)
                and not any("" in files.found[one] for one in kept)
            ):
                files.found[_FILLED] = (skill.id,)
                break
    return next((one for one in skills if (one.id,) == files.found.get(_FILLED)), None)


def _unsure(request: GoalRequest, told: Sequence[str], clauses: Clauses) -> bool:
    """Whether a person has to say which of what plug-ins found fills a slot."""
    said = (f"{slot}={clauses.said(place)}" for slot, place in _pairs(told))
    return any("" in request.files.found.get(one, ()) for one in said)


def _of_another_wish(told: Sequence[str], clauses: Clauses, uses: Mapping[str, str]) -> bool:
    """Whether words that are to fill a slot, or stand beside it, say a further wish: one behind the first.
    That is none if one of both says what it is done to, and the other where that goes: "make a folder x and
    put the songs there", "put the songs in a folder of their own, call it x"."""
    further = _further(clauses)
    places = [(uses.get(slot, ""), within(place, further)) for slot, place in _pairs(told) if slot]
    goes = {behind for use, behind in places if use == "folder"}
    taken = {behind for use, behind in places if use == "there"}
    together = len(goes) == len(taken) == 1 and goes != taken
    return not together and any(within(place, further) for _, place in _pairs(told))


def _further(clauses: Clauses, inputs: Sequence[TextPlace] = ()) -> list[TextPlace]:
    """The wishes behind the first clause that wants something; what only says where the result goes, which is
    one of the inputs, is none."""
    first = next((one.place.start for one in clauses.all if clauses.does(one)), 0)
    return [one for one in clauses.wishes((), (), inputs) if one.start > first]


def _says_of_what(wish: TextPlace, clauses: Clauses) -> bool:
    """Whether a wish is more than a verb: "pls fix" says nothing of its own."""
    return any(not clauses.words.is_verb(one) for one in clauses.content(wish, clauses.filler))


def _verbs(skill: Skill) -> set[str]:
    """The words that fixed phrases of a skill begin with."""
    firsts = (first for phrase in skill.phrases for first in phrase.split()[:1])
    return {word for first in firsts for word in first.split("|") if "{" not in word}


def _pairs(told: Sequence[str]) -> list[tuple[str, TextPlace]]:
    """The slots that are told, each with the place of its words."""
    pairs = (one.partition("=") for one in told)
    return [(slot, TextPlace(*map(int, place.split("-")))) for slot, _, place in pairs]


def _told(request: GoalRequest, skill: Skill, clauses: Clauses) -> tuple[str, ...] | None:
    """The slots that plug-ins fill, each with the place of its words, as they are kept: read once."""
    key, found = f"@chosen={skill.id}", request.files.found
    if key not in found and (filled := _read(request, skill, clauses)) is not None:
        for one in filled:
            if one.slot and one.slot != STAYS and not one.plain:
                found[f"{one.slot}={clauses.said(one.place)}"] = ("",) * one.unsure + one.values
        found[key] = tuple(f"{one.slot}={one.place.start}-{one.place.end}" for one in filled)
    return found.get(key)


def _read(request: GoalRequest, skill: Skill, clauses: Clauses) -> Sequence[FilledInput] | None:
    names = request.files.there
    if names is None:
        return None
    chooser, filler = names.chooser(request, skill, clauses), names.filler(skill.id)
    if filler is not None and not (request.slots or request.answers):
        said = [_said(one, clauses, chooser) for one in clauses.all]
        filled = filler(request.prose, said, names)
        further = _further(clauses, [one.place for one in filled if one.values])
        wishes = [one for one in further if _says_of_what(one, clauses)]
        takes = [one.place for one in filled if one.slot and one.values]
        wishes = [one for one in wishes if not any(within(place, [one]) for place in takes)]
        if wishes and (not takes or any(within(one.place, wishes) for one in filled)):
            # What a further wish says may hide what the first does, or be understood beside it.
            first = clauses.ended(TextPlace(0, wishes[0].start)).end
            before = [one for one in said if one.place.start < first]
            filled = filler(request.prose[:first], before, names) or filled
        if filled:
            request.files.found[f"{_READ}{skill.id}"] = (skill.id,)
            return filled
    if chooser is None:
        return None
    pointing = clauses.words.pointing
    into = [one for one in _further(clauses) if pointing.puts_there(clauses.said(one))]
    if into:  # "copy a to x, and put a copy of b there too": where the first says both, b is another's
        prose = request.prose[: clauses.ended(TextPlace(0, into[0].start)).end]
        part = names.chooser(replace(request, prose=prose), skill, Clauses(prose, skill, clauses.words))
        alone = part.chosen() if part is not None else None
        uses = request.files.uses(skill)
        if {"there", "folder"} <= {uses.get(one.slot, "") for one in alone or () if one.values}:
            return alone
    return chooser.chosen()


def _said(clause: Clause, clauses: Clauses, chooser: Chooser | None) -> SaidClause:
    stays = chooser is not None and chooser.stays(clause)
    keeps = stays or clauses.words.forbids(clauses.said(clause.place))
    return SaidClause(clause.place, clauses.does(clause), keeps)
