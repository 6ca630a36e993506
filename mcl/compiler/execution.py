"""What the walker asks of the skills while a plan runs: a model's answers, prompts, plans of sub-skills, and
how failures are told.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from threading import Lock

from anyio import to_thread

from executor.core.clock import derived_id, moment_of_id
from executor.tools.tool import unheard
from executor.walker.engine import Failure
from executor.walker.interfaces import Expansion, FailureMode, StepAnswer
from ir import CompileMetadata, DocumentError, Frame, Intent, SlotEntry, parse_json, with_hash
from mcl.core.errors import SkillError
from mcl.language.mtx.ast import File, PromptNode, prompt_names
from mcl.language.mtx.procedure import Interpretation, Script, SlotInput, interpret, objects_by_slot
from mcl.language.mtx.source import nearest
from mcl.language.plans.binding import Bindings
from mcl.language.plans.planner import KnownTools, make_plan
from mcl.language.skills import Skill, Skills, Slot
from mcl.model.protocol import Model, StepWriter
from mcl.values.slots import read_slot

# ---- What the walker needs for the step nodes of a plan, filled in by a model and a skill.


class ModelReasoner:
    """Answers step nodes with a model, which is opened at the first of them and asked one thing at a time."""

    def __init__(self, load: Callable[[], Model]) -> None:
        self._load = load
        self._model: Model | None = None
        # A model is not for several threads; a step that was given up may still be in it.
        self._turn = Lock()

    async def reason(self, *, system: str, user: str, outputs: Sequence[str], kind: str) -> StepAnswer:
        """One value for each name in `outputs`. Raises ModelError."""
        return await self.reason_live(system=system, user=user, outputs=outputs, kind=kind, tell=unheard)

    async def reason_live(
        self, *, system: str, user: str, outputs: Sequence[str], kind: str, tell: Callable[[bytes], None]
    ) -> StepAnswer:
        """The same, told as it is written by a model that writes."""

        def ask() -> StepAnswer:
            with self._turn:
                self._model = model = self._model or self._load()
                if isinstance(model, StepWriter):
                    wrote = model.write_step(system, user, outputs, kind, tell)
                    return StepAnswer(wrote.outputs, model.digest, wrote.grammar, wrote.tokens)
                return StepAnswer(model.reason(system, user, outputs, kind), model.digest, model.grammar)

        # A model cannot be interrupted: a cancelled run does not wait for it, and the lock keeps the next
        # step out until it is done.
        return await to_thread.run_sync(ask, abandon_on_cancel=True)


class SkillPrompts:
    """The prompts of the skill that an Intent was compiled with."""

    def __init__(self, intent: Intent, skill: Skill) -> None:
        self._intent = intent
        self._skill = skill

    def prompt(self, skill_ref: str, name: str, inputs: Mapping[str, str]) -> tuple[str, str]:
        """The system and user text of a skill's prompt for this Intent.

        name: the verb of the `on verb=` block that holds it; "": the one that fits the Intent, of
        which only the system text is taken. inputs: a step's texts by name. Those that are named
        like a slot fill it in the user text (never in the system text: they may come from tools), the others
        are added to it, a line each.

        Raises SkillError SKILL_CHANGED (the installed skill is another one than the plan's), NO_PROMPT.
        """
        # What was signed names the skill by its digest: another text under the same name is another prompt
        # than the person agreed to.
        if skill_ref != self._skill.ref:
            raise SkillError(
                "SKILL_CHANGED",
                f"the plan was made with {skill_ref}; installed is {self._skill.ref}",
                place=str(self._skill.path),
                fix="install that version, or compile the goal again",
            )
        names = prompt_names(self._skill.file)
        if name and name not in names:
            fix = f"name one of the skill's: {', '.join(names) or 'it has none'}"
            raise SkillError("NO_PROMPT", f"no prompt {name!r}", place=skill_ref, fix=fix)
        slots = objects_by_slot(self._intent)
        most = self._meant(self._skill, name, slots).output_cardinality
        script = _Blocks(self._skill.file) if name else self._skill
        # From the Intent's slots alone: inputs of a step may come from tools, and what a page says must not
        # become an instruction.
        system = self._meant(script, name, slots).system
        if most > 1:
            system = f"{system}\nGive at most {most} results.".strip()
        if not name:
            return system, ""
        declared = {slot.name for slot in self._skill.slots}
        bound = {**slots, **{key: inputs[key] for key in inputs if key in declared}}
        user = self._meant(script, name, bound).user
        left = [f"{key}: {text}" for key, text in inputs.items() if key not in declared or text not in user]
        return system, "\n".join([user, *left])

    def _meant(self, script: Script, name: str, slots: Mapping[str, SlotInput]) -> Interpretation:
        intent = self._intent
        return interpret(
            script,
            verb=name or intent.frame.verb,
            prose=intent.prose,
            slots=slots,
            confidence=intent.confidence,
            unknowns=[gap.rationale for gap in intent.unknowns],
        )


class CurrentPrompts:
    """The prompts of a run's skill for its Intent as it stands at each step: it may be corrected meanwhile.

    intent: gives it; skill: opens the skill, when the first step needs it or `load` asks for it.
    """

    def __init__(self, intent: Callable[[], Intent | None], skill: Callable[[], Skill]) -> None:
        self._intent = intent
        self._open = skill
        self._skill: Skill | None = None

    def load(self) -> Skill:
        """Open the skill. Raises SkillError."""
        self._skill = self._skill or self._open()
        return self._skill

    def prompt(self, skill_ref: str, name: str, inputs: Mapping[str, str]) -> tuple[str, str]:
        intent = self._intent()
        assert intent is not None, "a step runs under an Intent"
        return SkillPrompts(intent, self.load()).prompt(skill_ref, name, inputs)


class _Blocks:
    """A skill without the prompt that stands outside of all blocks, which is the Intent's own."""

    def __init__(self, file: File) -> None:
        sections = tuple(
            replace(section, entries=tuple(one for one in section.entries if not isinstance(one, PromptNode)))
            for section in file.sections
        )
        self.file = File(sections)


# ---- The sub_dispatch nodes of a plan, filled in by the installed skills.


class InstalledSkills:
    """Makes the plans of sub-dispatches. The skills are looked for at the first of them.

    registry: the installed tools (None: not compared with the plans).
    """

    def __init__(self, load: Callable[[], Skills], registry: KnownTools | None = None) -> None:
        self._load = load
        self._registry = registry
        self._bindings: Bindings | None = None

    def expand(self, skill_ref: str, frame: Frame, parent: Intent, *, id: str, prose: str) -> Expansion:
        """What a skill makes of a Frame (SubSkills of the executor). No model is asked: the Frame says all.

        Raises SkillError: SUB_SKILL_MISSING, SKILL_CHANGED, SUB_SKILL_CYCLE; VERB_UNKNOWN, SLOT_UNKNOWN,
        SLOT_EMPTY, SLOT_INVALID, SLOT_TOO_MANY where the Frame does not fit the skill; what make_plan raises.
        """
        bindings = self._bound()
        skill = bindings.skill(skill_ref)
        content = bindings.bound(skill_ref).rpartition(":")[2]
        if frame.verb not in skill.verbs:
            raise _unfit(
                "VERB_UNKNOWN",
                skill,
                f"it has no verb {frame.verb!r}",
                f"use one of: {', '.join(skill.verbs)}",
            )
        intent = with_hash(
            Intent(
                id=id,
                parent=f"matrix://intent/{parent.id}",
                actor=parent.actor,
                agent=parent.agent,
                prose=prose,
                frame=frame.model_copy(update={"objects": tuple(_objects(skill, frame, parent))}),
                state="accepted",
                confidence=1.0,
                deadline=parent.deadline,
                created_at=parent.created_at,
                expires_at=parent.expires_at,
                signed_by=parent.signed_by,
                compile_metadata=CompileMetadata(
                    mtx_digest=content, skill_id=skill.id, skill_version=skill.version
                ),
            )
        )
        plan = make_plan(
            skill,
            intent,
            id=derived_id(f"plan {intent.hash}", moment_of_id(id)),
            created_at=parent.created_at,
            created_by=parent.agent,
            registry=self._registry,
            binder=bindings,
            dispatched=True,
        )
        return Expansion(intent, plan, SkillPrompts(intent, skill))

    def takes_any(self, skill_ref: str) -> bool:
        """Whether the installed skill of a plan is for any goal (mcl.takes=any)."""
        try:
            return self._bound().skill(skill_ref).takes_any
        except SkillError:
            return False

    def _bound(self) -> Bindings:
        self._bindings = self._bindings or Bindings(self._load())
        return self._bindings


def _objects(skill: Skill, frame: Frame, parent: Intent) -> Iterator[SlotEntry]:
    """The objects of a Frame as the skill's slots take them, in the order of the slots."""
    slots = {slot.name: slot for slot in skill.slots}
    for entry in frame.objects:
        if entry.name not in slots:
            hint = nearest(entry.name, slots) or f"it has: {', '.join(slots) or 'none'}"
            raise _unfit("SLOT_UNKNOWN", skill, f"it has no input {entry.name!r}", hint)
    for slot in skill.slots:
        entries = [
            one
            for entry in frame.objects
            if entry.name == slot.name
            for one in _typed(entry, slot, skill, parent)
        ]
        if slot.required and not slot.default and not entries:
            raise _unfit(
                "SLOT_EMPTY", skill, f"its input {slot.name!r} is not given", "give it in sub_intent"
            )
        if len(entries) > slot.most == 1 and (slot.name, "list") in skill.given:  # a line each
            entries = [entries[0].model_copy(update={"value": "\n".join(one.value for one in entries)})]
        if len(entries) > slot.most:
            message = f"its input {slot.name!r} takes {slot.most}, and {len(entries)} are given"
            raise _unfit("SLOT_TOO_MANY", skill, message, "give fewer")
        yield from entries


def _typed(entry: SlotEntry, slot: Slot, skill: Skill, parent: Intent) -> Iterator[SlotEntry]:
    """An entry with its value as the slot's type writes it; several for a list, none for an empty value."""
    for text in _items(entry.value) if slot.most > 1 else [entry.value]:
        if not text:
            if entry.uri:
                yield entry
            continue
        value = read_slot(text, slot.type, slot.options, parent.created_at, "UTC", slot.name)
        if value is None:
            kind = f"one of {', '.join(slot.options)}" if slot.options else slot.type
            message = f"{text[:80]!r} is no value of its input {slot.name!r}"
            raise _unfit("SLOT_INVALID", skill, message, f"give {kind}")
        # A text stays as it is, blanks at its ends included.
        yield entry.model_copy(update={"value": text if value == text.strip() else value})


def _items(text: str) -> list[str]:
    """The items of a list that a place of plan.yaml was filled with (JSON); else the text as one item."""
    try:
        items = parse_json(text) if text.startswith("[") else None
    except DocumentError:
        return [text]
    if not isinstance(items, list):
        return [text]
    return [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in items]


def _unfit(code: str, skill: Skill, message: str, fix: str) -> SkillError:
    return SkillError(code, f"the skill {skill.id} cannot be dispatched to like this: {message}", fix=fix)


# ---- What a skill says of the ways in which its runs may fail.


def failure_modes(file: File) -> dict[str, FailureMode]:
    """§FAILURE_MODES as the walker reads them, by name."""
    return {
        mode.name: FailureMode(
            mode.reason.value if mode.reason else "",
            mode.message.value if mode.message else "",
            mode.suggest.value.replace("_", " ") if mode.suggest else "",
            mode.retry.value if mode.retry else "",
        )
        for mode in file.failures
    }


def as_told(file: File, failure: Failure) -> tuple[str, str]:
    """What went wrong and what to do, in the skill's words where it has some for it."""
    told = failure_modes(file).get(failure.code.lower())
    return (told.message, told.suggest) if told else (failure.message, failure.fix)


class SkillFailures:
    """The failure modes of the skill of a plan, looked up when a run fails."""

    def __init__(self, load: Callable[[], Skill]) -> None:
        self._load = load

    def modes(self, skill_ref: str) -> Mapping[str, FailureMode]:
        """The modes of a pinned skill; none where another one, or none that can be read, is installed now."""
        try:
            skill = self._load()
        except SkillError:
            return {}
        return failure_modes(skill.file) if skill.ref == skill_ref else {}
