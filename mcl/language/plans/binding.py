"""The skills that a plan dispatches to: bound to their content by digests, and a plan.yaml held against them.

| code | what is wrong |
|---|---|
| SUB_SKILL_MISSING | (warning) the skill is not installed here, or in another version |
| VERB_UNKNOWN | the skill has no such verb |
| SLOT_UNKNOWN | the skill has no such input |
| SLOT_EMPTY | an input that the skill requires is not given |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, Protocol

from ir import PlanNode
from mcl.core.errors import SkillError
from mcl.language.mtx.codec import value_digest
from mcl.language.mtx.source import MtxFinding, nearest
from mcl.language.plans.document import Steps, YamlFile
from mcl.language.plans.template import read_shape
from mcl.language.skills import Skill, Skills

_SCHEME = "matrix://skill/"


class Binder(Protocol):
    """Whoever knows the installed skills."""

    def bound(self, skill_ref: str) -> str:
        """The address of a skill with the digest of its content in place of its version."""
        ...


class Bindings:
    """Binds addresses to what is installed.

    The digest of a skill covers its files and, through theirs, those of all skills that it may dispatch to.
    """

    def __init__(self, skills: Skills) -> None:
        self._skills = skills
        self._digests: dict[str, str] = {}

    def bound(self, skill_ref: str) -> str:
        """See ``Binder``. Raises SkillError SUB_SKILL_MISSING, SUB_SKILL_CYCLE, SKILL_CHANGED (the address
        names another content)."""
        skill = self.skill(skill_ref)
        address = f"{_SCHEME}{skill.id}@sha256:{self._digest(skill, ())}"
        if "@sha256:" in skill_ref and skill_ref != address:
            raise SkillError(
                "SKILL_CHANGED",
                f"the skill {skill.id} is not what the plan was made with",
                place=str(skill.path),
                fix="install that version again, or compile the goal again",
            )
        return address

    def skill(self, skill_ref: str) -> Skill:
        """The installed skill at an address. Raises SkillError SUB_SKILL_MISSING."""
        id, _, version = skill_ref.removeprefix(_SCHEME).partition("@")
        skill = self._skills.get(id) if skill_ref.startswith(_SCHEME) else None
        if skill is None or not (version.startswith("sha256:") or version == skill.version):
            here = f"installed is {skill.version}" if skill else "it is not installed"
            raise SkillError(
                "SUB_SKILL_MISSING",
                f"there is no skill {skill_ref}: {here}",
                place=skill_ref,
                fix="install it, or name the version that is installed in §SUB_SKILLS and plan.yaml",
            )
        return skill

    def _digest(self, skill: Skill, above: tuple[str, ...]) -> str:
        if skill.id in above:
            way = " → ".join((*above[above.index(skill.id) :], skill.id))
            raise SkillError(
                "SUB_SKILL_CYCLE",
                f"skills that dispatch in a circle: {way}",
                place=str(skill.path),
                fix="take one of them out of §SUB_SKILLS",
            )
        # Through all that is below: a change in a skill three levels down is another plan than the one that
        # was signed.
        if skill.id not in self._digests:
            below: Mapping[str, str] = {ref: self._below(ref, (*above, skill.id)) for ref in skill.sub_skills}
            self._digests[skill.id] = value_digest({"skill": skill.digest, "below": below})
        return self._digests[skill.id]

    def _below(self, skill_ref: str, above: tuple[str, ...]) -> str:
        try:
            skill = self.skill(skill_ref)
        except SkillError as error:
            if error.code != "SUB_SKILL_MISSING":
                raise
            return ""  # another agent may have it; who dispatches to it here is told
        return self._digest(skill, above)


def bind(node: PlanNode, binder: Binder) -> PlanNode:
    """A node with all below it, where the skills that are dispatched to here are named by their content."""
    sub = node.sub_dispatch
    if sub is not None and not sub.agent_ref:
        return node.model_copy(
            update={"sub_dispatch": sub.model_copy(update={"skill_ref": binder.bound(sub.skill_ref)})}
        )
    if not node.children:
        return node
    return node.model_copy(update={"children": tuple(bind(child, binder) for child in node.children)})


# ---- The sub-dispatches of a plan.yaml held against the skills that are installed.


def check_below(data: bytes, load: Callable[[], Skills]) -> tuple[MtxFinding, ...]:
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
    found: list[MtxFinding] = []
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


def _judge(
    sub: Mapping[str, Any], steps: Steps, source: YamlFile, bindings: Bindings
) -> Iterator[MtxFinding]:
    def finding(
        where: Steps, code: str, message: str, hint: str, severity: Literal["error", "warning"] = "error"
    ) -> MtxFinding:
        line, column = source.at(where)
        return MtxFinding(line, column, code, message, "", hint, severity)

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
    frame: Mapping[str, Any], steps: Steps, skill: Skill, finding: Callable[..., MtxFinding]
) -> Iterator[MtxFinding]:
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
