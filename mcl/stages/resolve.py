"""Stage 5: from the words for a thing to the address of what is meant, where the memories know it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ir import Reference, SlotEntry
from mcl.cortex import TYPES, Memories, Memory
from mcl.errors import CortexError
from mcl.mtx.interpret import Interpretation, ResolveRule, SlotValue, interpret
from mcl.skills import Slot
from mcl.stages.classify import Classified
from mcl.stages.extract import Extraction
from mcl.stages.gaps import Gap
from mcl.stages.request import Request
from mcl.stages.rules import Rules

_SUMMARY = 160  # characters


@dataclass(frozen=True)
class Resolution:
    """The extraction with addresses, and what the intent rests on."""

    extraction: Extraction
    references: tuple[Reference, ...] = ()


def resolve(
    request: Request, classified: Classified, extraction: Extraction, memories: Memories, rules: Rules
) -> Resolution:
    """Run the skill's resolve lines for the slots that are filled.

    One memory found (or one that says exactly the words) → its versioned address; several → a preferred gap
    with the options; none → a blocking gap for a required slot, a preferred one for another. A slot that a
    person answered or that is an address already is left as it is; an empty one is never filled from memory.
    """
    run = _Run(request, memories, extraction.frame.objects, rules)
    meant = interpret(
        classified.skill,
        verb=classified.verb,
        prose=request.prose,
        slots=filled(extraction),
        resolver=run.look_up,
    )
    unresolved = (run.gap(rule, meant, classified) for rule in run.failed)
    gaps = tuple(_strict([*extraction.gaps, *unresolved], run.objects, meant)) + tuple(
        _missing(slot, meant, rules)
        for slot in classified.skill.slots
        if _is_missing(slot, run.objects, extraction, meant)
    )
    frame = extraction.frame.model_copy(update={"objects": tuple(run.objects)})
    return Resolution(replace(extraction, frame=frame, gaps=gaps), tuple(run.references))


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


class _Run:
    def __init__(
        self, request: Request, memories: Memories, objects: Sequence[SlotEntry], rules: Rules
    ) -> None:
        self.rules = rules
        self.request = request
        self.memories = memories
        self.objects = list(objects)
        self.references: list[Reference] = []
        self.failed: list[tuple[ResolveRule, str, tuple[Memory, ...]]] = []
        for one in objects:
            if one.uri:
                self._refer(one.uri, one.name, self._memory(one.uri))

    def look_up(self, rule: ResolveRule) -> SlotValue | None:
        """Resolve one slot; None leaves it as it is."""
        for place, entry in enumerate(self.objects):
            if entry.name != rule.slot or entry.uri or f"slot.{rule.slot}" in self.request.answers:
                continue
            found = self._find(rule, entry.value)
            same = [
                one for one in found if entry.value.casefold() in {one.id.casefold(), one.text.casefold()}
            ]
            if len(same) == 1 or len(found) == 1:
                one = (same or found)[0]
                self.objects[place] = entry.model_copy(update={"uri": one.uri})
                self._refer(one.uri, entry.name, one)
                return SlotValue(entry.value, one.uri, entry.value)
            self.failed.append((rule, entry.value, tuple(found)))
        return None

    def gap(
        self,
        failed: tuple[ResolveRule, str, tuple[Memory, ...]],
        meant: Interpretation,
        classified: Classified,
    ) -> Gap:
        """What is left open by a slot that was not resolved to one memory."""
        rule, value, found = failed
        field, slot = (
            f"slot.{rule.slot}",
            next(one for one in classified.skill.slots if one.name == rule.slot),
        )
        if found:
            options = tuple(one.uri for one in found)[: self.rules.options]
            return Gap(
                field,
                slot.type,
                self.rules.severities["pre_resolve.several"],
                f"“{value}” may mean several remembered things",
                options=options,
            )
        said = next((unknown for unknown in meant.unknowns if unknown.slot == rule.slot), None)
        case = f"pre_resolve.{'required' if slot.required else 'optional'}_not_found"
        severity = said.severity if said else self.rules.severities[case]
        why = f"nothing remembered is known as “{value}”"
        return Gap(
            field, slot.type, severity, why, default=value, source_hint=f"matrix://cortex/{_types(rule)[0]}"
        )

    def _find(self, rule: ResolveRule, value: str) -> list[Memory]:
        if rule.call == "resolve":
            memory = self._memory(value)
            return [memory] if memory else []
        near = rule.arguments.get("near", value)
        limit = rule.arguments.get("limit", str(self.rules.memories))
        tags = rule.arguments.get("tags", ())
        return self.memories.find(
            types=_types(rule),
            tags=tags.split() if isinstance(tags, str) else tags,
            near=near if isinstance(near, str) else " ".join(near),
            limit=int(limit) if isinstance(limit, str) else self.rules.memories,
        )

    def _memory(self, uri: str) -> Memory | None:
        try:
            return self.memories.resolve(uri)
        except CortexError:
            return None

    def _refer(self, uri: str, slot: str, memory: Memory | None) -> None:
        summary = " ".join(memory.text.split())[:_SUMMARY] if memory else ""
        self.references.append(
            Reference(uri=uri, type=memory.type if memory else "", role=f"slot.{slot}", summary=summary)
        )


def _types(rule: ResolveRule) -> tuple[str, ...]:
    named = rule.arguments.get("type", ())
    return tuple(named.split()) if isinstance(named, str) else named or TYPES
