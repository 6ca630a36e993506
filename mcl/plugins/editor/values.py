"""The values that a key or a word takes at a place: words to choose from, each with what it means."""

from __future__ import annotations

from collections.abc import Mapping

from ir import STEP_KINDS, VERBS
from ir.intent import SEVERITIES
from mcl.core.words import FAILURE_REASONS, MEMORY_TYPES
from mcl.language.mtx.ast import SCALAR_TYPES, File, Slot
from mcl.language.mtx.procedure_checks import PLAIN_NAMES
from mcl.plugins.editor import words

LISTS = ("mcl.verbs", "reads", "writes")  # several words in one value
_BOOL = {"true": "", "false": ""}


def values(file: File, section: str, block: str, owner: str, key: str) -> Mapping[str, str]:
    """What may stand behind `key=`.

    block: the word of the innermost block, or "". owner: the slot that the key belongs to or speaks of.
    """
    if section == "SKILL" and key == "mcl.verbs":
        return verbs()
    if section == "CORTEX" and key in ("reads", "writes"):
        return dict.fromkeys(MEMORY_TYPES, "a type of memory")
    if section == "HASH":
        return {"v": {"1": ""}, "algo": {"sha256_ast": ""}}.get(key, {})
    if section == "FAILURE_MODES":
        known = {"reason": dict.fromkeys(FAILURE_REASONS, "a reason"), "action": words.ACTIONS}
        return known.get(key, {})
    if key == "default":
        slot = slot_named(file, owner, "OUTPUTS" if section == "OUTPUTS" else "INPUTS")
        return of_slot(slot) if slot else {}
    if key == "kind" and block in ("", "on"):
        return dict.fromkeys(STEP_KINDS, "a kind of step")
    if block in ("unknown", "clarify"):
        return {
            "severity": {word: words.SEVERITIES[word] for word in SEVERITIES},
            "type": types(),
            "required": _BOOL,
        }.get(key, {})
    return {}


def verbs() -> Mapping[str, str]:
    """The ten verbs."""
    return {verb: words.VERBS[verb] for verb in VERBS}


def types() -> Mapping[str, str]:
    """The types that a slot can have."""
    return {name: words.TYPES[name] for name in SCALAR_TYPES}


def of_slot(slot: Slot) -> Mapping[str, str]:
    """The values of a slot whose type names them."""
    if slot.type.name == "bool":
        return _BOOL
    return dict.fromkeys(slot.type.members, f"a member of {slot.name}")


def paths(file: File, *, prose: bool = False) -> Mapping[str, str]:
    """`slot.x` of each input; with `prose` also the words that were said for it."""
    found = {}
    for slot in file.slots():
        found[f"slot.{slot.name}"] = slot.hint.value if slot.hint else str(slot.type)
        if prose:
            found[f"slot.{slot.name}.prose"] = f"the goal's own words for {slot.name}"
    return found


def places(file: File) -> Mapping[str, str]:
    """What can stand in the braces of a prompt."""
    return {**{name: words.PLACES[name] for name in PLAIN_NAMES}, **paths(file, prose=True)}


def slot_named(file: File, name: str, section: str = "INPUTS") -> Slot | None:
    """The slot of this name, or None."""
    return next((slot for slot in file.slots(section) if slot.name == name), None)
