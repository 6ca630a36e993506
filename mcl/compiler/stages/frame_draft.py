"""What was read of a goal, thing by thing: the Frame that comes of it, what stays open, and where in the
prose each thing stands.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ir import (
    Budget,
    CommandPredicate,
    Constraint,
    Frame,
    Predicate,
    Preference,
    Promise,
    SlotEntry,
    SpanMark,
)
from mcl.compiler.stages.clauses import Clauses
from mcl.compiler.stages.commands import Declared
from mcl.compiler.stages.constraints import CONSTRAINTS, FIELD_OF_PATH, SIGNS, Reading, Stated, state
from mcl.compiler.stages.coverage import Account, Coverage
from mcl.compiler.stages.coverage_words import ASIDE, SECOND
from mcl.compiler.stages.evidence import CHECKED
from mcl.compiler.stages.expiry import FIELD as EXPIRY
from mcl.compiler.stages.expiry import clauses_of
from mcl.compiler.stages.file_names import recipients
from mcl.compiler.stages.gaps import Gap, sentence, slot_question
from mcl.compiler.stages.limit_words import Around
from mcl.compiler.stages.request import GoalRequest
from mcl.compiler.stages.rules import Rules
from mcl.compiler.stages.signoff import FIELD as PROMISE
from mcl.compiler.stages.signoff import NO_KEYS, KeyNames, open_words, settled
from mcl.language.skills import Skill, Slot
from mcl.memory import Bundle
from mcl.model.cues import TextPlace, free, load_cues, place_of, span_at
from mcl.model.protocol import BOOLEAN, Span
from mcl.values.lists import list_entries
from mcl.values.slots import is_memory, read_slot

_CLAUSE = re.compile(r"[,.;:!?\n()]")
_ADDRESS = re.compile(r"matrix://\S+")
_SENTENCE = re.compile(r"[.!?;](?:\s|$)|\n")
_NEAR = 60  # characters of a clause on each side that are looked at


@dataclass(frozen=True)
class PromptText:
    """A skill's prompt for one goal, its places filled."""

    system: str = ""
    user: str = ""


NO_PROMPT: Final = PromptText()
_OF_TEXTS: Final = ("rule", "quality", "preference")  # how a text must be, which whoever writes it reads


@dataclass(frozen=True)
class Extraction:
    """The Frame as far as it is known. `certainty` has a probability for each thing found by the model, by
    its field; `said` the kind and the words that each limit, sign and preference was read from. over: the
    word that most likely says something that was not read. rest: words that belong to nothing, clause by
    clause. prompt: what the model was asked with, filled in. expires: until when the goal says that it
    counts. wishes: where further wishes stand that are open. look: one of them, which is not any more, was
    read with doubts."""

    frame: Frame
    spans: tuple[SpanMark, ...] = ()
    gaps: tuple[Gap, ...] = ()
    budget: Budget | None = None
    certainty: Mapping[str, float] = field(default_factory=dict)
    said: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    over: Span | None = None
    rest: tuple[str, ...] = ()
    prompt: PromptText = NO_PROMPT
    expires: str = ""
    wishes: tuple[TextPlace, ...] = ()
    look: bool = False


def texts_of(slot: Slot, given: str) -> list[str]:
    """The values in a text that a person gave: one, or those of a list between commas, of paths in words."""
    parts = given.split(",") if slot.most > 1 else [given]
    paths = [given[start:end] for start, end in list_entries(given)] if slot.most > 1 else []
    parts = paths if all(re.search(r"[/*]|\.\w", one) for one in paths) and paths else parts
    return [part.strip() for part in parts if part.strip()]


FORMS: Final = {  # what a person should have said, where the type's name does not say it
    "uint": "a whole number",
    "float": "a number",
    "iso8601": "a day and time that can be read in just one way",
    "AssetAmount": "an amount with its currency",
    "string[]": "countries or regions",
}


def expected(slot: Slot) -> str:
    """What fills a slot, in words."""
    if slot.options:
        return f"one of {', '.join(slot.options)}"
    if is_memory(slot.type):
        return f"the address of a memory, {slot.type}/ID (mcl memory find tells it)"
    return FORMS.get(slot.type, f"of type {slot.type}")


class FrameDraft:
    """A Frame as it is filled: what was read so far, in its order, where that stands in the goal, and what is
    still open. keys: whom names may mean; declared: the commands that signs of success may name."""

    def __init__(
        self,
        request: GoalRequest,
        rules: Rules,
        keys: KeyNames = NO_KEYS,
        declared: Declared = dict,
        skill: Skill | None = None,
    ) -> None:
        self.request = request
        self.skill = skill
        self.keys = keys
        self.declared = declared
        self.rules = rules
        self.objects: list[SlotEntry] = []
        self.constraints: list[Constraint] = []
        self.success: list[Predicate] = []
        self.preferences: list[Preference] = []
        self.budget: Budget | None = None
        self.gaps: list[Gap] = []
        self.marks: list[SpanMark] = []
        self.certainty: dict[str, float] = {}
        self.said: dict[str, tuple[str, str]] = {}
        self.over: Span | None = None
        self.expires = ""
        self.rest: tuple[str, ...] = ()
        self.wishes: tuple[TextPlace, ...] = ()
        self.slots: list[TextPlace] = []
        self.limits: list[TextPlace] = []
        self.read_limits: list[TextPlace] = []
        self.signs: list[TextPlace] = []

    def slot(self, slot: Slot, spans: Sequence[Span], bundle: Bundle) -> None:
        """Fill a slot with what was answered, else given, else found, else its default."""
        name = f"slot.{slot.name}"
        answer = self.request.answers.get(name)
        said = self.request.slots.get(slot.name) if answer is None else answer
        known = [span for span in spans if self._said(span, slot, bundle)] if said is None else []
        # What could not be read fills nothing: "twice a day" is no part of an optional number of seconds.
        unread = [span for span in known[: slot.most] if not self._fill_meant(slot, span)]
        lost = () if slot.required else unread
        self.slots += [place_of(one) for one in spans if one.start is not None and one not in lost]
        if said is not None:
            for text in texts_of(slot, said):
                self._fill(slot, text, None)
            return
        others = tuple(
            dict.fromkeys(span.value for span in known[slot.most :] if span.value != known[0].value)
        )
        if others and slot.most == 1:
            both = ", ".join(f"“{text}”" for text in (known[0].value, *others))
            why, options = f"both may be meant: {both}", (known[0].value, *others)
            severity, question = self.rules.severities["frame.several"], slot_question(slot.name, slot.hint)
            self.gaps.append(Gap(name, slot.type, severity, why, question, options))
        # Only where nothing was marked: a default never hides words that were found and could not be read.
        if not spans and slot.default:
            for text in slot.default:
                self.objects.append(SlotEntry(name=slot.name, value=text, type=slot.type))

    def stated(self, name: str, spans: Sequence[Span]) -> None:
        """Read the spans of one constraint field, or the answer that replaces them."""
        path = next((path for path, field_ in FIELD_OF_PATH.items() if field_ == name), name)
        answer = self.request.answers.get(path)
        places = [place_of(one) for one in spans if one.start is not None]
        (self.read_limits if name in CHECKED else self.limits).extend(places)
        self.signs += places if name in SIGNS else []
        if answer is not None:
            given = [Span(name, answer, None, None, 1.0)] if answer else []
            spans = [*given, *(() if name in CHECKED else self._others(spans))]
        seen: set[str] = set()
        for span in spans:
            if span.value and span.value not in seen and self._quotes(span, answered=answer is not None):
                seen.add(span.value)
                if answer is None and self._is_told(name, span):
                    self.rest = (*self.rest, span.value)
                elif name == "rule" and answer is None and self._in_doubt(span):
                    self.open(name, place_of(span))
                else:
                    self._state(name, span)

    def _is_told(self, name: str, span: Span) -> bool:
        """Whether words say how something must be to a model that is told all of the goal and makes it."""
        told = name in _OF_TEXTS and self.skill is not None and self.skill.tells_goal
        return told and not getattr(self.read(span), "keeps", "")

    def _in_doubt(self, span: Span) -> bool:
        return self.rules.routing(span.probability).route == "clarify"

    def is_guess(self, span: Span) -> bool:
        """Whether a model is not sure that words are a limit, and they cannot be read as one: then they
        belong to nothing that was read. (A region that is said the other way round can be read.)"""
        if span.field not in CHECKED or span.probability >= self.rules.guess or self.reads(span):
            return False
        from mcl.values.regions import read_regions  # few goals say where

        return not span.field.startswith("jurisdiction") or read_regions(span.value) is None

    def expiry(self, spans: Sequence[Span]) -> tuple[Span, ...]:
        """Read how long the goal counts: what was answered, else what its clauses say. Gives the spans with
        these clauses in place of what is part of them."""
        words, request = self.rules.expiry, self.request
        kept, said = clauses_of(words.found(request.prose, request.at, request.zone), spans, request.prose)
        self.marks += [SpanMark(field=EXPIRY, start=one.start, end=one.end) for one in said]
        self.read_limits += [TextPlace(one.start, one.end) for one in said]
        answer = request.answers.get(EXPIRY)
        if answer is not None:
            said = [words.answered(answer, request.at, request.zone)] if answer else []
        self.gaps += [one.gap for one in said if one.gap]
        self.expires = min((one.at for one in said if one.at), default="")
        return kept

    def extended(self) -> None:
        """The constraints of plug-ins that were given with the goal."""
        for one in self.request.extensions:
            words = Promise("", True, one).says
            answer = self.request.answers.get(f"{PROMISE}{words}")
            rank = len(self.preferences) + 1
            self._put(settled(one, words, answer, rank, self.rules.choices, self.keys), None)

    def _others(self, spans: Sequence[Span]) -> list[Span]:
        """The spans without the one that was asked about: the first that is not certain enough."""
        unsure = (one for one in spans if self.rules.routing(one.probability).route == "clarify")
        asked = next(unsure, spans[0] if spans else None)
        return [one for one in spans if one is not asked]

    def cover(self, clauses: Clauses) -> None:
        """What belongs to nothing: how something is done is a wish, what must not be left out stays open
        until a person says what becomes of it; the rest is only shown."""
        rest = [*self.rest]
        soft = [TextPlace.of(match) for match in self.rules.soft.finditer(self.request.prose)]
        limits = [*self.limits, *soft]
        account = Account(self.slots, limits, self.read_limits, self.signs)
        for one in Coverage(clauses, account).uncovered():
            if clauses.is_manner(one.place):
                self._state("preference", self.span("preference", one.place))
            elif self.skill is not None and self.skill.tells_goal and one.kind != SECOND:
                rest.append(clauses.said(one.place))
            elif (one.kind or self._left_out(clauses, one.place)) and "rule" in self.rules.kinds:
                self.open("rule", one.place, aside=one.kind == ASIDE)
            else:
                rest.append(clauses.said(one.place))
        self.rest = tuple(rest)

    @staticmethod
    def _left_out(clauses: Clauses, place: TextPlace) -> bool:
        """Whether words say something to whoever does a goal that no skill here is for: they read it all."""
        return clauses.takes_any and clauses.tells_much(place)

    def open(self, name: str, place: TextPlace, *, aside: bool = False) -> None:
        """What nothing that was read says: as it was answered, else an Unknown that quotes it. aside: as of
        `open_words`."""
        span = self.span(name, place)
        self.limits.append(place)
        if f"{PROMISE}{span.value}" in self.request.answers:
            self._state(name, span, held=False)
        else:
            self.wishes += (place,) if name == SECOND else ()
            self.gaps.append(open_words(name, span.value, self.rules.choices, aside=aside))

    def span(self, name: str, place: TextPlace) -> Span:
        """The span of these words for a field, as patterns find it."""
        return span_at(name, self.request.prose, place, load_cues().probability["pattern"])

    def left(self, rest: Sequence[Span], spans: Sequence[Span], own: frozenset[str] = frozenset()) -> None:
        """Words that may say something and that no span took: the least certain of them counts. own: words
        that the skill says of itself, which say nothing more of a goal for it."""
        taken = [place_of(one) for one in spans if one.start is not None]
        over = [one for one in rest if free(place_of(one), taken) and one.value.casefold() not in own]
        self.over = min(over, key=lambda one: one.probability, default=None)

    def result(self, verb: str) -> Extraction:
        """Everything as one value."""
        frame = Frame(
            verb=verb,
            objects=tuple(self.objects),
            constraints=tuple(self.constraints),
            success_criteria=tuple(self.success),
            preferences=tuple(self.preferences),
        )
        return Extraction(
            frame,
            tuple(self.marks),
            tuple(self.gaps),
            self.budget,
            self.certainty,
            self.said,
            self.over,
            self.rest,
            expires=self.expires,
        )

    def _fill_meant(self, slot: Slot, span: Span) -> bool:
        """Add the value that a span says, or the files here that it means."""
        reading = (
            self.request.files.meant(self.skill, slot.name, span.value, slot.most) if self.skill else None
        )
        if reading is None:
            return self._fill(slot, span.value, span)
        if not reading.unsure:
            filled = [self._fill(slot, path, span) for path in reading.paths]
            return all(filled)
        somebody = slot.name in recipients(self.skill)
        if not (reading.paths or slot.required or slot.default or somebody):
            return False  # it may say something else
        named = tuple(filter(None, reading.paths))
        nothing = "is nobody known here" if somebody else "names no file here"
        of = f"may be any of {', '.join(named)}" if named else nothing
        why = (
            f"“{span.value}” {of}" if named or not reading.paths else f"nothing stands behind “{span.value}”"
        )
        question = f"{sentence(why)}. {slot_question(slot.name, slot.hint)}"
        self.gaps.append(Gap(f"slot.{slot.name}", slot.type, "blocking", why, question, named))
        return True

    def _fill(self, slot: Slot, text: str, span: Span | None) -> bool:
        """Add a value to a slot. Gives whether its words could be read as one."""
        # An address is taken as it is: reading it as a value would lose its version.
        if _ADDRESS.fullmatch(text) and (slot.type == "string" or slot.type.endswith("Ref")):
            self.objects.append(SlotEntry(name=slot.name, value=text, uri=text, type=slot.type))
            return True
        value = read_slot(text, slot.type, slot.options, self.request.at, self.request.zone, slot.name)
        if value is None:
            severity = self.rules.severities[f"frame.{'required' if slot.required else 'optional'}_unread"]
            why = f"“{text}” is not {expected(slot)}"
            question = f"{sentence(why)}. {slot_question(slot.name, slot.hint)}"
            self.gaps.append(Gap(f"slot.{slot.name}", slot.type, severity, why, question, slot.options))
            return False
        self._mark(f"frame.objects[{len(self.objects)}]", span)
        uri = value if is_memory(slot.type) else ""
        self.objects.append(SlotEntry(name=slot.name, value=value, uri=uri, type=slot.type))
        return True

    def _state(self, name: str, span: Span, *, held: bool = True) -> None:
        """Add what a span says. held: whether a rule may be one that a run can be held to."""
        read = self.read(span, held=held)
        found = read if isinstance(read, Gap) else self._settled(read, span)
        if isinstance(found, Gap):
            case = "constraint.hard_unread" if self._is_hard(span) else "constraint.unread"
            severity = self.rules.severities[case]
            question = f"{sentence(found.why)}. {self.rules.questions[name]}"
            self.signs += [place_of(span)] if span.start is not None else []  # one question about a clause
            self.gaps.append(replace(found, severity=severity, prompt=question))
        elif span.value in self.request.opens and span.start is not None:
            self.limits.append(place_of(span))
            self.gaps.append(open_words(name, span.value, self.rules.choices))
        else:
            self._put(found, span)

    def _put(self, found: Stated | None, span: Span | None) -> None:
        if found is None:
            return
        if isinstance(found, Budget):
            given = {key: value for key, value in found if value not in (None, "")}
            self.budget = (self.budget or Budget()).model_copy(update=given)
            self._mark(f"budget.{next(iter(given))}", span)
        elif isinstance(found, Preference):
            self._mark(f"frame.preferences[{len(self.preferences)}]", span)
            self.preferences.append(found)
        elif isinstance(found, CONSTRAINTS):
            self._mark(f"frame.constraints[{len(self.constraints)}]", span)
            self.constraints.append(found)
        else:
            self._mark(f"frame.success_criteria[{len(self.success)}]", span)
            self.success.append(found)

    def _settled(self, found: Stated, span: Span) -> Stated | None:
        """What it is with the answer about its words, where nobody could check it."""
        answer = self.request.answers.get(f"{PROMISE}{span.value}")
        rank = len(self.preferences) + 1
        return settled(found, span.value, answer, rank, self.rules.choices, self.keys)

    def read(self, span: Span, *, held: bool = True) -> Stated | Gap:
        """What the span says in its clause. held: as of _state."""
        around = self._around(span)
        words = self.rules.commands

        def command(text: str) -> CommandPredicate | None:
            return words.read(text, self.declared)

        stands = span.start is not None
        reading = Reading(
            self.request.at, self.request.zone, self.rules.limits, around, command=command, stands=stands
        )
        reading = replace(reading, kept=self.rules.kept.kept) if held else reading
        # A model marks the day alone; "before" it means that its beginning counts.
        earlier = self.rules.limits.earlier.search(around.before) if span.field == "deadline" else None
        text = f"{earlier[0] if earlier else ''}{span.value}"
        rank = len(self.preferences) + 1
        return state(span.field, text, hard=self._is_hard(span), rank=rank, reading=reading)

    def _is_hard(self, span: Span) -> bool:
        """Whether no word of the clause makes a wish of it."""
        if span.start is None:
            return True
        around = self._around(span)
        clause = f"{around.before}{span.value}{around.after}"
        if any(
            self._meant(wish, clause, len(around.before), span) for wish in self.rules.soft.finditer(clause)
        ):
            return False
        near = span.field in CHECKED and _just_before(self.rules.approximate, around.before, span.value)
        return not near

    def _meant(self, wish: re.Match[str], clause: str, start: int, span: Span) -> bool:
        """Whether a word that makes a wish means the span that begins at `start` of its clause: not "nothing
        from China and ideally made here", nor "ideally red but never in plastic"."""
        joined = self.rules.coverage.joined
        if wish.start() < start:
            between = joined.finditer(clause, wish.end(), start)
            return not any(one["turn"] for one in between)
        return joined.search(clause, start + len(span.value), wish.start()) is None

    def reads(self, span: Span) -> bool:
        """Whether the span of a limit is read as what it is said to be, as it stands in the prose."""
        return not isinstance(self.read(span), Gap)

    def _mark(self, path: str, span: Span | None) -> None:
        if span is None:
            return
        self.certainty[path] = span.probability
        if not path.startswith("frame.objects"):
            self.said[path] = (span.field, span.value)
        if span.start is not None and span.end is not None:
            self.marks.append(SpanMark(field=path, start=span.start, end=span.end))

    def _around(self, span: Span) -> Around:
        """The rest of the clause that the span stands in."""
        if span.start is None or span.end is None:
            return Around()
        prose, start, end = self.request.prose, span.start, span.end
        before = _CLAUSE.split(prose[max(0, start - _NEAR) : start])[-1]
        beyond = _SENTENCE.split(prose[end : end + 4 * _NEAR])[0]
        return Around(before, _CLAUSE.split(prose[end : end + _NEAR])[0], beyond)

    def _said(self, span: Span, slot: Slot, bundle: Bundle) -> bool:
        return (
            span.value in (slot.options or (BOOLEAN if slot.type == "bool" else ()))
            or (
                span.start is None
                and (span.value in bundle.text or self.request.files.knows(slot.name, span.value))
            )
            or self._quotes(span)
        )

    def _quotes(self, span: Span, *, answered: bool = False) -> bool:
        """Whether the span is what the prose says at its place; else it is invented, and said so."""
        if answered or (
            span.start is not None
            and span.end is not None
            and self.request.prose[span.start : span.end] == span.value
        ):
            return True
        # Models are held to the goal's words by their grammar or form; what is signed is checked once more.
        why = f"the model named “{span.value}” for {span.field}, which the goal does not say"
        self.gaps.append(Gap(span.field, "", "preferred", why))
        return False


def _just_before(words: re.Pattern[str], before: str, value: str) -> bool:
    """Whether one of the words stands at the end of `before`, or at the beginning of the value."""
    ends = (match.end() for match in words.finditer(before))
    return any(not before[end:].strip() for end in ends) or words.match(value) is not None
