"""plan.yaml: the plans of a skill, with places for what the Intent says.

    version: 1
    plans:                      # the first case whose `when` holds
      - when: {verb: [find, analyze], slot.text: "*"}
        root: {id: n1, kind: tool_call, tool_call: {…, args: {query: "${slot.text}"}}}

`when`: each key is `verb` or `slot.<name>`, each value a text or a list of texts, one of which must be equal;
"*" is anything, "" is nothing. Places: `${slot.x}`, `${slot.x.uri}`, `${prose}`, `${verb}`, `${intent.id}`,
`${intent.deadline}`.
`${node.output…}` is for the walker; `$${` is a literal `${`. A map entry that is one place which nothing
fills is left out; inside a longer text that is an error. Places stand in texts only (arguments, inputs,
questions, descriptions, sub-intents), never in ids, kinds, tools or side effects: what fills them is data.
An argument may be an object or a list; a place in it is a value (arguments.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcl.core.errors import SkillError
from mcl.language.mtx.cache import Cache
from mcl.language.mtx.digest import value_digest
from mcl.language.plans.shape import Scope

VERSION = 3  # of the form; part of the cache key


@dataclass(frozen=True)
class Case:
    """One plan and when it is taken; `root` is the node as plain JSON values with texts for leaves."""

    when: Mapping[str, tuple[str, ...]]
    root: Mapping[str, Any]


@dataclass(frozen=True)
class PlanTemplate:
    """The cases in order, and the digest (hex sha256) of what they say."""

    path: Path
    cases: tuple[Case, ...]
    digest: str


def is_kept(data: bytes, *, skill_digest: str, store: Cache) -> bool:
    """Whether a plan.yaml was read and found good before, with this skill."""
    return store.has(f"plan {skill_digest}", str(VERSION), data)


def read_template(path: Path, data: bytes, *, skill_digest: str, scope: Scope, store: Cache) -> PlanTemplate:
    """Read and check a plan.yaml against its skill.

    Raises SkillError PLAN_INVALID with everything that is wrong with its form (`data["errors"]`: code, line,
    column and message each); mcl.language.plans.checks compares it with the skill and the tools.
    """

    def template(document: Any) -> PlanTemplate:
        cases = tuple(
            Case({key: tuple(values) for key, values in case["when"].items()}, {**case["root"]})
            for case in document
        )
        if not cases:
            raise ValueError("a template has a case")
        return PlanTemplate(path, cases, value_digest(document))

    return store.get(
        f"plan {skill_digest}", str(VERSION), data, lambda: _checked(path, data, scope), template
    )


def _checked(path: Path, data: bytes, scope: Scope) -> list[dict[str, Any]]:
    from mcl.language.plans.shape import (
        read_shape,  # here, because a cached template needs neither YAML nor checks
    )

    shape = read_shape(data, scope)
    if shape.findings:
        first, more = shape.findings[0], len(shape.findings) - 1
        raise SkillError(
            "PLAN_INVALID",
            "; ".join(filter(None, (first.message, first.hint))) + (f" (and {more} more)" if more else ""),
            place=first.place(str(path)),
            fix=f"mcl skill validate {path.parent}",
            data={"path": str(path), "errors": [finding.to_json() for finding in shape.findings]},
        )
    return shape.cases
