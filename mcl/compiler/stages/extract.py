"""Stage 4: what the goal says about the skill's inputs, limits and success, each thing with its place in the
prose."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ir import Reference
from mcl.compiler.stages.classify import Classified
from mcl.compiler.stages.clauses import Clauses
from mcl.compiler.stages.commands import Declared
from mcl.compiler.stages.constraints import FIELD_OF_PATH, FIELDS
from mcl.compiler.stages.content import with_content
from mcl.compiler.stages.coverage_words import SECOND
from mcl.compiler.stages.evidence import as_said, by_clause, with_patterns, with_rules
from mcl.compiler.stages.expiry import FIELD as EXPIRY
from mcl.compiler.stages.file_names import recipients
from mcl.compiler.stages.filled import ChosenFiles, chosen_files
from mcl.compiler.stages.frame_draft import FORMS, Extraction, FrameDraft, PromptText, expected, texts_of
from mcl.compiler.stages.list_values import with_entries
from mcl.compiler.stages.phrase_places import SAID, with_phrase
from mcl.compiler.stages.phrase_places import form_of as form_of
from mcl.compiler.stages.repeats import read_apart
from mcl.compiler.stages.request import GoalRequest
from mcl.compiler.stages.rules import Rules
from mcl.compiler.stages.signoff import FIELD as PROMISE
from mcl.compiler.stages.signoff import NO_KEYS, KeyNames
from mcl.core.errors import InputError
from mcl.language.mtx.procedure import ResolveRule, SlotValue, interpret
from mcl.language.skills import GOAL_SLOT, Skill
from mcl.memory import Bundle
from mcl.model.cues import TextPlace, free, load_cues, place_of, span_at, within
from mcl.model.protocol import REST, ExtractForm, Model, Span
from mcl.values.slots import read_slot


@dataclass(frozen=True)
class Understanding:
    """How far a goal is understood: what was said, the skill and verb chosen for it, what was read in its
    words, and what the memories say of that."""

    request: GoalRequest
    classified: Classified
    extraction: Extraction
    references: tuple[Reference, ...] = ()

    @property
    def skill(self) -> Skill:
        """The skill that the goal is for."""
        return self.classified.skill

    @property
    def wished(self) -> frozenset[str]:
        """The fields of the Unknowns about further wishes that are open: nothing is done for one of two."""
        prose = self.request.prose
        return frozenset(f"{PROMISE}{prose[one.start : one.end]}" for one in self.extraction.wishes)


_PUT = ("slot.line", "slot.note")  # what stands in a list or a note
_LETTER = tuple(f"slot.{name}" for name in SAID)
LookUp: TypeAlias = Callable[[ResolveRule, str], SlotValue | None]


def extract(
    request: GoalRequest,
    classified: Classified,
    bundle: Bundle,
    model: Model,
    rules: Rules,
    look_up: LookUp | None = None,
    keys: KeyNames = NO_KEYS,
    declared: Declared = dict,
    *,
    all_slots: bool = True,
) -> Extraction:
    """Ask the model for spans and read each as what it must be; what cannot be read becomes a gap that quotes
    it.

    What a person gave or answered is taken instead of what the model finds. look_up: runs the skill's resolve
    lines for the slots that a person gave, before the prompt is filled. keys: whom names may mean. all_slots:
    slots of which nothing is said have their defaults too. Raises InputError SLOT_UNKNOWN, SLOT_VALUE.
    """
    skill = classified.skill
    _check_given(request, skill)
    apart = read_apart(skill, request.slots)
    asked = tuple(
        slot
        for slot in skill.slots
        if slot.name not in request.slots
        and slot.name not in apart
        and not (skill.takes_goal and slot.name == GOAL_SLOT)
    )
    given = {
        slot.name: texts_of(slot, request.slots[slot.name])
        for slot in skill.slots
        if slot.name in request.slots
    }

    def resolver(rule: ResolveRule) -> SlotValue | None:
        values = given.get(rule.slot, ())
        return look_up(rule, values[0]) if look_up is not None and len(values) == 1 else None

    meant = interpret(
        skill,
        verb=classified.verb,
        prose=request.prose,
        slots=given,
        cortex_bundle=bundle.text,
        resolver=resolver,
    )
    # A skill without a prompt of its own is asked with that of the module `frame`.
    if not meant.system:
        meant = interpret(rules.frame, verb=classified.verb, prose=request.prose, cortex_bundle=bundle.text)
    prompt = PromptText(meant.system, meant.user)
    form = ExtractForm(
        skill.id, skill.description, tuple(form_of(slot) for slot in asked), prompt.system, prompt.user
    )
    found = FrameDraft(request, rules, keys, declared, skill)
    clauses = Clauses(request.prose, skill, rules.coverage)
    held = [TextPlace(*one) for one in rules.kept.found(request.prose)] if "rule" in rules.kinds else []
    held = [one for one in held if not within(one, clauses.quotes)]
    answered = model.extract(request.prose, form) if request.prose else ()
    letter, _ = with_phrase((), form, skill.phrases, clauses, rules.around_phrases)
    content = next((place_of(one) for one in letter if one.field in _LETTER), None)
    if content is not None:  # what a phrase leads to
        answered = tuple(one for one in answered if one.start is None or free(place_of(one), [content]))
    else:
        texts = tuple(one for one in form.slots if one.name not in request.files.uses(skill))  # no paths
        answered, content = with_content(answered, replace(form, slots=texts), clauses)
    if content is not None:
        clauses = Clauses(request.prose, skill, rules.coverage, [content])
        held = [one for one in held if free(one, [content])]
    chosen = chosen_files(request, skill, clauses)
    if letters := [place_of(one) for one in chosen.spans if one.field in _LETTER]:
        clauses = Clauses(request.prose, skill, rules.coverage, letters)
    clauses.covered.extend(chosen.read)
    held = [one for one in held if not within(one, clauses.covered)]
    inputs = [*_places(request, skill), *map(place_of, _firsts((*letter, *answered), skill))]
    wishes = clauses.wishes(classified.begins, held, inputs)
    _, phrased = with_phrase((), form, skill.phrases, clauses, rules.around_phrases)
    wishes = tuple(one for one in wishes if free(one, clauses.covered))
    # 'commit a.md, message "…"': what the skill's own words are for is no wish of its own; "put it there" is
    points_into = rules.coverage.pointing.points_into
    wishes = tuple(
        one
        for one in wishes
        if free(TextPlace(one.start, one.start + 1), clauses.within_sentences(phrased))
        or points_into(clauses.said(one))
    )
    marked = _of_the_first(answered, wishes)
    first = clauses.ended(TextPlace(0, wishes[0].start)).end if wishes else None
    if wishes and not skill.takes_goal:  # what is said behind it may hide what the first wish says
        alone = model.extract(request.prose[:first], form)
        known = {one.field for one in marked}
        marked += tuple(one for one in alone if _is_value(one) and one.field not in known)
    told = [one for one in marked if one.field != REST and not found.is_guess(one)]
    told = _with_members(told, skill, clauses)
    told, said = with_phrase(told, form, skill.phrases, clauses, rules.around_phrases, first)
    held = [one for one in held if free(one, said)]
    spans = by_clause(with_patterns(request.prose, form, told, rules, found.reads), clauses)
    if wishes:  # a value that a pattern finds in another wish is that one's
        spans = tuple(one for one in spans if not (_is_value(one) and (one.start or 0) >= wishes[0].start))
    if skill.takes_goal:  # what bounds and what repeats is a part of what is asked
        spans = tuple(one for one in spans if one.field.startswith("slot."))
    spans = with_entries(request.prose, form, [_before(wishes, one, clauses) for one in spans])
    spans = with_rules(request.prose, spans, held, found.reads)
    spans = found.expiry(as_said(spans, clauses, rules, held))
    spans = tuple(_before(wishes, one, clauses) for one in spans)
    # What the skill does in any case is no limit, and needs no answer; nor is what only tells something.
    spans = tuple(
        one
        for one in spans
        if one.start is None
        or _is_value(one)
        or not (
            within(clauses.ended(place_of(one)), [*clauses.covered, *clauses.filler])
            or _only_tells(one, clauses, held)
        )
    )
    found.limits += clauses.covered
    leads = rules.coverage.leads
    if not all_slots:  # few words: a text slot takes whatever is left of them
        spans = tuple(
            one for one in spans if not (one.field.startswith("slot.") and leads.is_empty(one.value))
        )
    spans = request.files.whole_names(skill, request.prose, spans)
    if skill.takes_goal:
        spans = tuple(request.files.placed(skill, request.prose, spans, clauses.makes))
    spans = (*(one for one in spans if not _is_chosen(one, chosen)), *chosen.spans)
    if chosen.stopped:  # what is to be gone is named to the letter, or asked about
        spans = tuple(
            one
            for one in spans
            if not _is_list(one, skill)
            or (request.files.is_path(one.value) and not within(place_of(one), chosen.read))
        )
    spans = (*spans, *(() if chosen.stopped else _named_files(request, skill, spans, clauses, said)))
    if skill.takes_goal and request.prose:
        whole = span_at(f"slot.{GOAL_SLOT}", request.prose, TextPlace(0, len(request.prose)), 1.0)
        spans = (*spans, _before(wishes, whole, clauses))
    rest = [one for one in marked if one.field == REST and clauses.says(place_of(one))]
    rest = [one for one in rest if free(place_of(one), [*said, *chosen.read])]
    found.left(rest, spans, frozenset() if clauses.takes_any else clauses.own_words)
    found.slots += said
    for slot in skill.slots:
        own = [span for span in spans if span.field == f"slot.{slot.name}"]
        if all_slots or own or f"slot.{slot.name}" in request.answers:
            found.slot(slot, own, bundle)
    for name in FIELDS:
        if name in rules.kinds:
            found.stated(name, [span for span in spans if span.field == name])
    for place in wishes if SECOND in rules.kinds else ():
        found.open(SECOND, place)
    found.extended()
    if all_slots:
        found.slots += _places(request, skill)
        found.cover(clauses)
    return replace(found.result(classified.verb), prompt=prompt, wishes=found.wishes)


def read_answer(request: GoalRequest, skill: Skill, name: str, text: str, rules: Rules) -> None:
    """Raise InputError ANSWER_UNREADABLE where an answer to the field `name` is not what that field must
    be."""
    probe = FrameDraft(request.answered({name: text}), rules)
    slot = next((slot for slot in skill.slots if name == f"slot.{slot.name}"), None)
    if slot is not None:
        probe.slot(slot, [], Bundle())
    elif name == EXPIRY:
        probe.expiry(())
    elif name in FIELD_OF_PATH:
        probe.stated(FIELD_OF_PATH[name], [])
    if text and any(gap.field == name for gap in probe.gaps):
        gap = next(gap for gap in probe.gaps if gap.field == name)
        named = f"one of {', '.join(gap.options)}" if gap.options else FORMS.get(gap.type, "other words")
        wanted = expected(slot) if slot is not None else named
        raise InputError("ANSWER_UNREADABLE", gap.why, place=name, fix=f"answer with {wanted}")


def _check_given(request: GoalRequest, skill: Skill) -> None:
    known = [slot.name for slot in skill.slots]
    for name in request.slots:
        if name not in known:
            raise InputError(
                "SLOT_UNKNOWN",
                f"the skill {skill.id} has no slot {name!r}",
                place=f"slot.{name}",
                fix=f"its slots: {', '.join(known) or 'none'}",
            )
    for slot in skill.slots:
        for text in texts_of(slot, request.slots.get(slot.name, "")):
            if read_slot(text, slot.type, slot.options, request.at, request.zone, slot.name) is None:
                raise InputError(
                    "SLOT_VALUE",
                    f"{text!r} is not {expected(slot)}",
                    place=f"slot.{slot.name}",
                    fix=slot.hint or f"give --slot {slot.name}=… another value",
                )


def _named_files(
    request: GoalRequest, skill: Skill, spans: Sequence[Span], clauses: Clauses, said: Sequence[TextPlace]
) -> Iterator[Span]:
    """What the goal says of a file that is here, for inputs that must be there and were not read. said: where
    words of a fixed phrase stand: "a mail" is no folder of that name."""
    taken = [place_of(one) for one in spans if one.start is not None]
    taken += said if recipients(skill) else ()
    given = {*request.slots, *read_apart(skill, request.slots)}
    for slot in skill.slots:
        field = f"slot.{slot.name}"
        if slot.default or slot.name in given or field in request.answers:
            continue
        if any(one.field == field or (one.field == "slot.pattern" and not slot.required) for one in spans):
            continue
        read = skill.takes_goal and slot.required
        named = request.files.answered(skill, slot.name, request.prose) if read else None
        named = named or request.files.mentioned(skill, slot.name, _runs(clauses, taken), slot.most)
        if named is not None:
            taken += [place_of(named)] if named.start is not None else []
            yield named


def _is_chosen(span: Span, chosen: ChosenFiles) -> bool:
    """Whether a value is one of a slot that the choice of files fills, or a text in its words."""
    if span.field.removeprefix("slot.") in chosen.slots:
        return True
    texts = _is_value(span) and span.field == "slot.target"
    return texts and within(place_of(span), chosen.read)


def _is_list(span: Span, skill: Skill) -> bool:
    """Whether a value is one of a list of files."""
    return any(span.field == f"slot.{slot.name}" for slot in skill.slots if slot.most > 1)


def _runs(clauses: Clauses, taken: Sequence[TextPlace]) -> Iterator[tuple[str, int, int]]:
    """The runs of at most four words that nothing was read of, the longest first."""
    words = [TextPlace.of(one) for one in clauses.said_words]
    for many in range(min(4, len(words)), 0, -1):
        for first in range(len(words) - many + 1):
            place = TextPlace(words[first].start, words[first + many - 1].end)
            text = clauses.prose[place.start : place.end]
            said = (words[at] for at in range(first, first + many))
            if any(clauses.words.is_verb(clauses.prose[one.start : one.end]) for one in said):
                continue
            if free(place, taken) and not any(mark in text for mark in ",;:!?\n"):
                yield text, place.start, place.end


def _only_tells(span: Span, clauses: Clauses, held: Sequence[TextPlace]) -> bool:
    place = place_of(span) if span.field == "rule" else None
    return (
        place is not None and place not in held and (clauses.is_aside(place) or clauses.is_described(place))
    )


def _with_members(spans: list[Span], skill: Skill, clauses: Clauses) -> list[Span]:
    """The spans, with what words of the skill say of its closed lists."""
    said = {words.casefold(): names for words, names in skill.sets.items() if names[0]}
    for place in clauses.covered if said else ():
        name, member = said.get(" ".join(clauses.said(place).casefold().split()), ("", ""))
        if name:
            certain = Span(f"slot.{name}", member, None, None, load_cues().probability["phrase"])
            spans = [one for one in spans if one.field != certain.field] + [certain]
    return spans


def _firsts(spans: Sequence[Span], skill: Skill) -> Iterator[Span]:
    """The values for slots that say where a result goes, of what takes one the first: another is that of a
    further wish, and so is what is put somewhere."""
    many, seen = {f"slot.{slot.name}" for slot in skill.slots if slot.most > 1}, set(_PUT)
    for one in sorted(filter(_is_value, spans), key=lambda one: one.start or 0):
        if one.field in many or one.field not in seen:
            yield one
        seen.add(one.field)


def _is_value(span: Span) -> bool:
    return span.start is not None and span.field.startswith("slot.")


def _places(request: GoalRequest, skill: Skill) -> list[TextPlace]:
    """Where values stand in the goal that a person gave for slots."""
    given = [text for slot in skill.slots for text in texts_of(slot, request.slots.get(slot.name, ""))]
    starts = ((request.prose.find(text), text) for text in given)
    return [TextPlace(start, start + len(text)) for start, text in starts if start >= 0]


def _of_the_first(marked: Iterable[Span], wishes: Sequence[TextPlace]) -> tuple[Span, ...]:
    """What a model marked, without values of further wishes and what stands in these."""
    return tuple(
        one
        for one in marked
        if one.start is None
        or not wishes
        or (free(place_of(one), wishes) and (one.start < wishes[0].start or one.field in FIELDS))
    )


def _before(wishes: Sequence[TextPlace], span: Span, clauses: Clauses) -> Span:
    """A value as it ends before a further wish begins in it."""
    if span.start is None or span.end is None or not _is_value(span):
        return span
    begins = [one.start for one in wishes if span.start < one.start < span.end]
    if not begins:
        return span
    words = clauses.ended(TextPlace(span.start, begins[0]))
    return replace(span, value=clauses.said(words), end=words.end)
