"""What the walker needs for the sub_dispatch nodes of a plan, filled in by the installed skills."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from hashlib import sha256

from executor.core.clock import ulid_text
from executor.walker.dispatch import Expansion
from ir import CompileMetadata, DocumentError, Frame, Intent, SlotEntry, parse_json, with_hash
from mcl.compiler.reasoner import SkillPrompts
from mcl.core.errors import SkillError
from mcl.language.mtx.finding import nearest
from mcl.language.plans.binding import Bindings
from mcl.language.plans.planner import Tools, make_plan
from mcl.language.skills import Skill, Skills, Slot
from mcl.values.slots import read_slot


class InstalledSkills:
    """Makes the plans of sub-dispatches. The skills are looked for at the first of them.

    registry: the installed tools (None: not compared with the plans).
    """

    def __init__(self, load: Callable[[], Skills], registry: Tools | None = None) -> None:
        self._load = load
        self._registry = registry
        self._bindings: Bindings | None = None

    def expand(self, skill_ref: str, frame: Frame, parent: Intent, *, id: str, prose: str) -> Expansion:
        """What a skill makes of a Frame (SubSkills of the executor). No model is asked: the Frame says all.

        Raises SkillError: SUB_SKILL_MISSING, SKILL_CHANGED, SUB_SKILL_CYCLE; VERB_UNKNOWN, SLOT_UNKNOWN,
        SLOT_EMPTY, SLOT_INVALID, SLOT_TOO_MANY where the Frame does not fit the skill; what make_plan raises.
        """
        bindings = self._bindings = self._bindings or Bindings(self._load())
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
            id=id[:10] + ulid_text(int(sha256(f"plan {intent.hash}".encode()).hexdigest()[:20], 16))[10:],
            created_at=parent.created_at,
            created_by=parent.agent,
            registry=self._registry,
            binder=bindings,
        )
        return Expansion(intent, plan, SkillPrompts(intent, skill))


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
