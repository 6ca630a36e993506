"""Stage 6: how sure the compiler is, what follows from it, and the Intent that is signed."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

from ir import (
    Budget,
    BudgetConstraint,
    CompileMetadata,
    Constraint,
    DeadlineConstraint,
    Intent,
    Reference,
    SlotEntry,
    derive_seed,
    key_of,
    with_hash,
)
from ir.schedule import RECURRENCE
from mcl.compiler.stages.constraints import doubt
from mcl.compiler.stages.extract import Understanding
from mcl.compiler.stages.frame_draft import Extraction
from mcl.compiler.stages.gaps import Gap, one_a_field, slot_question, unknowns_of
from mcl.compiler.stages.request import GoalRequest
from mcl.compiler.stages.rules import CONFIDENCE_DIGITS, Route, Rules
from mcl.compiler.stages.signoff import FIELD as PROMISE
from mcl.core.errors import InputError
from mcl.language.mtx.procedure import Interpretation, Resolver, SlotValue, interpret
from mcl.language.phrases import FILE_SLOT
from mcl.language.skills import Slot
from mcl.values.slots import is_memory

_LOOKS = ("frame.verb",)
_CHOSEN = ("skill", "frame.verb")
_SHOWN = ("frame.constraints.", "delivered", "attestation")  # instead of asked, where all can be taken back
_OPEN = "nothing here does or keeps {}"
_LEFT = "{} belongs to nothing that was read: see whether something is missing"


class ConfidencePart(NamedTuple):
    """What a confidence is made of: `share` to the power of `weight`, one factor of the product."""

    name: str
    share: float
    weight: float


@dataclass(frozen=True)
class ScoreVerdict:
    """What follows: "compiled" as it is, "review" (compiled, to be read with care) or "clarify"; `gaps` in
    order, the first `asked` of them are asked about; `said` why it should be read. parts: what the confidence
    that decided this was the product of; `confidence` is less where a word was left over."""

    outcome: Route
    confidence: float
    gaps: tuple[Gap, ...]
    said: str = ""
    parts: tuple[ConfidencePart, ...] = ()
    asked: int = 0


@dataclass(frozen=True)
class Provenance:
    """What a compile depended on: digests are lowercase hex sha256, `snapshot` the memories' Merkle root."""

    mtx_digest: str
    model_digest: str
    model_version: str
    grammar: str
    snapshot: str


def score(goal: Understanding, rules: Rules, *, undone: bool = False) -> ScoreVerdict:
    """Weigh the parts of a compile as the confidence module says, and go the way that it says.

    An answer closes its gap unless it left something open that blocks. Somebody is asked where a gap blocks,
    or where a part is by itself so uncertain that the module says so, and nowhere else. What is not certain
    enough to go unread, a word that may say something and was not read among it, makes the compile one that
    is to be read with care. undone: an undo puts back whatever a plan of the skill may do.
    """
    goal = with_missing(goal, rules)
    gaps = _open(goal)
    confidence = _confidence(goal, gaps, rules)
    whys = [gap.why for gap in gaps]
    late = with_missing(goal, rules, confidence, whys)
    if late.extraction.gaps != goal.extraction.gaps:  # blocks under conditions on confidence and unknowns
        goal, gaps = late, _open(late)
        confidence = _confidence(goal, gaps, rules)
    parts = (*_parts(goal, rules), *(_part_of(gap, rules) for gap in gaps))
    whole, over = _with_rest(confidence, goal, rules), goal.extraction.over
    doubts = _doubts(goal, rules)
    gaps, doubts, shown = _shown(gaps, doubts) if undone else (gaps, doubts, ())
    if doubts or any(gap.severity == "blocking" for gap in gaps):
        # One round for all that is open; what is only worth a look is not asked beside it.
        worth_a_look = _LOOKS if goal.skill.does_goals and not undone else (*_LOOKS, PROMISE)
        looks = tuple(
            gap
            for gap in gaps
            if gap.severity != "blocking"
            and gap.field.startswith((*worth_a_look, PROMISE) if gap.severity == "optional" else worth_a_look)
            and not (undone and (gap.field in goal.wished or rules.coverage.signing.search(gap.field)))
        )
        asked = _as_asked(
            goal, one_a_field((*(gap for gap in gaps if gap not in looks), *doubts)), confidence
        )
        fields = {gap.field for gap in asked}
        others = tuple(gap for gap in looks if gap.field not in fields)
        return ScoreVerdict("clarify", whole, (*asked, *others), parts=parts, asked=len(asked))
    opened = tuple(gap.field.removeprefix(PROMISE) for gap in gaps if gap.field.startswith(PROMISE))
    rest = goal.extraction.rest or ((over.value,) if over is not None and not opened else ())
    left = "; ".join(
        said.format(", ".join(f"“{words}”" for words in words_of))
        for said, words_of in ((_OPEN, opened), (_LEFT, rest))
        if words_of
    )
    if rules.routing(whole).route == "compiled" and not opened and not shown:
        return ScoreVerdict("compiled", whole, gaps, left, parts)
    said = rules.routing(rules.least("clarify")).said
    if left:
        said = left if rules.routing(confidence).route == "compiled" else f"{said}; {left}"
    if shown:
        said = "; ".join((*(gap.why for gap in shown), *([said] if left else [])))
    return ScoreVerdict("review", whole, gaps, said, parts)


def _shown(
    gaps: tuple[Gap, ...], doubts: tuple[Gap, ...]
) -> tuple[tuple[Gap, ...], tuple[Gap, ...], tuple[Gap, ...]]:
    """What is open of a goal whose plan can be taken back, the doubts that are asked about, and what is only
    shown of both: a limit that cannot be read, and what was read without being sure."""
    limits = tuple(gap for gap in gaps if gap.severity == "blocking" and gap.field.startswith(_SHOWN))
    gaps = tuple(replace(gap, severity="preferred") if gap in limits else gap for gap in gaps)
    asked = tuple(gap for gap in doubts if gap.field in _CHOSEN)
    return gaps, asked, (*limits, *(gap for gap in doubts if gap not in asked))


def _open(goal: Understanding) -> tuple[Gap, ...]:
    """The gaps that no answer has closed."""
    gaps, answers = one_a_field((*goal.classified.gaps, *goal.extraction.gaps)), goal.request.answers
    return tuple(gap for gap in gaps if answers.get(gap.field) is None or gap.severity == "blocking")


def build(goal: Understanding, verdict: ScoreVerdict, provenance: Provenance) -> Intent:
    """The Intent, with its hash. Raises IrError where a field cannot be what it is."""
    request, extraction, skill = goal.request, goal.extraction, goal.skill
    costs = [
        one.max
        for one in extraction.frame.constraints
        if isinstance(one, BudgetConstraint) and one.hard and one.max
    ]
    budget = extraction.budget
    # Amounts of two currencies cannot be compared: the limits stay as they are said, and the budget has no
    # sum.
    if len({cost.asset for cost in costs}) == 1:
        budget = (budget or Budget()).model_copy(update={"max_cost": min(costs, key=lambda cost: cost.value)})
    seed = derive_seed(
        intent_id=request.id,
        actor=request.actor,
        snapshot_hash=provenance.snapshot,
        mtx_digest=provenance.mtx_digest,
        model_digest=provenance.model_digest,
    )
    metadata = CompileMetadata(
        seed=seed.hex,
        mtx_digest=provenance.mtx_digest,
        model_digest=provenance.model_digest,
        model_version=provenance.model_version,
        grammar=provenance.grammar,
        skill_id=skill.id,
        skill_version=skill.version,
        cortex_snapshot_hash=provenance.snapshot,
        spans=extraction.spans,
    )
    return with_hash(
        Intent(
            id=request.id,
            actor=request.actor,
            agent=request.agent,
            prose=request.told,
            frame=extraction.frame,
            unknowns=unknowns_of(verdict.gaps),
            references=(*goal.references, *recurrence_of(request)),
            state="clarifying" if verdict.outcome == "clarify" else "proposed",
            confidence=verdict.confidence,
            budget=budget,
            deadline=_deadline_of(extraction.frame.constraints),
            created_at=request.at,
            expires_at=min((one for one in (request.expires, extraction.expires) if one), default=""),
            goal_id=request.goal_id,
            signed_by=key_of(request.actor).hex(),
            compile_metadata=metadata,
        )
    )


def recurrence_of(request: GoalRequest) -> tuple[Reference, ...]:
    """When it is to run, as it was said and as it is read: an Intent with this is accepted with a schedule.
    Raises InputError WHEN_UNCLEAR."""
    if not request.when:
        return ()
    from mcl.values.recurrence import read_when  # few goals say it

    found = read_when(request.when, request.at, request.zone)
    if found is None:
        fix = "such as: every friday at 9, on the 1st of each month, in two hours, when a.md mentions invoice"
        raise InputError("WHEN_UNCLEAR", f"{request.when[:80]!r} is no time", place="when", fix=fix)
    return (Reference(uri=found.uri, type="recurrence", role=RECURRENCE, summary=found.words),)


def _deadline_of(constraints: Iterable[Constraint]) -> str:
    """The earliest hard deadline, or ""."""
    return min(
        (one.by for one in constraints if isinstance(one, DeadlineConstraint) and one.hard), default=""
    )


def _confidence(goal: Understanding, gaps: tuple[Gap, ...], rules: Rules) -> float:
    """The product of the parts that there are, each to the power of its weight, and of a factor for each
    gap."""
    confidence = prod(math.pow(part.share, part.weight) for part in _parts(goal, rules))
    confidence *= prod(rules.factors[gap.severity] for gap in gaps)
    return round(min(1.0, max(0.0, confidence)), CONFIDENCE_DIGITS)


def _parts(goal: Understanding, rules: Rules) -> list[ConfidencePart]:
    """What a confidence is made of beside the gaps: slots, and limits, count together by their mean."""
    classified, extraction = goal.classified, goal.extraction
    # Their mean and not their product: a skill with many slots would never be sure enough otherwise.
    slots = [p for path, p in extraction.certainty.items() if path.startswith("frame.objects")]
    limits = [p for path, p in extraction.certainty.items() if not path.startswith("frame.objects")]
    parts = {"skill": classified.skill_probability, "verb": classified.verb_probability}
    parts |= {"slots": sum(slots) / len(slots)} if slots else {}
    parts |= {"constraints": sum(limits) / len(limits)} if limits else {}
    return [ConfidencePart(name, share, rules.weights[name]) for name, share in parts.items()]


def _part_of(gap: Gap, rules: Rules) -> ConfidencePart:
    return ConfidencePart(f"open: {gap.field}", rules.factors[gap.severity], 1.0)


def _with_rest(confidence: float, goal: Understanding, rules: Rules) -> float:
    """A confidence, less what a word takes from it that was not read. A skill without slots reads none."""
    over = goal.extraction.over
    if over is None or not goal.skill.slots:
        return confidence
    return round(confidence * math.pow(over.probability, rules.rest_weight), CONFIDENCE_DIGITS)


def _as_asked(goal: Understanding, gaps: tuple[Gap, ...], confidence: float) -> tuple[Gap, ...]:
    """The gaps with the questions that the skill's clarify blocks word, and those that only these blocks
    ask."""
    unknowns = [gap.why for gap in gaps]
    meant = meant_by(goal, confidence=confidence, unknowns=unknowns)
    worded = {f"slot.{rule.slot}": rule for rule in meant.clarifies}
    asked = []
    for gap in gaps:
        rule = worded.pop(gap.field, None)
        if rule is not None:
            gap = replace(
                gap,
                prompt=rule.prompt or gap.prompt,
                options=gap.options or rule.options,
                default=gap.default or rule.default,
            )
        asked.append(gap)
    # A clarify block words a question that there is, and asks one of its own only where its slot stayed
    # empty.
    empty = {slot.name for slot in goal.skill.slots} - set(filled(goal.extraction))
    for field, rule in worded.items():
        if field not in goal.request.answers and rule.slot in empty:
            severity = "blocking" if rule.required and rule.slot in empty else "preferred"
            hint = next((slot.hint for slot in goal.skill.slots if slot.name == rule.slot), "")
            why = f"the goal does not say {hint or rule.slot}"
            asked.append(Gap(field, rule.type, severity, why, rule.prompt, rule.options, rule.default))
    return one_a_field(asked)


def _doubts(goal: Understanding, rules: Rules) -> tuple[Gap, ...]:
    """A question for each part that is so uncertain by itself that it costs less to ask than to be wrong."""
    classified, extraction, skill = goal.classified, goal.extraction, goal.skill
    answers = goal.request.answers
    parts: list[tuple[float, Gap]] = []
    if not goal.request.skill and classified.others:
        why, options = f"“{skill.display}” may not be what is meant", (skill.id, *classified.others)
        gap = Gap("skill", "SkillRef", "preferred", why, rules.routing(0.0).said, options, skill.id)
        parts.append((classified.skill_probability, gap))
    parts += ((classified.verb_probability, gap) for gap in classified.gaps)
    hints = {slot.name: slot.hint for slot in skill.slots}
    # What a skill for any goal is about is shown, never asked: it does nothing with it. Nor is what a
    # model is told in the words of the goal.
    for place, entry in enumerate(() if skill.takes_any else extraction.frame.objects):
        if skill.tells_goal and not FILE_SLOT.search(entry.name):
            continue
        why, question = f"“{entry.value}” may be wrong", slot_question(entry.name, hints.get(entry.name, ""))
        gap = Gap(f"slot.{entry.name}", entry.type, "preferred", why, question, default=entry.value)
        parts.append((extraction.certainty.get(f"frame.objects[{place}]", 1.0), gap))
    parts += (
        (extraction.certainty[path], doubt(field, text, rules.questions[field]))
        for path, (field, text) in extraction.said.items()
        if field in rules.questions
    )
    return tuple(
        gap
        for certainty, gap in parts
        if gap.field not in answers and rules.routing(certainty).route == "clarify"
    )


# ---- Slots that stay empty although the skill needs them or asks about them.


def with_missing(
    goal: Understanding,
    rules: Rules,
    confidence: float | None = None,
    unknowns: Sequence[str] | None = None,
) -> Understanding:
    """The goal with a gap for each slot that is required, or named in an `unknown` block that applies, and
    empty; other gaps of such a slot block where the block says so.

    confidence, unknowns: where they are known, blocks under conditions on them count too.
    """
    meant, extraction = meant_by(goal, confidence=confidence, unknowns=unknowns), goal.extraction
    objects = extraction.frame.objects
    missing = (
        _missing(slot, meant, rules)
        for slot in goal.skill.slots
        if _is_missing(slot, objects, extraction, meant)
    )
    gaps = (*_strict(extraction.gaps, objects, meant), *missing)
    return replace(goal, extraction=replace(extraction, gaps=gaps))


def meant_by(
    goal: Understanding,
    *,
    confidence: float | None = None,
    unknowns: Sequence[str] | None = None,
    resolver: Resolver | None = None,
) -> Interpretation:
    """What the skill's procedure says of a goal whose slots are filled like this; the rest as `interpret`."""
    return interpret(
        goal.skill,
        verb=goal.classified.verb,
        prose=goal.request.told,
        slots=filled(goal.extraction),
        confidence=confidence,
        unknowns=unknowns,
        resolver=resolver,
    )


def filled(extraction: Extraction) -> dict[str, tuple[SlotValue, ...]]:
    """What fills each slot, as a skill's procedure is told it."""
    values: dict[str, tuple[SlotValue, ...]] = {}
    for one in extraction.frame.objects:
        values[one.name] = (*values.get(one.name, ()), SlotValue(one.value, one.uri, one.value))
    return values


def _is_missing(
    slot: Slot, objects: Sequence[SlotEntry], extraction: Extraction, meant: Interpretation
) -> bool:
    """Whether nothing fills a slot that the skill requires or asks about, and no gap says so yet."""
    if any(one.name == slot.name for one in objects) or any(
        gap.field == f"slot.{slot.name}" for gap in extraction.gaps
    ):
        return False
    return slot.required or any(rule.slot == slot.name for rule in meant.unknowns)


def _missing(slot: Slot, meant: Interpretation, rules: Rules) -> Gap:
    """The gap of an empty slot, as the skill's last `unknown` block for it says, else as the frame module
    does."""
    said = next((rule for rule in reversed(meant.unknowns) if rule.slot == slot.name), None)
    hint = slot.hint or f"the {slot.name.replace('_', ' ')}"
    hint += f" (the address of a memory, {slot.type}/ID)" if is_memory(slot.type) else ""
    why = (said.reason if said else "") or f"the goal does not say {hint}"
    question = "" if said and said.reason else slot_question(slot.name, hint)
    severity = said.severity if said else rules.severities["frame.required_missing"]
    options = (said.options if said else ()) or slot.options
    type_ = (said.type if said else "") or slot.type
    default = said.default if said else ""
    return Gap(f"slot.{slot.name}", type_, severity, why, question, options, default)


def _strict(gaps: Sequence[Gap], objects: Sequence[SlotEntry], meant: Interpretation) -> list[Gap]:
    """The gaps, blocking where the skill says that their slot must not stay empty and it does."""
    full = {one.name for one in objects}
    blocking = {
        f"slot.{one.slot}" for one in meant.unknowns if one.severity == "blocking" and one.slot not in full
    }
    return [replace(gap, severity="blocking") if gap.field in blocking else gap for gap in gaps]
