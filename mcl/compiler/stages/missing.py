"""Slots that stay empty although the skill needs them or asks about them."""

from collections.abc import Sequence
from dataclasses import replace

from ir import SlotEntry
from mcl.compiler.stages.classify import Classified
from mcl.compiler.stages.constraints import Gap
from mcl.compiler.stages.extract import Extraction
from mcl.compiler.stages.request import Request
from mcl.compiler.stages.rules import Rules
from mcl.language.mtx.interpret import Interpretation, Resolver, SlotValue, interpret
from mcl.language.skills import Slot
from mcl.values.slots import is_memory


def with_missing(
    request: Request,
    classified: Classified,
    extraction: Extraction,
    rules: Rules,
    confidence: float | None = None,
    unknowns: Sequence[str] | None = None,
) -> Extraction:
    """The extraction with a gap for each slot that is required, or named in an `unknown` block that applies,
    and empty; other gaps of such a slot block where the block says so.

    confidence, unknowns: where they are known, blocks under conditions on them count too.
    """
    meant = meant_by(request, classified, extraction, confidence=confidence, unknowns=unknowns)
    objects = extraction.frame.objects
    missing = (
        _missing(slot, meant, rules)
        for slot in classified.skill.slots
        if _is_missing(slot, objects, extraction, meant)
    )
    return replace(extraction, gaps=(*_strict(extraction.gaps, objects, meant), *missing))


def meant_by(
    request: Request,
    classified: Classified,
    extraction: Extraction,
    *,
    confidence: float | None = None,
    unknowns: Sequence[str] | None = None,
    resolver: Resolver | None = None,
) -> Interpretation:
    """What the skill's procedure says of a goal whose slots are filled like this; the rest as `interpret`."""
    return interpret(
        classified.skill,
        verb=classified.verb,
        prose=request.prose,
        slots=filled(extraction),
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
    hint = f" ({slot.hint})" if slot.hint else ""
    hint += f", the address of a memory, {slot.type}/ID" if is_memory(slot.type) else ""
    why = (said.reason if said else "") or f"the goal does not say {slot.name}{hint}"
    severity = said.severity if said else rules.severities["frame.required_missing"]
    options = (said.options if said else ()) or slot.options
    type_ = (said.type if said else "") or slot.type
    return Gap(
        f"slot.{slot.name}", type_, severity, why, options=options, default=said.default if said else ""
    )


def _strict(gaps: Sequence[Gap], objects: Sequence[SlotEntry], meant: Interpretation) -> list[Gap]:
    """The gaps, blocking where the skill says that their slot must not stay empty and it does."""
    full = {one.name for one in objects}
    blocking = {
        f"slot.{one.slot}" for one in meant.unknowns if one.severity == "blocking" and one.slot not in full
    }
    return [replace(gap, severity="blocking") if gap.field in blocking else gap for gap in gaps]
