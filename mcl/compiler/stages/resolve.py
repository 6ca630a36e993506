"""Stage 5: from the words for a thing to the address of what is meant, where the memories know it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ir import Reference, SlotEntry
from mcl.compiler.stages.classify import Classified
from mcl.compiler.stages.constraints import Gap
from mcl.compiler.stages.extract import Extraction
from mcl.compiler.stages.missing import meant_by
from mcl.compiler.stages.recall import Recall, current
from mcl.compiler.stages.request import Request
from mcl.compiler.stages.rules import Rules
from mcl.core.errors import CortexError
from mcl.language.mtx.interpret import Interpretation, ResolveRule, SlotValue
from mcl.memory import TYPES, Memories, Memory
from mcl.memory.learned import UNTOLD, bundle

_SUMMARY = 160  # characters
_CORTEX = "matrix://cortex/"


@dataclass(frozen=True)
class Resolution:
    """The extraction with addresses, and what the intent rests on."""

    extraction: Extraction
    references: tuple[Reference, ...] = ()


def resolve(
    request: Request,
    classified: Classified,
    extraction: Extraction,
    memories: Memories,
    rules: Rules,
    recall: Recall | None = None,
) -> Resolution:
    """Run the skill's resolve lines for the slots that are filled.

    One memory found (or one that says exactly the words) → its versioned address; several → a preferred gap
    with the options; none → a blocking gap for a required slot, a preferred one for another, but none for a
    slot of type string, whose words are a value by themselves. A slot that a person answered or that is an
    address already is left as it is, but for the version of a memory, which is added where it names none; an
    address at which nothing is remembered blocks. An empty slot is never filled from memory. recall: knows
    what words were answered to mean before; that comes first.
    """
    run = _Run(request, classified, memories, extraction.frame.objects, rules, recall or Recall(memories))
    meant = meant_by(request, classified, extraction, resolver=run.look_up)
    words = {slot.name for slot in classified.skill.slots if slot.type == "string"}
    failed = [one for one in run.failed.values() if one.found or one.rule.slot not in words]
    gaps = (*extraction.gaps, *run.nowhere, *(run.gap(one, meant, classified) for one in failed))
    frame = extraction.frame.model_copy(update={"objects": tuple(run.objects)})
    return Resolution(replace(extraction, frame=frame, gaps=gaps), tuple(run.references))


def look_up(rule: ResolveRule, value: str, memories: Memories, rules: Rules) -> tuple[Memory, ...]:
    """What a resolve line finds for one value: exactly one where it is clear which memory is meant.

    `find` looks for memories like `near` (or `text`), of these types and with these tags (what answers taught
    is none of them); `context` for
    pinned ones, those like it and outcomes, as many as fit in `budget` tokens (default: those of a bundle);
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
        near = said.get("near", said.get("text", value))
        tags = tuple(f"{said.get('tag', '')} {said.get('tags', '')}".split())
        limit = int(said.get("limit", rules.memories))
        if rule.call == "context":
            budget = int(said.get("budget", rules.bundle_tokens))
            around = bundle(memories, near, types=types or TYPES, tags=(), tokens=budget).memories
            found = [one for one in around if set(tags) <= set(one.tags)][:limit]
        else:
            found = memories.find(types=types or TYPES, tags=tags, near=near, limit=limit, without=UNTOLD)
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
        self,
        request: Request,
        classified: Classified,
        memories: Memories,
        objects: Sequence[SlotEntry],
        rules: Rules,
        recall: Recall,
    ) -> None:
        self.rules = rules
        self.request = request
        self.skill = classified.skill
        self.memories = memories
        self.recall = recall
        self.objects = list(objects)
        self.references: list[Reference] = []
        self.failed: dict[int, _Failed] = {}  # by place among the objects
        self.nowhere: list[Gap] = []  # addresses of memories that there are not
        for place, one in enumerate(objects):
            if one.uri:
                self._pin(place, one)

    def look_up(self, rule: ResolveRule) -> Sequence[SlotValue] | None:
        """Resolve each entry of a slot that has no address yet; None where none got one."""
        places = [place for place, entry in enumerate(self.objects) if entry.name == rule.slot]
        said = ", ".join(self.objects[place].value for place in places)
        changed = False
        for place in places:
            entry = self.objects[place]
            if entry.uri or entry.value.startswith(_CORTEX) or f"slot.{rule.slot}" in self.request.answers:
                continue
            meant = self.recall.meaning(self.skill.id, f"slot.{rule.slot}", entry.value)
            if meant is not None:
                self._resolved(place, entry, meant)
                changed = True
                continue
            own = rule
            if len(places) > 1 and rule.arguments.get("near") == said:  # each entry by its own words
                own = replace(rule, arguments={**rule.arguments, "near": entry.value})
            found = look_up(own, entry.value, self.memories, self.rules)
            if len(found) == 1:
                self._resolved(place, entry, found[0])
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

    def _pin(self, place: int, entry: SlotEntry) -> None:
        """An address that was given: that of a memory gets its version, and must be that of one."""
        memory = _memory(self.memories, entry.uri)
        if memory is not None:
            self.objects[place] = entry.model_copy(update={"uri": memory.uri})
            self._refer(memory.uri, entry.name, memory)
        elif entry.uri.startswith(_CORTEX):
            self.objects[place] = entry.model_copy(update={"uri": ""})
            now = current(self.memories, entry.uri)
            options = (now.uri,) if now is not None else ()
            why = f"nothing is remembered at {entry.uri}"
            self.nowhere.append(Gap(f"slot.{entry.name}", entry.type, "blocking", why, options=options))
        else:
            self._refer(entry.uri, entry.name, None)

    def _resolved(self, place: int, entry: SlotEntry, memory: Memory) -> None:
        self.objects[place] = entry.model_copy(update={"uri": memory.uri})
        self._refer(memory.uri, entry.name, memory)
        self.failed.pop(place, None)  # an earlier line may have found nothing

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
