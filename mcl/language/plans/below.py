"""The sub-dispatches of a plan.yaml held against the skills that are installed.

| code | what is wrong |
|---|---|
| SUB_SKILL_MISSING | (warning) the skill is not installed here, or in another version |
| VERB_UNKNOWN | the skill has no such verb |
| SLOT_UNKNOWN | the skill has no such input |
| SLOT_EMPTY | an input that the skill requires is not given |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from mcl.core.errors import SkillError
from mcl.language.mtx.parser import Parsed
from mcl.language.mtx.source import Finding, nearest
from mcl.language.plans.binding import Bindings
from mcl.language.plans.checks import Tools, check_against, unused
from mcl.language.plans.document import Steps, YamlFile
from mcl.language.plans.template import read_shape
from mcl.language.skills import Skill, Skills


def check_below(data: bytes, load: Callable[[], Skills]) -> tuple[Finding, ...]:
    """What is wrong with the sub-dispatches of the bytes of a plan.yaml; nothing where its form is.

    load: finds the installed skills; asked only where the plan dispatches.
    """
    if b"sub_dispatch" not in data:
        return ()
    shape = read_shape(data, None)
    if shape.findings or shape.source is None:
        return ()
    try:
        bindings = Bindings(load())
    except SkillError:
        return ()  # a folder of skills that cannot be read is told where skills are listed
    found: list[Finding] = []
    for index, case in enumerate(shape.cases):
        for sub, steps in _dispatches(case["root"], ("plans", index, "root")):
            found += _judge(sub, steps, shape.source, bindings)
    return tuple(sorted(set(found)))


def _dispatches(node: Any, steps: Steps) -> Iterator[tuple[Mapping[str, Any], Steps]]:
    """The sub-dispatches within this process, each with its place."""
    sub = node.get("sub_dispatch")
    if isinstance(sub, dict) and isinstance(sub.get("skill_ref"), str) and not sub.get("agent_ref"):
        yield sub, (*steps, "sub_dispatch")
    children = node.get("children")
    for place, child in enumerate(children if isinstance(children, list) else ()):
        yield from _dispatches(child, (*steps, "children", place))


def _judge(sub: Mapping[str, Any], steps: Steps, source: YamlFile, bindings: Bindings) -> Iterator[Finding]:
    def finding(
        where: Steps, code: str, message: str, hint: str, severity: Literal["error", "warning"] = "error"
    ) -> Finding:
        line, column = source.at(where)
        return Finding(line, column, code, message, "", hint, severity)

    reference = str(sub["skill_ref"])
    try:
        skill = bindings.skill(reference)
    except SkillError as error:
        code = error.code if error.code == "SUB_SKILL_MISSING" else "SUB_SKILL_BROKEN"
        yield finding((*steps, "skill_ref"), code, error.message, error.fix, "warning")
        return
    frame = sub.get("sub_intent")
    frame = frame if isinstance(frame, dict) else {}
    verb = frame.get("verb", "")
    if "${" not in str(verb) and verb not in skill.verbs:
        hint = nearest(str(verb), skill.verbs) or f"its verbs: {', '.join(skill.verbs)}"
        yield finding(
            (*steps, "sub_intent", "verb"), "VERB_UNKNOWN", f"{skill.id} has no verb {verb!r}", hint
        )
    yield from _inputs(frame, (*steps, "sub_intent"), skill, finding)


def _inputs(
    frame: Mapping[str, Any], steps: Steps, skill: Skill, finding: Callable[..., Finding]
) -> Iterator[Finding]:
    objects = frame.get("objects")
    given = {
        str(entry["name"]): place
        for place, entry in enumerate(objects if isinstance(objects, list) else ())
        if isinstance(entry, dict) and "name" in entry
    }
    slots = {slot.name: slot for slot in skill.slots}
    for name, place in given.items():
        if name not in slots:
            hint = nearest(name, slots) or f"its inputs: {', '.join(slots) or 'none'}"
            where = (*steps, "objects", place, "name")
            yield finding(where, "SLOT_UNKNOWN", f"{skill.id} has no input {name!r}", hint)
    for slot in slots.values():
        if slot.required and not slot.default and slot.name not in given:
            message = f"{skill.id} needs the input {slot.name!r}"
            yield finding(steps, "SLOT_EMPTY", message, "add it to objects")


# ---- A plan.yaml held against the SKILL.mtx beside it.

_OF_NAMES = ("V1", "V2", "V3", "V4", "V9", "V10")  # checks of what a plan names


def scope_of(folder: Path, parsed: Parsed, findings: Iterable[Finding]) -> Skill | None:
    """The skill that a plan in its folder is compared with; None where nothing certain is known of its slots,
    verbs and tools. findings: all that is wrong with its file.
    """
    doubtful = any(one.severity == "error" and one.code in _OF_NAMES for one in findings)
    return Skill.of(folder, parsed.file) if parsed.ok and not doubtful else None


def check_plan(
    data: bytes, scope: Skill | None, tools: Tools
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """What is wrong with the bytes of a plan.yaml, and what its skill declares and no plan uses (places in
    SKILL.mtx). Without a skill the form of the plan alone is checked.
    """
    shape = read_shape(data, scope)
    if scope is None or shape.findings:
        return shape.findings, ()
    return tuple(check_against(shape, scope, tools)), tuple(unused(shape, scope))
