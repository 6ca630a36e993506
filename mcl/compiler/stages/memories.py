"""What memories know of a goal: told to the model, remembered answers, and addresses for words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ir import Reference, SlotEntry
from mcl.compiler.stages.classify import Classified
from mcl.compiler.stages.constraints import FIELD_OF_PATH
from mcl.compiler.stages.extract import Understanding, read_answer
from mcl.compiler.stages.gaps import Gap
from mcl.compiler.stages.request import GoalRequest
from mcl.compiler.stages.rules import Rules
from mcl.compiler.stages.score import meant_by
from mcl.core.errors import InputError, MemoryStoreError
from mcl.language.mtx.procedure import Interpretation, ResolveRule, SlotValue
from mcl.language.skills import Skill, Skills
from mcl.memory import TYPES, Bundle, Memories, Memory
from mcl.memory.lessons import SKILL, UNTOLD, VERB, Asked, answer_of, bundle, folded, is_on, recalled
from mcl.memory.memory import parse_uri

# ---- What a person answered before, for a goal in the same words: proposed openly, never over what is said
# now.
#
# A recalled answer stands where an answer stands, and the Intent's references name the memory that it came
# from. What would not be read today (a skill that is gone, another type) is passed over, and the question is
# asked again.

_MOMENTS = ("iso8601",)  # what was Friday then is another day now
_SUMMARY = 160  # characters


class Recall:
    """What was learned, as of one snapshot. `references`: what was made use of."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories
        self._on: bool | None = None
        self.references: list[Reference] = []

    def choice(self, request: GoalRequest, skills: Skills) -> GoalRequest:
        """The request with the skill and the verb that were answered for this goal before."""
        if not self._learned():
            return request
        skill, words = request.skill, folded(request.prose)
        # The skill first: a verb that was answered counts only where that skill has it.
        found: dict[str, Memory] = {}
        if not skill and SKILL not in request.answers:
            memory = recalled(self._memories, Asked("", SKILL, "goal", words))
            chosen = skills.by_id.get(answer_of(memory)) if memory else None
            if memory and chosen and (not request.verb or request.verb in chosen.verbs):
                found[SKILL], skill = memory, chosen.id
        if not request.verb and VERB not in request.answers:
            memory = recalled(self._memories, Asked("", VERB, "goal", words))
            able = [skills.by_id[skill]] if skill in skills.by_id else () if skill else skills
            if memory and any(answer_of(memory) in one.verbs for one in able):
                found[VERB] = memory
        return self._with(request, found)

    def fields(self, request: GoalRequest, skill: Skill, rules: Rules) -> GoalRequest:
        """The request with what was answered for this goal before, about fields of its skill."""
        if not self._learned():
            return request
        # What was answered is read like an answer of today before it counts: a slot may have another type by
        # now.
        words, found = folded(request.prose), dict[str, Memory]()
        for field in learnable(skill):
            if field in request.answers or field.removeprefix("slot.") in request.slots:
                continue
            memory = recalled(self._memories, Asked(skill.id, field, "goal", words))
            if memory is not None and _reads(request, skill, field, answer_of(memory), rules):
                found[field] = memory
        return self._with(request, found)

    def meaning(self, skill: str, field: str, value: str) -> Memory | None:
        """The memory that a slot's words were answered to mean, in its current version."""
        if not self._learned():
            return None
        lesson = recalled(self._memories, Asked(skill, field, "value", folded(value)))
        meant = current(self._memories, answer_of(lesson)) if lesson else None
        if lesson is not None and meant is not None:
            self._refer(field, lesson)
        return meant

    def _with(self, request: GoalRequest, found: dict[str, Memory]) -> GoalRequest:
        if not found:
            return request
        for field, memory in found.items():
            self._refer(field, memory)
        return request.answered(
            {**{field: answer_of(one) for field, one in found.items()}, **request.answers}
        )

    def _refer(self, field: str, memory: Memory) -> None:
        summary = " ".join(memory.text.split())[:_SUMMARY]
        self.references.append(Reference(uri=memory.uri, type=memory.type, role=field, summary=summary))

    def _learned(self) -> bool:
        if self._on is None:
            self._on = bool(self._memories.size) and is_on(self._memories)
        return self._on


def learnable(skill: Skill) -> Iterator[str]:
    """The fields of a skill whose answers are learned: all but moments, which mean another day later."""
    yield from (f"slot.{slot.name}" for slot in skill.slots if slot.type not in _MOMENTS)
    yield from (path for path, name in FIELD_OF_PATH.items() if name != "deadline")


def current(memories: Memories, uri: str) -> Memory | None:
    """The current version of the memory at an address; None where there is none, or it is none's address."""
    try:
        type_, id_, _ = parse_uri(uri)
    except MemoryStoreError:
        return None
    return memories.resolve(f"matrix://cortex/{type_}/{id_}")


def _reads(request: GoalRequest, skill: Skill, field: str, answer: str, rules: Rules) -> bool:
    try:
        read_answer(request, skill, field, answer, rules)
    except InputError:
        return False
    return True


# ---- Stage 3: what the memories know that may matter, as a short text.


def prefetch(request: GoalRequest, classified: Classified, memories: Memories, rules: Rules) -> Bundle:
    """The bundle for a verb, a goal and a skill: the same bytes for the same snapshot.

    Empty where the skill reads nothing; at most as many tokens as the skill's `budget` and the pipeline
    module allow.
    """
    skill = classified.skill
    reads = tuple(name for name in skill.reads if name in TYPES)  # others were warned of
    if not memories.size or not reads:
        return Bundle()
    tokens = min(skill.budget or rules.bundle_tokens, rules.bundle_tokens)
    near = f"{classified.verb} {request.prose}"
    return bundle(memories, near, types=reads, tags=skill.tags, tokens=tokens)


# ---- Stage 5: from the words for a thing to the address of what is meant, where the memories know it.

_CORTEX = "matrix://cortex/"


def resolve(goal: Understanding, memories: Memories, rules: Rules, recall: Recall) -> Understanding:
    """The goal with addresses and references, by the skill's resolve lines for the slots that are filled.

    One memory found (or one that says exactly the words) → its versioned address; several → a preferred gap
    with the options; none → a blocking gap for a required slot, a preferred one for another, but none for a
    slot of type string, whose words are a value by themselves. A slot that a person answered or that is an
    address already is left as it is, but for the version of a memory, which is added where it names none; an
    address at which nothing is remembered blocks. An empty slot is never filled from memory. recall: knows
    what words were answered to mean before; that comes first.
    """
    run, extraction = _Run(goal, memories, rules, recall), goal.extraction
    meant = meant_by(goal, resolver=run.look_up)
    words = {slot.name for slot in goal.skill.slots if slot.type == "string"}
    failed = [one for one in run.failed.values() if one.found or one.rule.slot not in words]
    gaps = (*extraction.gaps, *run.nowhere, *(run.gap(one, meant) for one in failed))
    frame = extraction.frame.model_copy(update={"objects": tuple(run.objects)})
    references = (*run.references, *recall.references)
    return replace(goal, extraction=replace(extraction, frame=frame, gaps=gaps), references=references)


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
    # Of several memories that are like the words, one that says exactly these is meant.
    same = [one for one in found if value.casefold() in {one.id.casefold(), one.text.casefold()}]
    return tuple(same if len(same) == 1 else found)


@dataclass(frozen=True)
class _Failed:
    """A value that a resolve line did not turn into one address."""

    rule: ResolveRule
    value: str
    found: tuple[Memory, ...]


class _Run:
    def __init__(self, goal: Understanding, memories: Memories, rules: Rules, recall: Recall) -> None:
        self.rules = rules
        self.request = goal.request
        self.skill = goal.skill
        self.memories = memories
        self.recall = recall
        objects = goal.extraction.frame.objects
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
            # What a person gave as an address, or answered now, is never replaced by what is remembered.
            if entry.uri or entry.value.startswith(_CORTEX) or f"slot.{rule.slot}" in self.request.answers:
                continue
            meant = self.recall.meaning(self.skill.id, f"slot.{rule.slot}", entry.value)
            if meant is not None:
                self._resolved(place, entry, meant)
                changed = True
                continue
            own = rule
            # The procedure fills `near` with all entries of a list at once; each is looked for by its own
            # words.
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

    def gap(self, failed: _Failed, meant: Interpretation) -> Gap:
        """What is left open by a slot that was not resolved to one memory."""
        rule, value = failed.rule, failed.value
        slot = next(one for one in self.skill.slots if one.name == rule.slot)
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
            # An address of nothing is no address: the slot keeps the text, and what blocks asks about it.
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
    except MemoryStoreError:
        return None


def _types(rule: ResolveRule) -> tuple[str, ...]:
    named = rule.arguments.get("type", ())
    return tuple(named.split()) if isinstance(named, str) else named or TYPES
