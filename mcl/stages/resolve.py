"""Stage 5: from the words for a thing to the address of what is meant, where the memories know it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ir import Reference, SlotEntry
from mcl.cortex import TYPES, Memories, Memory
from mcl.errors import CortexError
from mcl.mtx.interpret import Interpretation, ResolveRule, SlotValue
from mcl.stages.classify import Classified
from mcl.stages.extract import Extraction
from mcl.stages.gaps import Gap
from mcl.stages.missing import meant_by
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
    with the options; none → a blocking gap for a required slot, a preferred one for another, but none for a
    slot of type string, whose words are a value by themselves. A slot that a person answered or that is an
    address already is left as it is; an empty one is never filled from memory.
    """
    run = _Run(request, memories, extraction.frame.objects, rules)
    meant = meant_by(request, classified, extraction, resolver=run.look_up)
    words = {slot.name for slot in classified.skill.slots if slot.type == "string"}
    failed = [one for one in run.failed.values() if one.found or one.rule.slot not in words]
    gaps = (*extraction.gaps, *(run.gap(one, meant, classified) for one in failed))
    frame = extraction.frame.model_copy(update={"objects": tuple(run.objects)})
    return Resolution(replace(extraction, frame=frame, gaps=gaps), tuple(run.references))


def look_up(rule: ResolveRule, value: str, memories: Memories, rules: Rules) -> tuple[Memory, ...]:
    """What a resolve line finds for one value: exactly one where it is clear which memory is meant.

    `find` and `context` look for memories like `near` (or `text`), of these types and with these tags;
    `resolve` takes the memory at an address (`uri`, or `id` with one type), by default the value itself.
    """
    said = {key: text if isinstance(text, str) else " ".join(text) for key, text in rule.arguments.items()}
    types = tuple(name for name in said.get("type", "").split() if name in TYPES)
    if "type" in said and not types:
        return ()  # only types that there are not: nothing is found
    if rule.call == "resolve":
        addresses = [f"matrix://cortex/{name}/{said['id']}" for name in types] if "id" in said else []
        memory = next(
            filter(None, (_memory(memories, uri) for uri in addresses or [said.get("uri", value)])), None
        )
        found = [memory] if memory else []
    else:
        found = memories.find(
            types=types or TYPES,
            tags=f"{said.get('tag', '')} {said.get('tags', '')}".split(),
            near=said.get("near", said.get("text", value)),
            limit=int(said.get("limit", rules.memories)),
        )
    same = [one for one in found if value.casefold() in {one.id.casefold(), one.text.casefold()}]
    return tuple(same if len(same) == 1 else found)


@dataclass(frozen=True)
class _Failed:
    """A value that a resolve line did not turn into one address."""

    rule: ResolveRule
    value: str
    found: tuple[Memory, ...]


class _Run:
    def __init__(
        self, request: Request, memories: Memories, objects: Sequence[SlotEntry], rules: Rules
    ) -> None:
        self.rules = rules
        self.request = request
        self.memories = memories
        self.objects = list(objects)
        self.references: list[Reference] = []
        self.failed: dict[int, _Failed] = {}  # by place among the objects
        for one in objects:
            if one.uri:
                self._refer(one.uri, one.name, _memory(memories, one.uri))

    def look_up(self, rule: ResolveRule) -> Sequence[SlotValue] | None:
        """Resolve each entry of a slot that has no address yet; None where none got one."""
        places = [place for place, entry in enumerate(self.objects) if entry.name == rule.slot]
        said = ", ".join(self.objects[place].value for place in places)
        changed = False
        for place in places:
            entry = self.objects[place]
            if entry.uri or f"slot.{rule.slot}" in self.request.answers:
                continue
            own = rule
            if len(places) > 1 and rule.arguments.get("near") == said:  # each entry by its own words
                own = replace(rule, arguments={**rule.arguments, "near": entry.value})
            found = look_up(own, entry.value, self.memories, self.rules)
            if len(found) == 1:
                self.objects[place] = entry.model_copy(update={"uri": found[0].uri})
                self._refer(found[0].uri, entry.name, found[0])
                self.failed.pop(place, None)  # an earlier line may have found nothing
                changed = True
            elif found or place not in self.failed:
                self.failed[place] = _Failed(rule, entry.value, found)
        entries = (self.objects[place] for place in places)
        return [SlotValue(one.value, one.uri, one.value) for one in entries] if changed else None

    def gap(self, failed: _Failed, meant: Interpretation, classified: Classified) -> Gap:
        """What is left open by a slot that was not resolved to one memory."""
        rule, value = failed.rule, failed.value
        slot = next(one for one in classified.skill.slots if one.name == rule.slot)
        field = f"slot.{rule.slot}"
        if failed.found:
            options = tuple(one.uri for one in failed.found)[: self.rules.options]
            severity, why = (
                self.rules.severities["pre_resolve.several"],
                f"“{value}” may mean several remembered things",
            )
            return Gap(field, slot.type, severity, why, options=options)
        said = next((unknown for unknown in meant.unknowns if unknown.slot == rule.slot), None)
        case = f"pre_resolve.{'required' if slot.required else 'optional'}_not_found"
        severity = said.severity if said else self.rules.severities[case]
        why = f"nothing remembered is known as “{value}”"
        hint = f"matrix://cortex/{_types(rule)[0]}"
        return Gap(field, slot.type, severity, why, default=value, source_hint=hint)

    def _refer(self, uri: str, slot: str, memory: Memory | None) -> None:
        summary = " ".join(memory.text.split())[:_SUMMARY] if memory else ""
        self.references.append(
            Reference(uri=uri, type=memory.type if memory else "", role=f"slot.{slot}", summary=summary)
        )


def _memory(memories: Memories, uri: str) -> Memory | None:
    try:
        return memories.resolve(uri)
    except CortexError:
        return None


def _types(rule: ResolveRule) -> tuple[str, ...]:
    named = rule.arguments.get("type", ())
    return tuple(named.split()) if isinstance(named, str) else named or TYPES
