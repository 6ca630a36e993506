"""Stage 2, where it is not clear for which skill a goal is: what else of it, or of the files here, speaks for
one. The first of `PROPOSALS` that says something counts."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeAlias

from mcl.compiler.stages.classify import Classified, OutOfScope, classify
from mcl.compiler.stages.clauses import TIDY, Clause, Clauses
from mcl.compiler.stages.file_names import edits
from mcl.compiler.stages.filled import filled_skill
from mcl.compiler.stages.request import GoalRequest
from mcl.compiler.stages.rules import Rules
from mcl.language.skills import Skill, Skills
from mcl.model.cues import TextPlace
from mcl.model.protocol import Model, takes_all

_HEARD: Final = 0.005  # how sure a choice by what a file holds must be
_SAID: Final = 0.2  # and one by its verb
_LIKE: Final = 0.05  # and by words that say no more than what may be left out
_LIKELY: Final = 0.5  # and by the name of a file
_FEW: Final = 2  # words of what only sums up
_COLON: Final = re.compile(r":\s")
_LINES: Final = re.compile(r":[ \t]*\n")  # behind it stands a text in any case

Found: TypeAlias = Classified | OutOfScope


@dataclass(frozen=True)
class Choosing:
    """A goal whose skill is chosen: among which, by whom, by which rules."""

    request: GoalRequest
    skills: Skills
    model: Model
    rules: Rules

    @cached_property
    def clauses(self) -> Clauses:
        """Those of the goal, for no skill."""
        return Clauses(self.request.prose, None, self.rules.coverage)

    def by_model(self, prose: str) -> Found:
        """What is chosen for other words."""
        return classify(replace(self.request, prose=prose), self.skills, self.model, self.rules)

    def by_itself(self, prose: str) -> Found:
        """What is meant by a part of the goal, as if no more was said."""
        with self.request.files.beside(prose) as files:
            part = replace(self, request=replace(self.request, prose=prose, files=files))
            return settled(part, part.by_model(prose))

    def is_doubtful(self, found: Classified) -> bool:
        """Whether a person has to be asked which skill is meant."""
        return self.rules.routing(found.skill_probability).route == "clarify"

    def is_sure(self, found: Found) -> bool:
        """Whether a skill was chosen, and needs no look."""
        share = found.skill_probability if isinstance(found, Classified) else 0.0
        return _skill(found) is not None and self.rules.routing(share).route == "compiled"

    def taken(self, skill: Skill, found: Found) -> Classified:
        """A skill that speaks for itself, as it is chosen for the goal."""
        chosen = classify(replace(self.request, skill=skill.id), self.skills, self.model, self.rules)
        assert isinstance(chosen, Classified), "a skill that is given is chosen"
        share = dict(found.shares).get(skill.id, 0.0)
        return replace(chosen, shares=found.shares, skill_probability=max(share, _LIKELY))

    def ranked(self, found: Found, least: float) -> list[Skill]:
        """The skills whose shares are at least so much, the likeliest first; none that gives way here."""
        near = (self.skills.get(id) for id, share in found.shares if share >= least)
        wanted, answers = [one for one in near if one and not one.takes_any], self.request.files.answering
        return [one for one in wanted if not (one.gives_way and answers(self.request.prose))]


def settled(choosing: Choosing, found: Found) -> Found:
    """What was found, or what is meant instead. What a person fixed stays."""
    if choosing.request.skill:
        return found
    proposed = ((propose, propose(choosing, found)) for propose in PROPOSALS)
    how, chosen = next(((how, one) for how, one in proposed if one is not None), (None, found))
    found = chosen if how is _by_filled_first else _before_later(choosing, chosen) or chosen
    return _beyond(choosing, found) or found


def _skill(found: Found) -> Skill | None:
    """The skill that was chosen; None where that is one for any goal."""
    return found.skill if isinstance(found, Classified) and not found.skill.takes_any else None


def _by_filled(choosing: Choosing, found: Found) -> Classified | None:
    """The skill whose inputs what stands in the files here says; beside one that takes a goal as it was said,
    and that no file answers, also one that is not near."""
    own, main, files = _skill(found), choosing.clauses.main, choosing.request.files
    every, heard, sure = choosing.ranked(found, 0.0), dict(found.shares), choosing.is_sure(found)
    least = _HEARD if own is not None else 0.0
    # What is put into a folder makes it: "new folder x, move the songs in there".
    sure = sure and not (own is not None and {*files.uses(own)} == {"folders"})
    near = [one for one in every if not sure and heard[one.id] >= least]
    reads = files.there.filler if files.there is not None else lambda _: None
    reading = own is not None and (own.takes_goal or edits(own)) and reads(own.id) is not None
    if own is not None and reading and any(map(choosing.clauses.does, choosing.clauses.all)):
        # What seems to be read, or added to, may be changed.
        others = (one for one in every if edits(one) or one.takes_goal)
        near += [own, *(one for one in others if reads(one.id))]
    uses = files.uses(own) if own is not None else {}
    several = own is not None and any(one.most > 1 and uses.get(one.name) == "there" for one in own.slots)
    makes_one = several and "new" in uses.values() and files.there is not None
    if own is not None and makes_one and reads(own.id) is None:
        # What puts files together may put their rows together.
        makes = (one for one in every if "new" in files.uses(one).values())
        near = [*(one for one in makes if one.id != own.id and reads(one.id)), *near]
    asks = own is None or not own.takes_goal or main is None or _says(choosing, own, main)
    if not (asks or files.there is None or files.answering(choosing.request.prose)):
        near += [one for one in every if reads(one.id)]
    # What is asked of files that are named comes before what is asked of all there is.
    of_files = [one for one in every if one.takes_goal and files.uses(one)]
    near = [*(one for one in of_files if reads(one.id) and not sure), *near]
    # What was chosen, and reads all that it must be told, does not give way to a file.
    near += [own] if own is not None and own.gives_way and reads(own.id) and own not in near else []
    # Words alone that fill what may be left out say little for a skill that nothing else speaks for.
    near = [
        one
        for one in near
        if heard.get(one.id, 0.0) >= _LIKE or any(slot.required or slot.most > 1 for slot in one.slots)
    ]
    if any(files.only_look(one.tools) for one in near) and files.answering(choosing.request.prose):
        # What a file that is here answers is not looked for elsewhere.
        near = [one for one in near if one.takes_goal or heard.get(one.id, 0.0) >= _SAID or edits(one)]
    skill = filled_skill(choosing.request, near, choosing.rules.coverage)
    return choosing.taken(skill, found) if skill is not None else None


def _by_filled_first(choosing: Choosing, found: Found) -> Classified | None:
    """The skill whose inputs the files say of the first wish of several, with what is told before it: "milk
    is on the list twice, take one off, and add butter"."""
    clauses, begins = choosing.clauses, found.begins if isinstance(found, Classified) else ()
    main = clauses.main
    later = [one for one in clauses.wishes(begins) if main and one.start > main.place.start]
    if not later or main is None or not clauses.does(main) or main is clauses.all[0]:
        return None
    prose = clauses.said(clauses.ended(TextPlace(0, later[0].start)))
    with choosing.request.files.beside(prose) as files:
        part = replace(choosing, request=replace(choosing.request, prose=prose, files=files))
        first = _by_filled(part, part.by_model(prose)) or _by_filled(part, found)
    return replace(first, begins=begins) if first is not None else None


def _by_question(choosing: Choosing, found: Found) -> Classified | None:
    """What is chosen for the question of a goal alone, which wants nothing done, where that only looks: what
    is told beside it takes nothing away."""
    skill, clauses, looks = _skill(found), choosing.clauses, choosing.request.files.only_look
    if skill is None or clauses.main is None or looks(skill.tools) or any(map(clauses.does, clauses.all)):
        return None
    question, answering = clauses.said(clauses.main.place), choosing.request.files.answering
    if skill.takes_goal and answering(choosing.request.prose):
        return None
    if choosing.rules.coverage.questions.match(question) is None:
        return None
    asked = choosing.by_model(question)
    if not isinstance(asked, Classified) or not looks(asked.skill.tools):
        return None
    return None if asked.skill.gives_way and answering(choosing.request.prose) else asked


def _by_answering_file(choosing: Choosing, found: Found) -> Classified | None:
    """The skill that takes a goal as it was said, where what a file that is here holds answers it, and no
    verb says that more is wanted."""
    request, own = choosing.request, _skill(found)
    firm = own is not None and not own.gives_way
    if (firm and choosing.is_sure(found)) or not request.files.answering(request.prose):
        return None
    skill = next((one for one in choosing.skills if one.takes_goal and request.files.reads(one)), None)
    main = choosing.clauses.main
    if skill is None or (own and firm and _says(choosing, own, main) and not _says(choosing, skill, main)):
        return None
    return choosing.taken(skill, found)


def _by_name_of_file(choosing: Choosing, found: Found) -> Classified | None:
    """The skill that reads a file which a goal for no skill calls by another name."""
    request = choosing.request
    prose = request.files.reworded(request.prose) if _skill(found) is None else ""
    chosen = choosing.by_model(prose) if prose else None
    if not isinstance(chosen, Classified) or chosen.skill_probability < _LIKELY:
        return None
    return replace(chosen, begins=()) if _skill(chosen) and request.files.reads(chosen.skill) else None


def _by_first_wish(choosing: Choosing, found: Found) -> Classified | None:
    """What is chosen for the first wish of a goal alone, where the goal as a whole makes it less sure."""
    clauses, pointing = choosing.clauses, choosing.rules.coverage.pointing
    prose, whole = choosing.request.prose, isinstance(found, Classified) and found.skill.takes_goal
    spoken, told = pointing.conditional(prose) or any(pointing.found(prose)), _told_before(clauses)
    if choosing.is_sure(found) and (whole or not spoken or told):
        return None
    sure, begins = (found.skill_probability, found.begins) if isinstance(found, Classified) else (0.0, ())
    wishes, main = clauses.wishes(begins), clauses.main
    # What only tells how things are, before what is wanted, says little of what that is.
    led = main is not None and not any(pointing.found(clauses.said(main.place)))
    begun = (one for one in clauses.all if clauses.does(one) and (one is main if led else one.begins))
    start = next((one.place.start for one in begun), 0)
    end = next((one.start for one in wishes if one.start > max(start, told)), len(prose))
    told_behind = _told_behind(clauses) if _skill(found) is None else len(prose)
    first = clauses.ended(TextPlace(start, min(end, told_behind)))
    if not (wishes or start or told_behind < len(prose)) or first.end <= first.start:
        return None
    chosen = choosing.by_model(clauses.said(first))
    if not isinstance(chosen, Classified) or (_skill(chosen) is None and isinstance(found, Classified)):
        return None  # what is told first is for no skill; what is wanted behind it may be
    # What would do it all leaves out on what the rest depends, or what is to be done with what it finds.
    said, share = [clauses.said(one) for one in wishes], chosen.skill_probability
    held = any(map(pointing.conditional, said))
    held = held or (takes_all(choosing.model) and any(any(pointing.found(one)) for one in said))
    held = held and _skill(chosen) is not None and not choosing.is_doubtful(chosen)
    return replace(chosen, begins=begins) if share > sure or held else None


def _before_later(choosing: Choosing, found: Found) -> Classified | None:
    """The skill of the first wish of several, which does something, where the goal was taken for one of the
    others: that would leave it undone."""
    clauses, skill = choosing.clauses, _skill(found)
    main, begins = clauses.main, found.begins if isinstance(found, Classified) else ()
    if skill is None or main is None or not clauses.does(main):
        return None
    if skill.takes_goal and filled_skill(choosing.request, (skill,), choosing.rules.coverage) is skill:
        return None  # its reader read all of it
    later = [one for one in clauses.wishes(begins) if one.start > main.place.start]
    if not later or _sums_up(clauses, main):
        return None
    words = clauses.said(clauses.ended(TextPlace(main.place.start, later[0].start)))
    first, looks = choosing.by_itself(words), choosing.request.files.only_look
    changes = (own := _skill(first)) is not None and not looks(own.tools)
    if skill.takes_goal and not changes and not choosing.is_sure(choosing.by_model(words)):
        return None  # a question of several parts
    if _skill(first) in (None, skill) or not isinstance(first, Classified) or choosing.is_doubtful(first):
        return None
    sure, known, files = choosing.is_sure(first), choosing.is_sure(found), choosing.request.files
    others = [_skill(choosing.by_model(clauses.said(one))) for one in later]
    if first.skill.takes_goal or files.only_look(first.skill.tools):
        # What only looks may say of what the next is done: "find those of May, copy them and zip the folder".
        return replace(first, begins=begins) if skill not in others[:1] and skill in others else None
    if "folder" in files.uses(skill).values() and {*files.uses(first.skill)} == {"folders"}:
        return None  # "make a folder x and move them there": what is moved there makes it
    meant = (sure and not known) or (skill in others and (sure or not known or not skill.takes_goal))
    meant = meant or (changes and skill in others and looks(skill.tools))  # what asks would change nothing
    # "copy them to x and make a zip of it": the verb says of which it is
    meant = meant or (changes and _says(choosing, first.skill, main) and not _says(choosing, skill, main))
    return replace(first, begins=begins) if meant else None


def _sums_up(clauses: Clauses, main: Clause) -> bool:
    """Whether a first clause only sums up what the next says: "tidy downloads, the old ones can go"."""
    at = clauses.all.index(main)
    behind = clauses.all[at + 1] if at + 1 < len(clauses.all) else None
    few = len(list(clauses.content(main.place, clauses.filler))) <= _FEW
    return few and behind is not None and not behind.joined and clauses.head(main) in clauses.words.summing


def _told_before(clauses: Clauses) -> int:
    """Where the first clause with a verb begins, before which the goal only tells of what it points at: "the
    mp3s are in the wrong place, move them"."""
    wish = next(filter(clauses.does, clauses.all), None)
    if wish is None or not any(clauses.words.pointing.found(clauses.said(wish.place))):
        return 0
    before = clauses.prose[: wish.place.start]
    joined = clauses.words.joined.search(clauses.prose, len(before.rstrip(TIDY)), wish.place.start)
    return 0 if "?" in before or joined is not None else wish.place.start


def _told_behind(clauses: Clauses) -> int:
    """Where the sentences begin, behind that of the last wish, in which nothing is wanted."""
    last = max((one.place.start for one in clauses.all if clauses.does(one)), default=len(clauses.prose))
    behind = (one for one in clauses.all if one.begins and one.place.start > last)
    return next((one.place.start for one in behind), len(clauses.prose))


def _by_verb(choosing: Choosing, found: Found) -> Classified | None:
    """The skill that says the verb of a goal of itself which seems to be for no skill."""
    wish = next(filter(choosing.clauses.does, choosing.clauses.all), None)
    near = choosing.ranked(found, _SAID) if _skill(found) is None else ()
    skill = next((one for one in near if _says(choosing, one, wish)), None)
    return choosing.taken(skill, found) if skill is not None else None


def _by_looking(choosing: Choosing, found: Found) -> Classified | None:
    """What was chosen in doubt, where most of what may be meant only looks: it may be tried, and is read with
    care."""
    skills, looks = choosing.skills, choosing.request.files.only_look
    own = _skill(found)
    if (
        own is None
        or not isinstance(found, Classified)
        or not (choosing.is_doubtful(found) and looks(own.tools))
    ):
        return None
    share = sum(
        p for id, p in found.shares if (one := skills.get(id)) and not one.takes_any and looks(one.tools)
    )
    return replace(found, skill_probability=_LIKELY) if share >= _LIKELY else None


def _says(choosing: Choosing, skill: Skill, clause: Clause | None) -> bool:
    """Whether something that a skill says of itself begins with the verb of a clause, which says what is done
    and not where it goes."""
    words = choosing.rules.coverage
    verb = choosing.clauses.head(clause) if clause is not None and choosing.clauses.does(clause) else ""
    texts = (*skill.examples, *skill.phrases)
    begins = (first.split("|") for text in texts for first in text.casefold().split()[:1])
    return verb not in {"", *words.placing, *words.leading} and any(verb in one for one in begins)


def _beyond(choosing: Choosing, found: Found) -> OutOfScope | None:
    """The refusal of a goal that wants first what nothing here can do."""
    prose, known, clauses = choosing.request.prose, choosing.rules.beyond, choosing.clauses
    if not any(words.search(prose) for words in known.values()):
        return None
    kind, main = "", clauses.main
    # "phone Per and tell him": what its sentence begins with counts too.
    starts = [one.place.start for one in clauses.all if main and one.begins and one.place <= main.place]
    begin = max(starts, default=None)
    for clause in clauses.all:
        if (_COLON if choosing.is_sure(found) else _LINES).search(prose, 0, clause.place.start):
            break  # what follows is a text, and no wish
        if clause is main or (begin is not None and clause.begins and clause.place.start >= begin):
            start, said = clause.place.start, clauses.said(clause.place)
            told = clause is not main and clause.place.start == begin and clauses.words.tells(said)
            heard = () if told else known.items()
            kind = next((name for name, words in heard if words.match(prose, start)), "")
            if kind or clauses.does(clause):
                break
    skill = found.skill if isinstance(found, Classified) else None
    own = (*skill.examples, *skill.phrases) if skill is not None else ()
    if not kind or any(map(known[kind].match, own)):
        return None
    return OutOfScope((), found.shares, kind)


PROPOSALS: Final[tuple[Callable[[Choosing, Found], Classified | None], ...]] = (
    _by_filled_first, _by_filled, _by_question, _by_answering_file, _by_name_of_file, _by_first_wish,
    _by_verb, _by_looking,
)  # fmt: skip
