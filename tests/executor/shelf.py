"""Skills for plans to dispatch to: a filling of SubSkills without files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from walks import NODE

import ir
from executor import Expansion
from ir import Frame, Intent, MclError


class Shelf:
    """Skills by id, each a function from the values of a Frame to the root of a plan."""

    def __init__(self) -> None:
        self.skills: dict[str, Callable[[Mapping[str, str]], NODE]] = {}
        self.versions: dict[str, int] = {}
        self.asked: list[dict[str, Any]] = []
        self.any: frozenset[str] = frozenset()  # addresses of those that take any goal

    def takes_any(self, skill_ref: str) -> bool:
        return skill_ref in self.any

    def put(self, id: str, root: NODE | Callable[[Mapping[str, str]], NODE]) -> None:
        self.skills[id] = root if callable(root) else lambda values: root
        self.versions[id] = self.versions.get(id, 0) + 1

    def ref(self, id: str) -> str:
        return f"matrix://skill/{id}@sha256:{sha256(f'{id} {self.versions[id]}'.encode()).hexdigest()}"

    def expand(self, skill_ref: str, frame: Frame, parent: Intent, *, id: str, prose: str) -> Expansion:
        skill = skill_ref.removeprefix("matrix://skill/").partition("@")[0]
        if skill not in self.skills or self.ref(skill) != skill_ref:
            raise MclError("SKILL_CHANGED", f"another {skill} is here", fix="compile the goal again")
        values = {entry.name: entry.value for entry in frame.objects}
        self.asked.append({"skill": skill, "values": values, "prose": prose})
        intent = ir.with_hash(
            Intent(
                id=id,
                parent=f"matrix://intent/{parent.id}",
                actor=parent.actor,
                agent=parent.agent,
                prose=prose,
                frame=frame,
                state="accepted",
                deadline=parent.deadline,
                created_at=parent.created_at,
            )
        )
        plan = {"id": id, "intent_id": id, "skill_ref": f"matrix://skill/{skill}@1.0.0"}
        plan["root"] = self.skills[skill](values)
        return Expansion(intent, ir.with_hash(ir.PlanTree.from_json(json.dumps(plan))))


def dispatch(shelf: Shelf, id: str, skill: str, *, verb: str = "build", **more: Any) -> NODE:
    sub, scope = {"verb": verb, **more}, more.pop("scope_uri", "")
    sub.pop("scope_uri", None)
    objects = sub.pop("values", {})
    sub["objects"] = [{"name": name, "value": value} for name, value in objects.items()]
    ref = shelf.ref(skill) if skill in shelf.skills else skill
    payload = {"skill_ref": ref, "sub_intent": sub, "scope_uri": scope}
    return {"id": id, "kind": "sub_dispatch", "sub_dispatch": payload}
