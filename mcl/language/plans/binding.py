"""Which content a plan means by the skills that it dispatches to: digests in place of versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ir import PlanNode
from mcl.core.errors import SkillError
from mcl.language.mtx.codec import value_digest
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
