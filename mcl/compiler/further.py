"""Further wishes of a goal: each is compiled by itself, for its own skill, and is part of the same Intent.

What one is given by an earlier one ("copy them", "if there are more than 3"), is bound to the last that gives
what its skill takes. One that cannot be understood so stays open, and is asked about.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ir import Frame, FurtherWish, Given, Intent, SpanMark, WishCondition
from mcl.compiler.outcome import Clarify, Compiled, Outcome
from mcl.compiler.stages.clauses import Clauses
from mcl.compiler.stages.coverage_words import CoverageWords
from mcl.compiler.stages.file_names import PLAIN, FileReading
from mcl.compiler.stages.frame_draft import Extraction
from mcl.compiler.stages.pointing import SaidCondition
from mcl.compiler.stages.request import GoalRequest
from mcl.compiler.stages.signoff import FIELD as PROMISE
from mcl.compiler.wish_scopes import scope_of
from mcl.core.errors import SkillError
from mcl.core.words import TRUTH
from mcl.language.bm25 import stems
from mcl.language.plans.planner import KnownTools, outputs_of
from mcl.language.skills import Skill, Skills, Slot
from mcl.model.cues import TextPlace

_MOST: Final = 4  # wishes of one goal that are compiled: of a goal of a thousand clauses nobody wants a plan
_LISTS: Final = {"file": "files", "text": "list", "number": "list"}  # what is given for each member of a list
# What an input takes that wants one of these, best first.
_TAKEN: Final[Mapping[str, tuple[str, ...]]] = {
    "file": ("file", "files"),
    "files": ("files", "file"),
    "text": ("text", "number"),
    "rows": ("rows",),
    "list": ("list", "files", "text"),
    "number": ("number",),
}
_ENDING: Final = re.compile(r"\*\.(\w{1,8})")
_COUNTED: Final = ("files", "rows", "list", "number")
_SAME, _INTO = "@same=", "@into="
_FOLDERS: Final = ("folder", "folders")  # inputs that are folders, whatever is done there
_FILE: Final = re.compile(r"\.\w{1,8}$")  # how the name of a file ends that is not there yet
_TELLS: Final = r"(?=[:\"“«]\s?)"  # before a text that is told to the letter
_STANDS: Final = {"uint": "1", "float": "1"}  # for what is not known yet, by the type of its slot


@dataclass(frozen=True)
class Giver:
    """A wish as later ones may refer to it. kinds: what each of its outputs is; intent: what its skill plans;
    when: under what it is done."""

    kinds: Mapping[str, str]
    skill: Skill
    intent: Intent
    when: WishCondition | None = None


@dataclass(frozen=True)
class WishContext:
    """What wishes are compiled with. tools: makes the installed ones. compares: whether the model can say of
    words that none of the skills is for them. run: compiles a goal, for one of some skills; (): of all."""

    request: GoalRequest
    skills: Skills
    words: CoverageWords
    tools: "Callable[[], KnownTools] | None"
    compares: bool
    run: Callable[[GoalRequest, Sequence[Skill]], Outcome]


def with_wishes(read: Extraction, skill: Skill, context: WishContext) -> Extraction:
    """What was read in a goal, with those of its further wishes that can be done, or handed on, with it.

    skill: of the first.
    """
    request = context.request
    clauses = Clauses(request.prose, skill, context.words)
    givers: list[Giver | None] = [_giver(skill, _draft(request, read.frame))]
    for place in read.wishes if len(read.wishes) <= _MOST else ():
        made = _Wish(place, clauses, givers, context, skill).made(read.frame)
        if made is None:
            givers.append(None)  # what it would give is not known: nothing behind it is bound past it
            continue
        read = _with(read, made, place, context.words)
        givers.append(made.giver)
    return read


@dataclass(frozen=True)
class _Made:
    """A wish that was understood. at: where the words of what is wanted stand, without its condition."""

    wish: FurtherWish
    outcome: Compiled
    at: TextPlace
    giver: Giver


@dataclass(frozen=True)
class _Wish:
    """A wish while it is compiled; givers: those before it, None for one that stays open; first: the skill of
    the first of all."""

    place: TextPlace
    clauses: Clauses
    givers: Sequence[Giver | None]
    context: WishContext
    first: Skill

    def made(self, frame: Frame) -> _Made | None:
        """The wish, None where it stays open. frame: of the goal, as far as it was read."""
        pointing, whole = self.context.words.pointing, self.clauses.said(self.place)
        condition, rest = pointing.apart(whole, self.clauses.clause_starts(self.place))
        at = TextPlace(self.place.start + rest.start, self.place.start + rest.end)
        said = self.clauses.said(at)
        if condition is None:
            condition, said = pointing.inside(said)
        when = self._condition(condition, whole) if condition is not None else None
        if condition is not None and when is None:
            return None
        said = pointing.last.sub("", self.context.words.commanded(said))
        if adverb := pointing.adverb.match(said):
            said = f"{adverb[1]}{said[adverb.end() :]}"
        named = self._named(said)
        asked = replace(
            self.context.request,
            prose=named,
            files=self._files(named),
            skill="", verb="", slots={}, answers={}, changes=(), extensions=(),
        )  # fmt: skip
        outcome, given = self._given(self.context.run(asked, ()), asked)
        if not given:
            outcome = self._with_same(outcome, asked)
            asked, outcome = self._with_text(asked, outcome)
        if not isinstance(outcome, Compiled) or not _goes_with(outcome, frame):
            return None
        slots = {one.slot for one in given}
        skill = _skill_of(outcome, self.context.skills)
        if skill is not None and self._is_gone(skill, outcome):
            return None  # what was moved, or taken away, by then is not there
        if skill is not None and self._guessed(outcome) and self._removes(skill) and asked.prose != whole:
            return None  # what is taken away is said, and not guessed
        # The words that point fill one input; in another that might take them they say nothing more.
        takes = {name for name, _ in skill.given} if skill is not None and given else set()
        folder = self._place_of(folder=True, most=1).rstrip("/") if asked.prose != said else ""
        uses = self.context.request.files.uses(skill) if skill is not None else {}
        objects = tuple(
            one.model_copy(update={"value": folder})
            if one.name in uses and _ends_with(one.value, folder)
            else one
            for one in outcome.intent.frame.objects
            if one.name not in slots and not (one.name in takes and self._is_empty(one.value))
        )
        asked_so = skill is not None and skill.takes_goal  # all of the wish is what it is asked
        empty = (self._is_empty(one.value) or self._is_whole(one.value, asked.prose) for one in objects)
        if not asked_so and any(empty):
            return None
        # Where nothing here does the first either, whoever is handed the Intent does all of it.
        if (given or when or self.first.does_goals) and not _is_done(outcome, self.context.skills):
            return None
        when = self._inherited(when, given)
        if when is None and any(self._giver(one.wish).when for one in given):
            return None  # it would depend on two conditions
        plan = outcome.plan
        ref = plan.skill_ref if plan is not None and not plan.grammar else ""
        each = next((one for one in given if one.each), None)
        # Which files these are is not known when it is signed; where they may lie, and what is done, is.
        listed = each or next(
            (one for one in given if self._giver(one.wish).kinds[one.output] == "files"), None
        )
        if when is None and listed is not None and not listed.each:  # of no files there is nothing to do
            when = WishCondition(wish=listed.wish, output=listed.output, test="not_empty")
        scope = ""
        if listed is not None and skill is not None:
            source = self._giver(listed.wish)
            tools = self.context.tools() if self.context.tools is not None else None
            scope = scope_of(skill, outcome.intent, frozenset(slots), source.skill, source.intent, tools)
        wish = FurtherWish(
            prose=whole,
            verb=outcome.intent.frame.verb,
            objects=objects,
            skill_ref=ref,
            given=given,
            when=when,
            scope_uri=scope,
        )
        return _Made(wish, outcome, at, self._as_giver(skill, outcome, when, each=each is not None))

    def _files(self, words: str) -> FileReading:
        """The files here, with those of what earlier wishes make that the words of a wish speak of."""
        files = self.context.request.files
        made = _paths_made(filter(None, self.givers), files)
        said = {path for path in made if re.search(rf"(?<![\w./-]){re.escape(path)}(?![\w-])", words)}
        return files.after({path: of for path, of in made.items() if {path, path.rpartition("/")[0]} & said})

    def _as_giver(
        self, skill: Skill | None, outcome: Compiled, when: WishCondition | None, *, each: bool
    ) -> Giver:
        kinds = _kinds(skill, outcome.intent) if skill is not None else {}
        if each:
            kinds = {name: _LISTS[kind] for name, kind in kinds.items() if kind in _LISTS}
        return Giver(kinds, skill or self.first, outcome.intent, when)

    def _giver(self, place: int) -> Giver:
        found = self.givers[place]
        assert found is not None, "what is bound was understood"
        return found

    def _latest(self) -> Iterator[tuple[int, Giver]]:
        """The wishes before it, the last first, down to one that stays open."""
        for place in reversed(range(len(self.givers))):
            giver = self.givers[place]
            if giver is None:
                return
            yield place, giver

    # ---- on what it depends

    def _condition(self, said: SaidCondition, whole: str) -> WishCondition | None:
        kinds = _COUNTED if said.counts else (TRUTH if said.test == "equals" else "text",)
        kinds = (*kinds, "text", "file") if said.test in ("empty", "not_empty") else kinds
        words = whole[said.place.start : said.place.end]
        for place, giver in self._latest():
            for kind in kinds:
                for name, its in giver.kinds.items():
                    if its == kind and (kind != "number" or said.test not in ("empty", "not_empty")):
                        return WishCondition(
                            wish=place, output=name, test=said.test, value=said.value, words=words
                        )
        return None

    def _inherited(self, when: WishCondition | None, given: Sequence[Given]) -> WishCondition | None:
        """What is given by a wish that may not be done is done under the same; None where both differ."""
        held = [own for one in given if (own := self._giver(one.wish).when) is not None]
        if when is not None:
            return when if all(_alike(one, when) for one in held) else None
        return held[0] if held and all(_alike(one, held[0]) for one in held) else None

    # ---- what it is given

    def _given(self, outcome: Outcome, asked: GoalRequest) -> tuple[Outcome, tuple[Given, ...]]:
        """The wish compiled again, where its words point at what an earlier one gives; and what that is."""
        words = self._pointing(asked.prose)
        pointing, named, skill = self.context.words.pointing, "", _skill_of(outcome, self.context.skills)
        whole = True  # was it chosen among all skills?
        if pointing.originals.search(asked.prose):
            return outcome, ()  # what it was made of is no output of it
        if skill is None or not skill.given or pointing.answer.search(asked.prose):
            # What points at something is for a skill that takes it, and says little without its noun.
            named = pointing.named(asked.prose, self._there())
            fitting = self._fitting() if named and self.context.compares else []
            taking = self.context.run(replace(asked, prose=named), fitting) if fitting else outcome
            other = _skill_of(taking, self.context.skills)
            plain = skill is not None and not skill.takes_any and _speaks_of(skill, asked.prose)
            if (other is not None and other.given) or not plain:  # "tag it v1": that is no tag of a text
                outcome, skill, whole = taking, other, not fitting
        if skill is None or not skill.given or not _sure(outcome, skill):
            return outcome, ()
        if not (_speaks_of(skill, asked.prose) or (whole and self.context.compares and _is_certain(outcome))):
            return outcome, ()  # words that point at something say little: nothing is done on a guess
        assert isinstance(outcome, Compiled | Clarify), "only these have a skill"
        nouns = (*words, *self._pointing(named))
        slots = {slot.name: slot for slot in skill.slots}
        names = tuple(dict.fromkeys(name for name, _ in skill.given))
        # What needs no turn for each comes first: one mail with what was found, not a mail for each.
        for slot, each in ((name, each) for each in (False, True) for name in names):
            own = [one.value for one in outcome.intent.frame.objects if one.name == slot]
            said = [one for one in own if one not in slots[slot].default]
            # What a model marks may be the noun alone: "files" of "the files".
            pointed = [
                one for one in said if self._is_empty(one) or any(w.endswith(f" {one}") for w in nouns)
            ]
            if said and len(pointed) < len(said):
                continue
            if not (pointed or words or slots[slot].required):
                continue
            spoken = (pointed or words or [""])[0]
            kinds = [kind for name, kind in skill.given if name == slot]
            one, several = pointing.means_one(spoken), spoken.casefold() in pointing.plural
            output = pointing.answers(asked.prose)
            found = self._bound(slots[slot], kinds, one=one, several=several, each=each, output=output)
            if found is None:
                continue
            found = found.model_copy(update={"words": spoken})
            stands = _STANDS.get(slots[slot].type, spoken or "it")
            again = self.context.run(replace(asked, skill=skill.id, slots={slot: stands}), ())
            return again, (found,)
        return outcome, ()

    def _pointing(self, words: str) -> list[str]:
        """The words of a wish that point at something."""
        return [words[one.start : one.end] for one in self.context.words.pointing.found(words)]

    # ---- what it shares with an earlier one

    def _named(self, words: str) -> str:
        """The words of a wish with the folder or file of an earlier one where they point at it, or call it by
        its name alone: it may not be there yet."""
        pointing, found = self.context.words.pointing, self.context.request.files.found
        key = f"{_INTO}{words}"
        wish, *text = re.split(_TELLS, words, maxsplit=1)
        if key not in found:
            for _, giver in self._latest():
                folder = self._of_giver(giver, folder=True, most=1)
                made = _paths_made([giver], self.context.request.files)
                file = next(filter(_FILE.search, made), "")
                said = pointing.into(wish, folder, file) if folder or file else ""
                own = {one.value for one in giver.intent.frame.objects if _FILE.search(one.value)}
                said = said or pointing.with_ending(wish, sorted(own))
                if said != wish:
                    found[key] = ("".join((said, *text)),)
                    break
        return found.get(key, (words,))[0]

    def _with_same(self, outcome: Outcome, asked: GoalRequest) -> Outcome:
        """The wish compiled again, with the files and folders of an earlier one where its words only point at
        them, or say none: "add butter to shopping.txt and take off bananas"."""
        key, found = f"{_SAME}{asked.prose}", self.context.request.files.found
        if key not in found:
            found[key] = self._tried(outcome, asked)
        prose, name, *values = found[key] or (asked.prose, "")
        if not name:
            return outcome
        slots = {slot: text for slot, _, text in (one.partition("=") for one in values)}
        again = self.context.run(replace(asked, prose=prose, skill=name, slots=slots), ())
        if not isinstance(again, Compiled):
            return outcome
        pointed = any(self.context.words.pointing.found(asked.prose))
        return replace(again, review=again.review or not pointed)

    def _with_text(self, asked: GoalRequest, outcome: Outcome) -> tuple[GoalRequest, Outcome]:
        """The wish compiled again with the text of an earlier one where its words only point at that: "put
        tea on the list and remind me about it"; "their newsletter" is the newsletter."""
        objects = outcome.intent.frame.objects if isinstance(outcome, Compiled) else ()
        if not any(self._is_empty(one.value) for one in objects):
            return asked, outcome
        pointing, uses = self.context.words.pointing, self.context.request.files.uses
        texts = (
            one.value
            for _, giver in self._latest()
            for one in giver.intent.frame.objects
            if one.name not in uses(giver.skill) and " " in one.value and one.value in self.clauses.prose
        )
        prose = pointing.owned.sub("", asked.prose, 1)
        if prose == asked.prose and (text := next(texts, "")):
            prose = pointing.pronoun.sub(lambda match: text, asked.prose, 1)
        again = self.context.run(replace(asked, prose=prose), ()) if prose != asked.prose else outcome
        if not isinstance(again, Compiled):
            return asked, outcome
        return replace(asked, prose=prose), replace(again, review=True)

    def _tried(self, outcome: Outcome, asked: GoalRequest) -> tuple[str, ...]:
        """How a wish is compiled with the files of an earlier one: its words, the skill, the inputs that are
        these; () where it is not."""
        skill = _skill_of(outcome, self.context.skills)
        if skill is not None and not skill.takes_any and self._is_plain(skill, outcome, asked.prose):
            same = self._same(skill, outcome, asked.prose)
            slots = tuple(f"{name}={text}" for name, text in same.items())
            asked = replace(asked, skill=skill.id)
            if same and isinstance(self.context.run(replace(asked, slots=same), ()), Compiled):
                return (asked.prose, skill.id, *slots)
        they, looks = self.context.words.pointing.asked.search(asked.prose), self._looks(outcome)
        asks = self._is_asked_whole(outcome, asked) or they or (looks and self._asks_of(asked.prose))
        said = skill is None or not asks or self._names_a_path(outcome, asked)
        if said and skill and not skill.takes_any and not self._is_misread(skill, outcome, asked):
            return ()
        path = self._place_of(folder=False, most=1)
        if they and skill and skill.takes_goal and (slot := self._other_file(skill, outcome, path)):
            return (asked.prose, skill.id, f"{slot}={path}")  # "hours" may be a file, and a column
        answers = skill is not None and skill.takes_goal and not skill.takes_any
        asked, other = replace(asked, skill=""), tuple[str, ...]()
        words = asked.prose if said else self._without_asides(asked.prose)
        for path in filter(None, (self._place_of(folder=one, most=1) for one in (False, True))):
            for lead in self.context.words.pointing.within:
                prose = f"{words} {lead} {path}"
                made = self.context.run(replace(asked, prose=prose, files=self._files(prose)), ())
                skill = _skill_of(made, self.context.skills)
                if skill is None or skill.takes_any or not self._is_plain(skill, made, asked.prose):
                    continue  # words without a file say little: nothing is done on a guess
                takes = skill.takes_goal and said
                if isinstance(made, Compiled) and (takes or self._is_about(skill, made, path)):
                    if skill.takes_goal or not self._asks_of(asked.prose):
                        return (prose, skill.id)
                    other = other or ((prose, skill.id) if looks and not answers else ())
        return other

    def _other_file(self, skill: Skill, made: Outcome, path: str) -> str:
        """The input of a question that took another file than the one which the wish before makes, and that
        is asked of; "" where none did."""
        frame = made.intent.frame if isinstance(made, Compiled) else None
        files = self.context.request.files
        uses, makes = files.uses(skill), _paths_made(filter(None, self.givers), files)
        taken = [one for one in frame.objects if uses.get(one.name) == "there"] if frame else []
        other = [one.name for one in taken if one.value != path and path in makes and _FILE.search(path)]
        return other[0] if len(taken) == 1 and other else ""

    def _without_asides(self, words: str) -> str:
        """A question without what it only tells behind it."""
        clauses = Clauses(words, None, self.context.words)
        aside = self.context.words.aside
        told = next((one for one in clauses.all[1:] if aside.match(clauses.said(one.place))), None)
        return words[: told.place.start].rstrip(" ,;.") if told is not None else words

    def _asks_of(self, words: str) -> bool:
        """Whether a question points at what an earlier wish is about."""
        return bool(self._pointing(words)) or self.context.words.pointing.asked.search(words) is not None

    @staticmethod
    def _is_asked_whole(outcome: Outcome, asked: GoalRequest) -> bool:
        """Whether all of a wish is what a skill is asked."""
        frame = outcome.intent.frame if isinstance(outcome, Compiled) else None
        return frame is not None and any(one.value == asked.prose for one in frame.objects)

    def _names_a_path(self, outcome: Outcome, asked: GoalRequest) -> bool:
        """Whether the words of what is asked name a file or folder, or what they say is in one that is
        here."""
        frame = outcome.intent.frame if isinstance(outcome, Compiled | Clarify) else None
        values = (one.value.rstrip("/") for one in frame.objects) if frame is not None else ()
        names = (one.rpartition("/")[2] for one in values if one != asked.prose)
        spoken = any(re.search(rf"(?<![\w-]){re.escape(one)}(?![\w-])", asked.prose) for one in names if one)
        made = self._asks_of(asked.prose) and any(_paths_made(filter(None, self.givers), asked.files))
        return spoken or bool(not made and asked.files.answering(asked.prose))

    def _is_about(self, skill: Skill, made: Compiled, path: str) -> bool:
        """Whether a wish was read as one about a path, which it does not take away."""
        uses = {*self.context.request.files.uses(skill)} - self._taken(skill)
        return any(one.value == path and one.name in uses for one in made.intent.frame.objects)

    @staticmethod
    def _is_misread(skill: Skill, outcome: Outcome, asked: GoalRequest) -> bool:
        """Whether words were taken for a file that is not there, or nothing came of them."""
        uses, names = asked.files.uses(skill), asked.files.there
        if not isinstance(outcome, Compiled) or names is None:
            return True
        there = [one.value for one in outcome.intent.frame.objects if uses.get(one.name) == "there"]
        return any(not names.has(one) and PLAIN.fullmatch(one) is not None for one in there)

    def _looks(self, outcome: Outcome) -> bool:
        """Whether a wish changes nothing: it may be done for what is likely meant, and whoever signs reads
        it."""
        plan = outcome.plan if isinstance(outcome, Compiled) else None
        calls = [node.tool_call for node, _ in plan.root.walk()] if plan is not None else []
        return self.context.request.files.only_look(one.tool_ref for one in calls if one is not None)

    def _is_plain(self, skill: Skill, outcome: Outcome, words: str) -> bool:
        """Whether there is little doubt that a skill is for a wish."""
        return _speaks_of(skill, words) or _is_certain(outcome) or self._looks(outcome)

    def _same(self, skill: Skill, outcome: Outcome, words: str) -> dict[str, str]:
        """The inputs that take what an earlier wish is about, with it."""
        assert isinstance(outcome, Compiled | Clarify), "only these have a skill"
        nouns, text = self._pointing(words), self.context.words.pointing.nouns["text"]
        pointed = any(one.casefold() not in text for one in nouns)
        uses, same = self.context.request.files.uses(skill), dict[str, str]()
        says = any((one.name, one.value) not in _defaults(skill) for one in outcome.intent.frame.objects)
        looks = self._looks(outcome) and (skill.takes_goal or not says)
        taken = self._taken(skill)
        for slot in sorted(skill.slots, key=lambda one: not one.required):
            own = [one.value for one in outcome.intent.frame.objects if one.name == slot.name]
            said = [
                one
                for one in own
                if (one not in slot.default or one in words)
                and not (self._is_empty(one) or any(noun.endswith(f" {one}") for noun in nouns))
            ]
            if slot.name not in uses or said or (slot.name in taken and not pointed):
                continue
            folder = uses[slot.name] == "folder" or slot.name in _FOLDERS
            if own and not pointed:  # its default would be another file than the one that is spoken of
                value = self._place_of(folder=folder, most=slot.most, named="" if looks else slot.name)
            elif slot.required or (pointed and not same and not skill.takes_goal):
                value = self._place_of(folder=folder, most=slot.most)
            else:
                value = ""
            same |= {slot.name: value} if value else {}
        return same

    def _taken(self, skill: Skill) -> frozenset[str]:
        """The inputs whose files are moved or taken away: none that is not spoken of."""
        changed = self.context.request.files.changed(skill)
        return frozenset(one.name for one in skill.slots if one.most > 1 and changed.get(one.name))

    @staticmethod
    def _guessed(outcome: Compiled) -> bool:
        """Whether a file that is only likely is meant: of several, or beside words that say more."""
        reasons = outcome.reasons
        return outcome.review and reasons is not None and bool(reasons.open or reasons.left_over)

    def _removes(self, skill: Skill) -> bool:
        """Whether a skill takes files away."""
        files, many = self.context.request.files, {one.name for one in skill.slots if one.most > 1}
        written = any(how == "write" and name in many for name, how in files.changed(skill).items())
        return written and not {"new", "folder"} & {*files.uses(skill).values()}

    def _is_gone(self, skill: Skill, outcome: Compiled) -> bool:
        """Whether a wish moves or takes away a file that an earlier one does."""
        changed, gone = self.context.request.files.changed, set[str]()
        for giver in filter(None, self.givers):
            away = {name for name, how in changed(giver.skill).items() if how == "move"}
            away |= {*changed(giver.skill)} if self._removes(giver.skill) else set()
            gone |= {one.value for one in giver.intent.frame.objects if one.name in away}
        own = changed(skill)
        moves = "move" in own.values() or self._removes(skill)
        return moves and any(one.name in own and one.value in gone for one in outcome.intent.frame.objects)

    def _place_of(self, *, folder: bool, most: int, named: str = "") -> str:
        """The files, or the folder, that the last wish with some is about; at most so many. named: only of an
        input that is called so."""
        latest = self._latest()
        found = (self._of_giver(giver, folder=folder, most=most, named=named) for _, giver in latest)
        return next(filter(None, found), "")

    def _of_giver(self, giver: Giver, *, folder: bool, most: int, named: str = "") -> str:
        """The files that a wish is about and leaves where they are, or its folder; "" where there is none.
        Where one file is wanted, that which it makes comes first."""
        files = self.context.request.files
        uses, moved, names = files.uses(giver.skill), files.changed(giver.skill), files.there
        default = _defaults(giver.skill)
        there: dict[str, list[str]] = {}
        objects = giver.intent.frame.objects
        for one in sorted(objects, key=lambda one: most == 1 and uses.get(one.name) == "there"):
            held = uses.get(one.name, "")
            mine = one.name in _FOLDERS or (held == "folder" and not _FILE.search(one.value))
            if held == "there" and not mine and names is not None and not names.has(one.value):
                continue  # it was misread
            if held and mine is folder and (one.name, one.value) not in default:
                there.setdefault(one.name, []).append(one.value)
        fitting = (
            values
            for name, values in there.items()
            if named in ("", name) and len(values) <= most and moved.get(name) != "move"
        )
        values = next(fitting, [])
        return "" if any("," in one for one in values) else ",".join(values)

    def _there(self) -> dict[str, str]:
        """What the last wish gives, each with what is known of it: of files the ending that was asked for."""
        _, giver = next(self._latest(), (0, None))
        if giver is None:
            return {}
        endings = [match[1] for one in giver.intent.frame.objects if (match := _ENDING.fullmatch(one.value))]
        known = endings[0] if endings else ""
        return {kind: known if kind in ("file", "files") else "" for kind in giver.kinds.values()}

    def _fitting(self) -> list[Skill]:
        """The skills that take something of what earlier wishes give, and those for any goal, beside which
        they must hold."""
        there = {kind for _, giver in self._latest() for kind in giver.kinds.values()}
        return [
            skill
            for skill in self.context.skills
            if skill.takes_any or any(there.intersection(_TAKEN[kind]) for _, kind in skill.given)
        ]

    def _bound(
        self, slot: Slot, kinds: Sequence[str], *, one: bool, several: bool, each: bool, output: str
    ) -> Given | None:
        """What the last wish that gives what a slot takes gives.

        one: the words mean one file, which several are not; several: they mean more than one. each: is the
        wish done once for each member? output: the kind that they speak of, "" for any.
        """
        for place, giver in self._latest():
            for kind in sorted(kinds, key=lambda one: output not in _TAKEN[one]):
                for its in sorted(_TAKEN[kind], key=lambda one: one != output):
                    many = its in ("files", "list") and kind in ("file", "text") and slot.most == 1
                    name = next((name for name, own in giver.kinds.items() if own == its), "")
                    if several and its == "file" and slot.most > 1:
                        continue  # "zip the logs and delete them": not what they are packed into
                    if name and many is each and not (one and its == "files"):
                        return Given(slot=slot.name, type=slot.type, wish=place, output=name, each=each)
        return None

    def _is_whole(self, value: str, words: str) -> bool:
        """Whether a value is all of a wish, with the words in it that point: then nothing was read in it."""
        begins = value.casefold().startswith(words.split()[0].casefold())
        return begins and any(self.context.words.pointing.found(value))

    def _is_empty(self, value: str) -> bool:
        """Whether a value only points at something that is said elsewhere."""
        words = self.context.words
        found = list(words.pointing.found(value))
        for one in reversed(found):
            value = value[: one.start] + value[one.end :]
        said = value.casefold().split()
        return all(word in words.empty or (bool(found) and words.is_verb(word)) for word in said)


def _defaults(skill: Skill) -> set[tuple[str, str]]:
    """What its inputs are taken to be where nothing says so."""
    return {(one.name, text) for one in skill.slots for text in one.default}


def _paths_made(givers: Iterable[Giver], files: FileReading) -> dict[str, str]:
    """What wishes make: each path, with the file that it is a copy of, "" for none and for a folder."""
    made: dict[str, str] = {}
    for giver in givers:
        uses, objects = files.uses(giver.skill), giver.intent.frame.objects
        sources = [one.value for one in objects if uses.get(one.name) == "there" and one.name not in _FOLDERS]
        for one in objects:
            if uses.get(one.name) not in ("new", "folder"):
                continue
            if _FILE.search(one.value):
                made[one.value] = sources[0] if len(sources) == 1 else ""
            elif one.name in _FOLDERS or uses[one.name] == "folder":
                folder = one.value.rstrip("/")
                copies = {
                    f"{folder}/{path.rpartition('/')[2]}": path for path in sources if _FILE.search(path)
                }
                made |= {folder: "", **copies}
    return made


def _ends_with(value: str, folder: str) -> bool:
    """Whether a value is the name of a folder, maybe with other words before it: "the folder x"."""
    return bool(folder) and f" {value.rstrip('/')}".endswith(f" {folder}")


def _sure(outcome: Outcome, skill: Skill) -> bool:
    """Whether nothing but what an earlier wish may give is asked about."""
    if isinstance(outcome, Clarify):
        slots = {f"slot.{name}" for name, _ in skill.given}
        open = (one for one in outcome.questions if one.field not in slots)
        return all(one.field.startswith("slot.") and not one.required for one in open)
    return isinstance(outcome, Compiled)


def _is_certain(outcome: Outcome) -> bool:
    """Whether the choice of the skill need not be read with care."""
    reasons = outcome.reasons if isinstance(outcome, Compiled | Clarify) else None
    return reasons is not None and bool(reasons.skills) and reasons.skills[0][1] >= reasons.read_below


def _speaks_of(skill: Skill, words: str) -> bool:
    """Whether a skill speaks of what the first word of a wish says."""
    first = stems(words.split()[0])
    return bool(first) and all(one in skill.stems for one in first)


def _skill_of(outcome: Outcome, skills: Skills) -> Skill | None:
    made = outcome.intent.compile_metadata if isinstance(outcome, Compiled | Clarify) else None
    return skills.get(made.skill_id) if made is not None and made.skill_id else None


def _draft(request: GoalRequest, frame: Frame) -> Intent:
    """What was read of a goal so far, as a plan is chosen for it."""
    return Intent(
        id=request.id,
        actor=request.actor,
        agent=request.agent,
        prose=request.prose,
        frame=frame,
        state="draft",
        confidence=1.0,
        created_at=request.at,
    )


def _giver(skill: Skill, intent: Intent) -> Giver:
    return Giver(_kinds(skill, intent), skill, intent)


def _kinds(skill: Skill, intent: Intent) -> Mapping[str, str]:
    """What each output of a skill is that its plan for an Intent gives."""
    try:
        given = outputs_of(skill, intent)
    except SkillError:  # what has no plan gives nothing
        return {}
    return {name: kind for name, kind in skill.outputs.items() if name in given}


def _alike(one: WishCondition, other: WishCondition) -> bool:
    return (one.wish, one.output, one.test, one.value) == (other.wish, other.output, other.test, other.value)


def _goes_with(outcome: Compiled, frame: Frame) -> bool:
    """Whether a wish, compiled by itself, has no limit of its own."""
    found = outcome.intent.frame
    mine = (*found.constraints, *found.success_criteria, *found.preferences)
    whole = (*frame.constraints, *frame.success_criteria, *frame.preferences)
    return not found.further and outcome.intent.budget is None and all(one in whole for one in mine)


def _is_done(outcome: Compiled, skills: Skills) -> bool:
    """Whether a skill has a plan that does it."""
    skill, plan = _skill_of(outcome, skills), outcome.plan
    return skill is not None and plan is not None and not plan.grammar and not skill.takes_any


def _with(read: Extraction, made: _Made, place: TextPlace, words: CoverageWords) -> Extraction:
    at, intent, shift = len(read.frame.further), made.outcome.intent, made.at.start - place.start
    compiled = intent.compile_metadata
    marks = [SpanMark(field=f"frame.further[{at}]", start=place.start, end=place.end)]
    # The places of its objects, without those that earlier wishes give.
    kept = {id(one) for one in made.wish.objects}
    known = [old for old, one in enumerate(made.outcome.intent.frame.objects) if id(one) in kept]
    names = {f"frame.objects[{old}]": f"frame.further[{at}].objects[{new}]" for new, old in enumerate(known)}
    marks += [
        SpanMark(field=names[one.field], start=one.start + made.at.start, end=one.end + made.at.start)
        for one in (compiled.spans if compiled else ())
        if one.field in names
        and intent.prose[one.start : one.end] == made.wish.prose[one.start + shift : one.end + shift]
    ]
    return replace(
        read,
        frame=read.frame.model_copy(update={"further": (*read.frame.further, made.wish)}),
        spans=(*read.spans, *marks),
        gaps=tuple(
            gap for gap in read.gaps if words.closing.sub("", gap.field) != f"{PROMISE}{made.wish.prose}"
        ),
        wishes=tuple(one for one in read.wishes if one != place),
        look=read.look or made.outcome.review,
    )
